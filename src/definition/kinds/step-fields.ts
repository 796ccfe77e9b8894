/** Small parts of the language turned into their normalised form: times, commands, retries, output fields, files. */
import { findNameFault } from "../../base/portable-name.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { OutputField, Retry } from "../../schema/generated/workflow.js";
import { RETRY } from "../model/defaults.js";
import { parseDurationMs } from "../model/duration.js";
import type { FaultList, FaultPath } from "../faults/fault.js";
import type { RetryPolicy } from "../model/values.js";

/** A part that is there only when its value is. */
export function omitUndefined<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

/** A duration in milliseconds, where it is written and is one. */
export function optionalMs<K extends string>(
  key: K,
  value: number | string | undefined,
): { readonly [P in K]?: number } {
  return omitUndefined(key, value === undefined ? undefined : parseDurationMs(value));
}

/** Program and arguments as texts. */
export function listCommand(command: JsonValue | undefined, args: readonly JsonValue[] = []): string[] {
  const head = Array.isArray(command) ? (command as readonly JsonValue[]) : command === undefined ? [] : [command];
  return [...head, ...args].map(String);
}

/** A map of texts; numbers and truth values become their text. */
export function textMap(
  value: Readonly<Record<string, string | number | boolean>> | undefined,
): Record<string, string> {
  return Object.fromEntries(Object.entries(value ?? {}).map(([key, item]) => [key, String(item)]));
}

/** Units: seconds become milliseconds. */
export function buildRetry(retry: Retry | undefined): RetryPolicy {
  const toMs = (seconds: number | undefined, otherwise: number): number =>
    seconds === undefined ? otherwise : Math.round(seconds * 1_000);
  const delayMs = toMs(retry?.delay_seconds, RETRY.delayMs);
  return {
    maxAttempts: retry?.max_attempts ?? RETRY.maxAttempts,
    backoff: retry?.backoff ?? RETRY.backoff,
    delayMs,
    delayMsMax: Math.max(
      toMs(retry?.max_delay_seconds, RETRY.delayMsMax),
      retry?.max_delay_seconds === undefined ? delayMs : 0,
    ),
    jitter: retry?.jitter ?? RETRY.jitter,
    ...omitUndefined("on", retry?.retry_on),
  };
}

/** A JSON Schema of the declared fields. Extra fields are allowed. Source: CONDUCTOR-YAML 1.4. */
export function buildOutputSchema(fields: Readonly<Record<string, OutputField>>): JsonObject {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, buildField(field)]));
  const required = Object.keys(fields).filter((name) => fields[name]?.required !== false);
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

function buildField(field: OutputField): JsonObject {
  const { description, items, properties, required: _required, nullable, type, ...bounds } = field;
  const inner = properties === undefined ? undefined : buildOutputSchema(properties);
  const schema: Record<string, JsonValue | undefined> = {
    type: nullable === true ? [type, "null"] : type,
    ...(bounds as JsonObject),
  };
  if (nullable === true && Array.isArray(schema["enum"])) schema["enum"] = [...(schema["enum"] as JsonValue[]), null];
  if (description !== undefined) schema["description"] = description;
  if (items !== undefined) schema["items"] = buildField(items);
  return {
    ...schema,
    ...(inner === undefined ? {} : { properties: inner["properties"], required: inner["required"] ?? [] }),
  };
}

/** Of a file below the task's folder. */
function firstFault(parts: readonly string[]): string | undefined {
  for (const part of parts) {
    const fault = findNameFault(part);
    if (fault !== undefined)
      return parts.length === 1 && part !== "" ? `it ${fault}` : `${JSON.stringify(part)} ${fault}`;
  }
  return undefined;
}

/** File → field of the output; checked to stay below the task's folder. */
export function buildSaveAs(
  value: string | Readonly<Record<string, unknown>> | undefined,
  path: FaultPath,
  faults: FaultList,
): Record<string, string> {
  if (value === undefined) return {};
  const files = typeof value === "string" ? { [value]: "" } : value;
  const result: Record<string, string> = {};
  for (const [file, field] of Object.entries(files)) {
    const why = file.length > 200 ? "is too long" : firstFault(file.split("/"));
    const twin = Object.keys(result).find((other) => other.toLowerCase() === file.toLowerCase());
    if (why !== undefined) {
      faults.add({
        code: "wrong_value",
        path,
        message: `${JSON.stringify(file)} is not a file below the task's folder: ${why}`,
        suggestion: "write a relative name such as report.md or final/report.md",
      });
    } else if (twin !== undefined) {
      faults.add({
        code: "conflict",
        path,
        message: `${twin} and ${file} are one file where names have no case`,
        suggestion: "call one of them otherwise",
      });
    }
    result[file] = String(field);
  }
  return result;
}
