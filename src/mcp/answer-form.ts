/**
 * Answers as the protocol has them: the result as structured content and the same as text, bounded; errors with code and
 * hint, never a stack.
 */
import { completeCommands } from "../base/command-fields.js";
import { errorCodeOf, messageOf, SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import { formatCount, showControls } from "../base/plain-text.js";
import type { ToolAnswer } from "./tool.js";

export interface FormedAnswer {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Record<string, JsonValue | undefined>;
  readonly isError?: true;
}

/** Commands with the flags that the server was given. */
export type RepeatFlags = (text: string) => string;

export function formAnswer(answer: ToolAnswer, repeat: RepeatFlags): FormedAnswer {
  const whole = completeCommands(JSON.parse(JSON.stringify(answer.result)) as JsonValue, repeat);
  const { value: result, leftOut } = bound(whole, LIMITS.mcpResultBytesMax);
  const command = answer.command === undefined || leftOut.length === 0 ? [] : [`all of it: ${repeat(answer.command)}`];
  const notes = [...(answer.leftOut ?? []), ...leftOut, ...command];
  const { next } = answer;
  const structuredContent = {
    result,
    ...(next === undefined ? {} : { next: repeat(next) }),
    ...(notes.length === 0 ? {} : { left_out: notes }),
  };
  return { content: [{ type: "text", text: showControls(JSON.stringify(structuredContent)) }], structuredContent };
}

/** Text for the model, and the same with all details for programs. A mistake of ours says no more than that. */
export function formError(error: unknown, repeat: RepeatFlags): FormedAnswer {
  const known = error instanceof SplashdownError ? error : undefined;
  const code = errorCodeOf(error) ?? "INTERNAL";
  const message = showControls(messageOf(error));
  const hint = known === undefined ? "" : repeat(known.hint);
  const body: JsonObject = known === undefined ? { code, message } : { ...known.toJSON(), message, hint };
  const text = [`${message} [${code}]`, ...(hint === "" ? [] : [`→ ${hint}`])].join("\n");
  return { content: [{ type: "text", text }], structuredContent: { error: body }, isError: true };
}

interface Bounded {
  readonly value: JsonValue;
  readonly leftOut: readonly string[];
}

const sizeOf = (value: JsonValue | undefined): number => Buffer.byteLength(JSON.stringify(value ?? null));

/** A list is cut at its end; of a map the largest fields are emptied, one after the other, until it fits. */
function bound(value: JsonValue, sizeBytesMax: number): Bounded {
  if (sizeOf(value) <= sizeBytesMax) return { value, leftOut: [] };
  if (Array.isArray(value)) return cutList(value, sizeBytesMax);
  return isJsonObject(value) ? emptyFields(value, sizeBytesMax) : { value: null, leftOut: ["the result"] };
}

function cutList(items: readonly JsonValue[], sizeBytesMax: number): Bounded {
  let sizeBytes = 2;
  const end = items.findIndex((item) => (sizeBytes += sizeOf(item) + 1) > sizeBytesMax);
  return { value: items.slice(0, end), leftOut: [`${items.length - end} of ${items.length}`] };
}

function emptyFields(record: JsonObject, sizeBytesMax: number): Bounded {
  const kept: Record<string, JsonValue | undefined> = { ...record };
  const leftOut: string[] = [];
  const bySize = Object.entries(record).sort(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  for (const [name, field] of bySize) {
    if (sizeOf(kept) <= sizeBytesMax) break;
    kept[name] = emptied(field);
    leftOut.push(`${name} (${describeSize(field)})`);
  }
  return { value: kept, leftOut };
}

/** What has a fixed shape keeps it; of anything else nothing is left. */
function emptied(field: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(field)) return [];
  if (typeof field === "string") return "";
  return isJsonObject(field) ? {} : undefined;
}

function describeSize(field: JsonValue | undefined): string {
  const bytes = `${Math.ceil(sizeOf(field) / 1024)} KiB`;
  return Array.isArray(field) ? `${formatCount(field.length, "entry", "entries")}, ${bytes}` : bytes;
}
