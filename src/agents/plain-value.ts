/**
 * Stored values as other programs see them.
 *
 * Inside a task rich values are tagged (base/json.ts). A child knows no tags: dates become ISO text, whole numbers beyond
 * JSON's and the numbers JSON lacks become text, bytes base64, sets arrays, maps arrays of pairs. What a child says is
 * plain JSON and is stored so that it reads back exactly, a key `$t` included.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import { encodeValue } from "../base/json-encoding.js";

/** The view of a stored value for a child's stdin. */
export function formatPlainValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => formatPlainValue(item));
  if (!isJsonObject(value)) return value;
  const { $t: tag, v } = value;
  if (tag === undefined || v === undefined) return formatFields(value);
  return tag === "obj" && isJsonObject(v) ? formatFields(v) : formatPlainValue(v);
}

function formatFields(value: JsonObject): JsonObject {
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(fields.map(([key, item]) => [key, formatPlainValue(item ?? null)]));
}

/** Texts that may hold a number beyond all that can be held; few do. */
const MAY_OVERFLOW = /e\+?\d{3}|\d{309}/i;

/**
 * Reads JSON text into a value that can be stored. A number too large to be held is no value: it would become another.
 *
 * Errors: SyntaxError; VALUE_TOO_DEEP, VALUE_UNSUPPORTED.
 */
export function parsePlainValue(text: string): JsonValue {
  return encodeValue(JSON.parse(text, MAY_OVERFLOW.test(text) ? requireHeld : undefined));
}

function requireHeld(key: string, value: unknown): unknown {
  if (value === Infinity || value === -Infinity) throw new SyntaxError(`the number of ${key} is too large to be held`);
  return value;
}
