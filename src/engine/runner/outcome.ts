/**
 * Judges what a performer returned before it becomes an event: why the attempt was closed, secrets out, sizes in limits.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { StepError } from "../events.js";
import type { Sanitiser, StepOutcome } from "../ports.js";
import type { CloseReason } from "./attempt.js";

/** The outcome to decide on. A result that came in spite of a closed attempt counts only as its ending. */
export function outcomeOfAttempt(
  outcome: StepOutcome,
  closed: CloseReason | undefined,
  sanitiser: Sanitiser,
): StepOutcome {
  if (closed === "timeout") return failed("STEP_TIMEOUT", "the step ran longer than its timeout and was ended");
  if (closed === "idle")
    return failed("STEP_TIMEOUT", "the step was silent for longer than its idle_timeout and was ended");
  if (closed !== undefined)
    return outcome.status === "completed" && closed === "leaving"
      ? cleanCompletion(outcome, sanitiser)
      : { status: "cancelled" };
  if (outcome.status === "completed") return cleanCompletion(outcome, sanitiser);
  return outcome.status === "failed" ? { ...outcome, error: cleanError(outcome.error, sanitiser) } : outcome;
}

type Completed = Extract<StepOutcome, { status: "completed" }>;

function cleanCompletion(outcome: Completed, sanitiser: Sanitiser): StepOutcome {
  if (isOverLimit(outcome.output)) {
    const limit = LIMITS.stepOutputBytesMax;
    return {
      status: "failed",
      error: {
        code: "VALUE_TOO_LARGE",
        message: `the step's output is larger than ${limit} bytes`,
        retryable: false,
        details: { limit },
      },
      ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
    };
  }
  return {
    ...outcome,
    output: sanitiser.clean(outcome.output),
    ...(outcome.uncertainties === undefined
      ? {}
      : { uncertainties: outcome.uncertainties.map((item) => sanitiser.clean(item)) }),
    ...(outcome.factors === undefined ? {} : { factors: outcome.factors.map((text) => sanitiser.cleanText(text)) }),
    ...(outcome.blockers === undefined ? {} : { blockers: outcome.blockers.map((text) => sanitiser.cleanText(text)) }),
    ...(outcome.assumptions === undefined
      ? {}
      : { assumptions: outcome.assumptions.map((text) => sanitiser.cleanText(text)) }),
  };
}

function cleanError(error: StepError, sanitiser: Sanitiser): StepError {
  const message = sanitiser.cleanText(error.message).slice(0, LIMITS.errorTextBytesMax);
  if (error.details === undefined) return { ...error, message };
  return { ...error, message, details: sanitiser.clean(cutTexts(error.details) as JsonObject) as JsonObject };
}

/** Long texts in error details are cut: recording a failure never needs the big value. */
function cutTexts(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.slice(0, LIMITS.errorTextBytesMax);
  if (Array.isArray(value)) return value.slice(0, 100).map((item: JsonValue) => cutTexts(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutTexts(item ?? null)]));
}

function isOverLimit(value: JsonValue): boolean {
  let budget: number = LIMITS.stepOutputBytesMax;
  const stack: (JsonValue | undefined)[] = [value];
  while (stack.length > 0 && budget > 0) {
    const item = stack.pop();
    if (typeof item === "string") budget -= item.length;
    else if (Array.isArray(item)) for (const element of item as JsonValue[]) stack.push(element);
    else if (isJsonObject(item)) {
      for (const [key, field] of Object.entries(item)) {
        budget -= key.length;
        stack.push(field);
      }
    } else budget -= 4;
  }
  return budget <= 0;
}

function failed(code: string, message: string): StepOutcome {
  return { status: "failed", error: { code, message, retryable: true } };
}
