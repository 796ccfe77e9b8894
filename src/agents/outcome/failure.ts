/** Turns what went wrong inside a step into its outcome. */
import { SplashdownError, errorCodeOf, isErrorCode, messageOf } from "../../base/errors.js";
import type { ErrorCode } from "../../base/error-table.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { readUtf8 } from "../../base/utf8-text.js";
import type { Usage } from "../../engine/model/events.js";
import type { StepOutcome } from "../../engine/model/ports.js";

/** What another attempt may mend, whatever the table says of the code at large: the retry policy bounds it. */
const MENDED_BY_RETRY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "STEP_FAILED",
  "STEP_OUTPUT_INVALID",
  "STORE_BUSY",
]);

/** Not failures of the step: the run itself is over. */
const ENDS_THE_RUN: readonly ErrorCode[] = [
  "OWNER_SUPERSEDED",
  "INTERNAL",
  "SEGMENT_DEAD",
  "STORE_FULL",
  "STORE_FAILED",
  "STORE_UNWRITABLE",
];

/** True for errors that a performer must pass on instead of turning them into an outcome (A1). */
export function isEndOfRun(error: unknown): boolean {
  return isErrorCode(error, ...ENDS_THE_RUN);
}

/** A call that broke has been made, and nobody knows what it cost. */
const ONE_CALL: Usage = { calls: 1, tokensIn: 0, tokensOut: 0 };

/** What a failed call of a model used; `undefined` where none was made. */
export function usageOfError(error: unknown): Usage | undefined {
  const { usage, called } = detailsOf(error) ?? {};
  return isJsonObject(usage) ? (usage as unknown as Usage) : called === true ? ONE_CALL : undefined;
}

/** The same error, with what was used until it came. */
export function withUsage(error: SplashdownError, usage: Usage | undefined): SplashdownError {
  if (usage === undefined) return error;
  const details = { ...error.details, usage: { ...usage } };
  return new SplashdownError(error.code, error.message, { details, cause: error.cause });
}

export function sumUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const isPriced = one.costMicroUsd !== undefined && other.costMicroUsd !== undefined;
  return {
    calls: one.calls + other.calls,
    tokensIn: one.tokensIn + other.tokensIn,
    tokensOut: one.tokensOut + other.tokensOut,
    ...(isPriced ? { costMicroUsd: (one.costMicroUsd ?? 0) + (other.costMicroUsd ?? 0) } : {}),
  };
}

/** `yes`: the work is done, and only its result cannot be used. `maybe`: it was begun, and its end is not known. */
export type Acted = "yes" | "maybe";

/** The same error, of an attempt that must not be repeated unasked where it acts on the world. */
export function afterAct(error: SplashdownError, acted: Acted): SplashdownError {
  return new SplashdownError(error.code, error.message, { details: { ...error.details, acted }, cause: error });
}

/** Judges what a finished attempt gave: whatever is wrong with it, the attempt has acted. */
export async function judgeFinished<T>(judge: () => Promise<T>): Promise<T> {
  try {
    return await judge();
  } catch (error) {
    if (isEndOfRun(error)) throw error;
    throw afterAct(error instanceof SplashdownError ? error : outputInvalid(messageOf(error)), "yes");
  }
}

/** The outcome for anything thrown inside a step. */
export function outcomeOfError(error: unknown): StepOutcome {
  if (isErrorCode(error, "CANCELLED")) return { status: "cancelled" };
  const code = errorCodeOf(error) ?? "STEP_FAILED";
  const details = detailsOf(error);
  const usage = usageOfError(error);
  const retryAtMs = details?.["retry_at_ms"];
  return {
    status: "failed",
    error: {
      code,
      message: cutText(messageOf(error)),
      retryable: isRetryable(error, code),
      ...(typeof retryAtMs === "number" ? { retryAtMs } : {}),
      ...(details === undefined ? {} : { details }),
    },
    ...(usage === undefined ? {} : { usage }),
  };
}

function isRetryable(error: unknown, code: ErrorCode): boolean {
  const told = error instanceof SplashdownError ? error.details["retryable"] : ownRetryable(error);
  if (typeof told === "boolean") return told;
  return MENDED_BY_RETRY.has(code) || (error instanceof SplashdownError && error.retryable);
}

function ownRetryable(error: unknown): unknown {
  return typeof error === "object" && error !== null && "retryable" in error ? error.retryable : undefined;
}

function detailsOf(error: unknown): JsonObject | undefined {
  if (error instanceof SplashdownError) return Object.keys(error.details).length === 0 ? undefined : error.details;
  if (typeof error !== "object" || error === null) return undefined;
  if ("details" in error && isJsonObject(error.details)) return error.details;
  return error instanceof Error ? { name: error.name, stack: cutText(error.stack ?? "", 4096) } : undefined;
}

/** The head of a text that may become part of an event. */
export function cutText(text: string, bytesMax: number = LIMITS.errorTextBytesMax): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  return `${bytes.toString("utf8", 0, bytesMax).replace(/\uFFFD$/, "")}… (${bytes.length} bytes)`;
}

/** The error of an output that is not what protocol or definition demand; the text it came as is kept, cut. */
export function outputInvalid(message: string, raw?: string): SplashdownError {
  return new SplashdownError(
    "STEP_OUTPUT_INVALID",
    message,
    raw === undefined ? {} : { details: { raw: cutText(raw) } },
  );
}

/** Bytes that a step was given, as text. Errors: STEP_OUTPUT_INVALID that says where they are none. */
export function requireText(bytes: Uint8Array, what: string): string {
  const read = readUtf8(bytes);
  if ("text" in read) return read.text;
  throw outputInvalid(`${what} ${read.problem}`, Buffer.from(bytes).toString("latin1"));
}
