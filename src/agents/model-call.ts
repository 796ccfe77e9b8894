/**
 * One turn of a model step: a durable answer is used again, else the model is called and its answer made durable (A3).
 *
 * The usage of a call is told with its turn, once, and not again with the outcome.
 */
import { SplashdownError } from "../base/errors.js";
import { suggestProviderMap } from "../definition/provider-map.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import type { StepSink, StepWork } from "../engine/ports.js";
import type { ModelAnswer, PerformerDeps } from "./contract.js";

export type DurableAnswer = Omit<ModelAnswer, "usage">;

export interface ModelTask {
  readonly provider: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly prompt: string;
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

/** The last durable answer of the step, if there is one. */
export function findDurableAnswer(work: StepWork): DurableAnswer | undefined {
  const turn = work.turns.at(-1);
  if (!isJsonObject(turn) || turn["say"] === undefined) return undefined;
  const { say, confidence, uncertainties, factors } = turn;
  return {
    say,
    confidence,
    uncertainties: Array.isArray(uncertainties) ? (uncertainties as readonly JsonValue[]) : undefined,
    factors: Array.isArray(factors) ? factors.map(String) : [],
  };
}

/** Errors: MODEL_UNAVAILABLE, and those of `Model.call`. */
export async function callModel(deps: PerformerDeps, work: StepWork, task: ModelTask): Promise<DurableAnswer> {
  const choice = deps.chooseProvider(task.provider, task.model);
  const model = deps.modelOf(choice.provider);
  if (model === undefined) {
    const mapped = choice.isMapped ? ` (provider_map names it for ${task.provider})` : "";
    throw new SplashdownError(
      "MODEL_UNAVAILABLE",
      `provider ${choice.provider}${mapped} of step ${work.step.path} cannot be had here; ${suggestProviderMap(task.provider)}`,
      { details: { provider: choice.provider } },
    );
  }
  const { name, path, visit, attempt, idempotencyKey } = work.step;
  if (work.turns.length > 0) await task.sink.beforeCall();
  const { usage, ...answer } = await model.call(
    {
      step: { name, path, visit, attempt },
      turn: work.turns.length,
      idempotencyKey,
      model: choice.model,
      systemPrompt: task.systemPrompt,
      prompt: task.prompt,
      outputSchema: work.definition.outputSchema,
    },
    task.signal,
  );
  const { say, confidence, uncertainties, factors } = answer;
  await task.sink.turn({ say, confidence, uncertainties, factors }, usage);
  return answer;
}
