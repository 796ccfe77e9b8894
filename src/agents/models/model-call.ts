/**
 * One turn of a model step: the model is asked, its fallbacks in turn, and the answer is made durable (A3).
 *
 * The usage of a call is told with its turn, once, and not again with the outcome. Text that comes is told as progress,
 * at a pace, so that a cut leaves what was there. Limits of the task are looked at before every call.
 */
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import { suggestProviderMap } from "../../definition/settings/provider-map.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { Usage } from "../../engine/model/events.js";
import type { Fallback } from "../../engine/model/turn-notes.js";
import type { StepSink, StepWork } from "../../engine/model/ports.js";
import type {
  Model,
  ModelAnswer,
  ModelMessage,
  ModelOptions,
  PerformerDeps,
  ToolCall,
  ToolDescription,
} from "../outcome/contract.js";
import { isEndOfRun, sumUsage, usageOfError, withUsage } from "../outcome/failure.js";
import { createPartialThrottle } from "../outcome/partial-throttle.js";
import { SCRIPTED_PROVIDER } from "./scripted-model.js";

export interface DurableAnswer extends Omit<ModelAnswer, "usage"> {
  /** How much of the step's guidance had been told when it was asked; absent: none but what its prompt had. */
  readonly told?: number | undefined;
}

/** Where an answer may come from. */
export interface ModelChoice {
  readonly provider: string;
  readonly model?: string | undefined;
  /** The file's own settings of this provider: address, key, headers and wire, which a mapping of its name leaves alone. */
  readonly endpoint?: JsonObject | undefined;
}

export interface ModelCall {
  /** The first is asked; each other one when those before it failed. */
  readonly choices: readonly ModelChoice[];
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly ModelMessage[];
  readonly outputSchema?: JsonObject | undefined;
  readonly tools: readonly ToolDescription[];
  readonly options: ModelOptions;
  /** Calls of the step that are durable. */
  readonly turn: number;
  /** Guidance that the messages tell, beside that of the prompt: the count of all. */
  readonly told?: number | undefined;
  readonly sink: StepSink;
  readonly signal: AbortSignal;
}

/** A recorded turn; `undefined` for what is none. */
export function readTurn(turn: JsonValue | undefined): DurableAnswer | undefined {
  if (!isJsonObject(turn) || turn["say"] === undefined) return undefined;
  const { say, calls, kept, confidence, uncertainties, whole, cut, factors, told } = turn;
  return {
    say,
    calls: Array.isArray(calls) ? (calls as readonly ToolCall[]) : undefined,
    kept,
    confidence,
    uncertainties: Array.isArray(uncertainties) ? (uncertainties as readonly JsonValue[]) : undefined,
    ...(whole === true ? { whole } : {}),
    ...(cut === true ? { cut } : {}),
    factors: Array.isArray(factors) ? factors.map(String) : [],
    ...(typeof told === "number" ? { told } : {}),
  };
}

/** Errors: MODEL_UNAVAILABLE, and those of `Model.call`. */
export async function callModel(deps: PerformerDeps, work: StepWork, call: ModelCall): Promise<DurableAnswer> {
  const { usage, fallback, ...given } = await askInTurn(deps, work, call);
  const answer: DurableAnswer = call.told === undefined ? given : { ...given, told: call.told };
  const { say, calls, kept, confidence, uncertainties, whole, cut, factors } = answer;
  const recorded = {
    say,
    ...(calls === undefined ? {} : { calls: calls as unknown as JsonValue }),
    ...(kept === undefined ? {} : { kept }),
    confidence,
    uncertainties,
    ...(whole === true ? { whole } : {}),
    ...(cut === true ? { cut } : {}),
    factors,
    ...(call.told === undefined ? {} : { told: call.told }),
  };
  await call.sink.turn(recorded, usage, {
    ...(fallback === undefined ? {} : { fallback }),
    ...(call.told === undefined ? {} : { guided: call.told }),
  });
  return answer;
}

