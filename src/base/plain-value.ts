/**
 * Stored values as other programs see them.
 *
 * Inside a task rich values are tagged (base/json.ts). A child knows no tags: dates become ISO text, whole numbers beyond
 * JSON's and the numbers JSON lacks become text, bytes base64, sets arrays, maps arrays of pairs; -0 stays a number. What a
 * child says is plain JSON and is stored so that it reads back exactly, a key `$t` included.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { parseExactJson } from "./exact-json.js";
import { encodeValue } from "./json-encoding.js";

/** The view of a stored value for a child's stdin. */
export function formatPlainValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => formatPlainValue(item));
  if (!isJsonObject(value)) return value;
  const { $t: tag, v } = value;
  if (tag === undefined || v === undefined) return formatFields(value);
  if (tag === "num" && v === "-0") return -0;
  return tag === "obj" && isJsonObject(v) ? formatFields(v) : formatPlainValue(v);
}

/** The same for a template: a value without tags is not copied. */
export function formatForTemplate(value: JsonValue): JsonValue {
  return hasTag(value) ? formatPlainValue(value) : value;
}

function hasTag(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some((item: JsonValue) => hasTag(item));
  if (!isJsonObject(value)) return false;
  return value["$t"] !== undefined || Object.values(value).some((item) => hasTag(item));
}

function formatFields(value: JsonObject): JsonObject {
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(fields.map(([key, item]) => [key, formatPlainValue(item ?? null)]));
}

const INDENT = 2;

/** JSON text of a plain value. Unlike `JSON.stringify` it writes -0 as -0. */
export function formatJsonText(value: unknown, { isIndented = false } = {}): string {
  const indent = isIndented ? INDENT : undefined;
  let hasMinusZero = false;
  const text = JSON.stringify(value, (_key, item: unknown) => ((hasMinusZero ||= Object.is(item, -0)), item), indent);
  if (!hasMinusZero) return text;
  let mark = "-0";
  while (text.includes(mark)) mark += "~";
  const marked = JSON.stringify(value, (_key, item: unknown) => (Object.is(item, -0) ? mark : item), indent);
  return marked.replaceAll(`"${mark}"`, "-0");
}

/**
 * Reads JSON text into a value that can be stored. A number that would become another, and a key that stands twice, are
 * refused by their path.
 *
 * Errors: SyntaxError; VALUE_TOO_DEEP, VALUE_UNSUPPORTED.
 */
export function parsePlainValue(text: string): JsonValue {
  return encodeValue(parseExactJson(text));
}
