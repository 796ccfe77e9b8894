/**
 * One turn of a model step: a durable answer is used again, else the model is called and its answer made durable (A3).
 *
 * The usage of a call is told with its turn, once, and not again with the outcome.
 */
import { SplashdownError } from "../base/errors.js";
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
  const model = deps.modelOf(task.provider);
  if (model === undefined) {
    throw new SplashdownError(
      "MODEL_UNAVAILABLE",
      `provider ${task.provider} of step ${work.step.path} is not available in this version`,
      {
        details: { provider: task.provider },
      },
    );
  }
  const { name, path, visit, attempt, idempotencyKey } = work.step;
  const { usage, ...answer } = await model.call(
    {
      step: { name, path, visit, attempt },
      turn: work.turns.length,
      idempotencyKey,
      model: task.model,
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
