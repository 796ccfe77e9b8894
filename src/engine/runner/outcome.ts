/**
 * Judges what a performer returned before it becomes an event: why the attempt was closed, secrets out, sizes in limits.
 */
import { messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { StepError, Usage } from "../model/events.js";
import type { Sanitiser, StepOutcome } from "../model/ports.js";
import type { CloseReason } from "./attempt.js";
import { findValueFault } from "./value-size.js";

type Completed = Extract<StepOutcome, { status: "completed" }>;

const DETAIL_ITEMS_MAX = 100;
const STACK_CHARS_MAX = 2_000;

/**
 * The outcome to decide on.
 *
 * A limit in time that ended the attempt is a failure whatever came after it. A result that came while the task leaves
 * counts; one of an attempt that was cancelled goes on, to be refused by its number. A failure of an attempt that was
 * ended is its ending and nothing more.
 */
export function judgeOutcome(outcome: StepOutcome, closed: CloseReason | undefined, sanitiser: Sanitiser): StepOutcome {
  if (closed === "timeout") return timedOut("the step ran longer than its timeout and was ended", outcome);
  if (closed === "idle") return timedOut("the step was silent for longer than its idle_timeout and was ended", outcome);
  switch (outcome.status) {
    case "completed":
      return cleanCompletion(outcome, sanitiser);
    case "cancelled":
      return closed === undefined
        ? failed({ code: "STEP_FAILED", message: "the step ended itself without a result" })
        : outcome;
    default:
      return closed === undefined
        ? { ...outcome, error: cleanError(outcome.error, sanitiser) }
        : { status: "cancelled" };
  }
}

/** A thrown value as the error of a step. */
export function describeThrown(error: unknown): StepError {
  if (error instanceof SplashdownError) {
    return { code: error.code, message: error.message, retryable: error.retryable, details: error.details };
  }
  const stack = error instanceof Error ? error.stack?.slice(0, STACK_CHARS_MAX) : undefined;
  const details: JsonObject = stack === undefined ? {} : { stack };
  return { code: "STEP_FAILED", message: messageOf(error), retryable: true, details };
}

function timedOut(message: string, outcome: StepOutcome): StepOutcome {
  const hasNotActed = outcome.status === "cancelled" && outcome.acted === false;
  const details = hasNotActed ? {} : { details: { acted: "maybe" } };
  return failed({ code: "STEP_TIMEOUT", message, ...details }, usageOf(outcome));
}

function failed(error: Pick<StepError, "code" | "message" | "details">, usage?: Usage): StepOutcome {
  return { status: "failed", error: { ...error, retryable: true }, ...(usage === undefined ? {} : { usage }) };
}

/** What was spent is spent, whatever became of it. */
function usageOf(outcome: StepOutcome): Usage | undefined {
  return outcome.status === "cancelled" ? undefined : outcome.usage;
}

function cleanCompletion(outcome: Completed, sanitiser: Sanitiser): StepOutcome {
  const { output, uncertainties, factors, blockers, assumptions, usage, stderr } = outcome;
  const error = findOutcomeFault({ output, uncertainties, factors, blockers, assumptions });
  if (error !== undefined) return { status: "failed", error, ...(usage === undefined ? {} : { usage }) };
  const cleanTexts = (texts: readonly string[] | undefined) => texts?.map((text) => sanitiser.cleanText(text));
  return {
    ...outcome,
    output: sanitiser.clean(output),
    uncertainties: uncertainties?.map((item) => sanitiser.clean(item)),
    factors: cleanTexts(factors),
    blockers: cleanTexts(blockers),
    assumptions: cleanTexts(assumptions),
    ...(stderr === undefined ? {} : { stderr: cutText(sanitiser.cleanText(stderr)) }),
  };
}

function findOutcomeFault(reported: JsonObject): StepError | undefined {
  const bytesMax = LIMITS.stepOutputBytesMax;
  const depthMax = LIMITS.valueDepthMax;
  const code = findValueFault(reported, { bytesMax, depthMax: depthMax + 1 });
  if (code === undefined) return undefined;
  const message =
    code === "VALUE_TOO_LARGE"
      ? `the step's output is larger than ${bytesMax} bytes`
      : `the step's output is nested deeper than ${depthMax} levels`;
  const limit = code === "VALUE_TOO_LARGE" ? bytesMax : depthMax;
  return { code, message, retryable: false, details: { limit, acted: "yes" } };
}

function cleanError(error: StepError, sanitiser: Sanitiser): StepError {
  const message = cutText(sanitiser.cleanText(error.message));
  if (error.details === undefined) return { ...error, message };
  return { ...error, message, details: cleanDetails(error.details, sanitiser) };
}

/** Cleaned before they are cut: half a secret would not be known as one. */
function cleanDetails(details: JsonObject, sanitiser: Sanitiser): JsonObject {
  const bounds = { bytesMax: LIMITS.stepOutputBytesMax, depthMax: LIMITS.valueDepthMax };
  const fault = findValueFault(details, bounds);
  if (fault !== undefined) return { left_out: fault };
  const cut = cutTexts(sanitiser.clean(details));
  return isJsonObject(cut) ? cut : {};
}

/** Long texts in errors are cut: recording a failure never needs the big value. */
function cutTexts(value: JsonValue): JsonValue {
  if (typeof value === "string") return cutText(value);
  if (typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.slice(0, DETAIL_ITEMS_MAX).map((item) => cutTexts(item));
  const entries = Object.entries(value).slice(0, DETAIL_ITEMS_MAX);
  return Object.fromEntries(entries.map(([key, item]) => [cutText(key), cutTexts(item ?? null)]));
}

function cutText(text: string): string {
  return text.slice(0, LIMITS.errorTextBytesMax);
}