async function askInTurn(
  deps: PerformerDeps,
  work: StepWork,
  call: ModelCall,
): Promise<ModelAnswer & { readonly fallback?: Fallback }> {
  const [first] = call.choices;
  const failures: SplashdownError[] = [];
  for (const choice of call.choices) {
    if (call.turn > 0 || failures.length > 0) await call.sink.beforeCall();
    try {
      const answer = withFailed(await askOne(deps, work, { ...call, choice }), failures);
      if (failures.length === 0) return answer;
      const why = failures.map((error) => error.message).join("; ");
      const factor = `answered by the fallback ${nameOf(deps, choice)}: ${why}`;
      const fallback = { asked: nameOf(deps, first ?? choice), answered: nameOf(deps, choice), why };
      return { ...answer, factors: [...answer.factors, factor], fallback };
    } catch (error) {
      if (!(error instanceof SplashdownError) || isEndOfRun(error) || !MOVES_ON.has(error.code)) throw error;
      failures.push(error);
      if (failures.length < call.choices.length)
        deps.log.warn(`${nameOf(deps, choice)}: ${messageOf(error)}; the next is asked`);
    }
  }
  throw withUsage(selectFailure(failures), usageOfAll(failures));
}

/** What was spent on models that failed is spent. */
function withFailed(answer: ModelAnswer, failures: readonly SplashdownError[]): ModelAnswer {
  return { ...answer, usage: sumUsage(answer.usage, usageOfAll(failures)) ?? answer.usage };
}

function usageOfAll(failures: readonly SplashdownError[]): Usage | undefined {
  return failures.map(usageOfError).reduce(sumUsage, undefined);
}

const MOVES_ON = new Set(["MODEL_FAILED", "MODEL_RATE_LIMITED", "MODEL_UNAVAILABLE"]);

/** Where one of them only asks to wait, the step waits for the earliest; else the last failure counts. */
function selectFailure(failures: readonly SplashdownError[]): SplashdownError {
  const atMs = (error: SplashdownError): number => Number(error.details["retry_at_ms"] ?? Infinity);
  const [earliest] = failures
    .filter((error) => isErrorCode(error, "MODEL_RATE_LIMITED"))
    .sort((left, right) => atMs(left) - atMs(right));
  return earliest ?? (failures.at(-1) as SplashdownError);
}

async function askOne(
  deps: PerformerDeps,
  work: StepWork,
  { choice, ...call }: ModelCall & { readonly choice: ModelChoice },
): Promise<ModelAnswer> {
  const { name, path, visit, attempt, idempotencyKey } = work.step;
  const pace = createPartialThrottle(deps.clock, call.sink);
  const chosen = deps.chooseProvider(choice.provider, choice.model);
  const model = requireModel(deps, work, { chosen: chosen.provider, named: choice.provider });
  if (chosen.provider !== SCRIPTED_PROVIDER) call.sink.callBegun(nameOf(deps, choice));
  return model.call(
    {
      step: { name, path, visit, attempt },
      turn: call.turn,
      idempotencyKey,
      model: chosen.model,
      systemPrompt: call.systemPrompt,
      messages: call.messages,
      outputSchema: call.outputSchema,
      tools: call.tools,
      options: call.options,
      endpoint: choice.endpoint,
    },
    { signal: call.signal, onText: pace.take, onActivity: call.sink.alive },
  );
}

interface NamedProvider {
  readonly chosen: string;
  readonly named: string;
}

function requireModel(deps: PerformerDeps, { step }: StepWork, { chosen, named }: NamedProvider): Model {
  const model = deps.modelOf(chosen);
  if (model !== undefined) return model;
  const mapped = chosen === named ? "" : ` (provider_map names it for ${named})`;
  const text = `provider ${chosen}${mapped} of step ${step.path} cannot be had here; ${suggestProviderMap(named)}`;
  throw new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider: chosen } });
}

/** Who is really asked: the setting `provider_map` may name another one. */
function nameOf(deps: PerformerDeps, choice: ModelChoice): string {
  const { provider, model } = deps.chooseProvider(choice.provider, choice.model);
  return model === undefined ? provider : `${provider}/${model}`;
}
