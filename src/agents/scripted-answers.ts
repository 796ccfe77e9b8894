/**
 * The file of a scripted model: which step gets which answers.
 *
 * ```yaml
 * writer:                       # a step's name, its path, or the end of its path; "*" is for every other step
 *   - fail: {message: overloaded, status: 429, retry_after: 2}
 *   - say: First draft.
 *     confidence: 0.7
 *     usage: {input_tokens: 900, output_tokens: 400}
 *     cost_usd: 0.02
 *   - {say: {title: Second draft}, delay_ms: 50}
 * reviewer: {exhausted: fail, answers: [{say: {approved: true}}]}
 * stuck: [{hang: true}]
 * ```
 *
 * One visit of a step uses one `say`, with the `fail` and `hang` before it for its earlier attempts; an answer that was
 * refused as invalid is followed by the next one. After the last, the last one repeats, unless `exhausted: fail`. Which
 * answer comes is computed from visit, attempt and durable turns alone, so a crash changes nothing.
 */
import { SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";

export interface ScriptedAnswer {
  readonly say?: JsonValue;
  readonly confidence?: JsonValue;
  readonly uncertainties?: readonly JsonValue[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `undefined`: not priced. */
  readonly costMicroUsd?: number;
  readonly delayMs: number;
  readonly fail?: { readonly message: string; readonly status?: number; readonly retryAfterSeconds?: number };
  readonly hang: boolean;
}

export interface StepScript {
  readonly answers: readonly ScriptedAnswer[];
  readonly exhausted: "repeat" | "fail";
}

export type Script = ReadonlyMap<string, StepScript>;

export const ANY_STEP = "*";
const MICRO = 1_000_000;
const ANSWER_KEYS = ["say", "confidence", "uncertainties", "usage", "cost_usd", "delay_ms", "fail", "hang"];

/** Reads the file's content. Errors: WORKFLOW_INVALID with the place. */
export function parseScript(content: JsonObject): Script {
  const script = new Map<string, StepScript>();
  for (const [step, value] of Object.entries(content)) {
    const isShort = Array.isArray(value);
    const block = isShort ? { answers: value as readonly JsonValue[] } : requireObject(value ?? null, step);
    requireKeys(block, ["answers", "exhausted"], step);
    const { answers, exhausted = "repeat" } = block;
    if (!Array.isArray(answers) || answers.length === 0) throw invalid(step, "needs a list of at least one answer");
    if (exhausted !== "repeat" && exhausted !== "fail") throw invalid(`${step}.exhausted`, "is repeat or fail");
    const place = isShort ? step : `${step}.answers`;
    script.set(step, {
      exhausted,
      answers: answers.map((answer: JsonValue, index) => parseAnswer(answer, `${place}[${index}]`)),
    });
  }
  return script;
}

/**
 * The answer to one call; `undefined` when the script is exhausted.
 *
 * Units: `visit` and `attempt` count from 1, `turn` from 0.
 */
export function selectAnswer(
  step: StepScript,
  { visit, attempt, turn }: { readonly visit: number; readonly attempt: number; readonly turn: number },
): ScriptedAnswer | undefined {
  const visits: ScriptedAnswer[][] = [[]];
  for (const answer of step.answers) {
    visits.at(-1)?.push(answer);
    if (answer.say !== undefined) visits.push([]);
  }
  if (visits.at(-1)?.length === 0) visits.pop();
  const own = visits[Math.max(0, visit - 1) + turn];
  if (own !== undefined) return own[Math.min(attempt - 1, own.length - 1)];
  return step.exhausted === "fail" ? undefined : step.answers.at(-1);
}

function parseAnswer(value: JsonValue, place: string): ScriptedAnswer {
  const answer = requireObject(value, place);
  requireKeys(answer, ANSWER_KEYS, place);
  const { say, uncertainties, hang = false } = answer;
  const kinds = [say !== undefined, answer["fail"] !== undefined, hang === true].filter(Boolean).length;
  if (kinds !== 1) throw invalid(place, "needs exactly one of say, fail, hang: true");
  if (uncertainties !== undefined && !Array.isArray(uncertainties))
    throw invalid(`${place}.uncertainties`, "is a list");
  const usage = requireObject(answer["usage"] ?? {}, `${place}.usage`);
  requireKeys(usage, ["input_tokens", "output_tokens"], `${place}.usage`);
  const cost = requireAmount(answer, "cost_usd", place);
  return {
    say,
    confidence: answer["confidence"],
    uncertainties: uncertainties as readonly JsonValue[] | undefined,
    inputTokens: requireAmount(usage, "input_tokens", `${place}.usage`) ?? 0,
    outputTokens: requireAmount(usage, "output_tokens", `${place}.usage`) ?? 0,
    costMicroUsd: cost === undefined ? undefined : Math.round(cost * MICRO),
    delayMs: requireAmount(answer, "delay_ms", place) ?? 0,
    fail: answer["fail"] === undefined ? undefined : parseFail(answer["fail"], `${place}.fail`),
    hang: hang === true,
  };
}

function parseFail(value: JsonValue, place: string): ScriptedAnswer["fail"] {
  const fail = requireObject(value, place);
  requireKeys(fail, ["message", "status", "retry_after"], place);
  const message = fail["message"] ?? "a scripted failure";
  if (typeof message !== "string") throw invalid(`${place}.message`, "is a text");
  return {
    message,
    status: requireAmount(fail, "status", place),
    retryAfterSeconds: requireAmount(fail, "retry_after", place),
  };
}

function requireAmount(holder: JsonObject, name: string, place: string): number | undefined {
  const value = holder[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || value < 0) throw invalid(`${place}.${name}`, "is a number of at least 0");
  return value;
}

function requireObject(value: JsonValue, place: string): JsonObject {
  if (!isJsonObject(value)) throw invalid(place, "has the wrong form");
  return value;
}

function requireKeys(value: JsonObject, known: readonly string[], place: string): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw invalid(place, `has unknown keys: ${unknown.join(", ")}; known are ${known.join(", ")}`);
}

function invalid(place: string, text: string): SplashdownError {
  return new SplashdownError("WORKFLOW_INVALID", `scripted answers: ${place} ${text}`, { details: { place } });
}
