/**
 * How a sub-step failed, as it is remembered and as it is thrown again.
 *
 * What a function decides on after a failure decides which way it goes, so the first time and every later one must see
 * the same error: what is thrown is always the one made of the record. It has the name, the message, the code and the
 * plain fields of what was thrown; its class is a built-in one, so a function tells failures apart by name or code.
 */
import { errorCodeOf, messageOf, SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { decodeValue, encodeValue } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { SubstepFailure } from "../../engine/model/call-events.js";
import { cutText } from "./failure.js";

const STACK_BYTES_MAX = 4_096;

/** What is kept of something thrown. */
export function describeFailure(thrown: unknown): SubstepFailure {
  if (!(thrown instanceof Error)) return { name: "", message: messageOf(thrown), thrown: keepValue(thrown) ?? null };
  const code = errorCodeOf(thrown) ?? ("code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined);
  const fields = keepFields(thrown);
  return {
    name: thrown.name,
    message: cutText(thrown.message),
    ...(code === undefined ? {} : { code }),
    ...(thrown.stack === undefined ? {} : { stack: cutText(thrown.stack, STACK_BYTES_MAX) }),
    ...(fields === undefined ? {} : { fields }),
  };
}

/** What the function sees of it, the first time and every later one. */
export function restoreFailure(failure: SubstepFailure): unknown {
  const { name, message, code, stack, fields, thrown } = failure;
  if (thrown !== undefined) return decodeValue(thrown);
  const error = createError(failure);
  if (error.name !== name) define(error, "name", name);
  if (stack !== undefined) define(error, "stack", stack);
  if (!(error instanceof SplashdownError)) {
    if (code !== undefined) Object.assign(error, { code });
    Object.assign(error, decodeValue(fields ?? {}));
  }
  error.message = message;
  return error;
}

function define(error: Error, key: "name" | "stack", value: string): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: false });
}

const BUILT_IN: Readonly<Record<string, new (message: string) => Error>> = {
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  URIError,
};

function createError({ name, message, code, fields }: SubstepFailure): Error {
  const details = fields?.["details"];
  const own = errorCodeOf({ code });
  if (name === "SplashdownError" && own !== undefined)
    return new SplashdownError(own, message, isJsonObject(details) ? { details } : {});
  return new (BUILT_IN[name] ?? Error)(message);
}

/** Fields of its own that can be kept; `undefined` where there are none. */
function keepFields(thrown: Error): JsonObject | undefined {
  const kept = Object.entries(thrown).flatMap(([key, value]) => {
    const own = KEPT_ELSEWHERE.has(key) ? undefined : keepValue(value);
    return own === undefined ? [] : [[key, own] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

const KEPT_ELSEWHERE: ReadonlySet<string> = new Set(["name", "message", "code", "stack", "cause"]);

function keepValue(value: unknown): JsonValue | undefined {
  try {
    const encoded = encodeValue(value ?? null);
    return JSON.stringify(encoded).length > LIMITS.errorTextBytesMax ? undefined : encoded;
  } catch {
    return undefined;
  }
}
