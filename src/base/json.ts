/**
 * JSON values, canonical text, and the checked encoding of rich values.
 *
 * Owns: what may be stored at all. Nothing is lost in silence: a value round-trips exactly or is refused with its path.
 * B3: `decodeValue(encodeValue(x))` deep-equals x, for every x that `encodeValue` accepts.
 */
import { SplashdownError } from "./errors.js";
import { LIMITS } from "./limits.js";

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for a plain object (own or null prototype), not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Canonical JSON text: keys sorted by code unit, no white space.
 *
 * Errors: VALUE_UNSUPPORTED on anything that is not JSON.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SplashdownError("VALUE_UNSUPPORTED", `not a JSON number: ${String(value)}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonicalJson(item)).join(",")}]`;
  const record = value as JsonObject;
  const parts: string[] = [];
  for (const key of Object.keys(record).sort()) {
    const item = record[key];
    if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(item)}`);
  }
  return `{${parts.join(",")}}`;
}

interface EncodeWalk {
  nodes: number;
  readonly stack: Set<object>;
}

/**
 * Turns a value of running code into plain JSON, or refuses it.
 *
 * Shape: dates, bigints, maps, sets, bytes and the numbers JSON lacks become `{"$t": kind, "v": …}`; a real object with
 * a key `$t` is wrapped; undefined object properties are left out.
 * Errors: VALUE_UNSUPPORTED, VALUE_TOO_DEEP with the JSON path of the value.
 * Source: STORAGE section 1.11.
 */
export function encodeValue(value: unknown): JsonValue {
  return encodeNode(value, "$", 0, { nodes: 0, stack: new Set() });
}

function refuse(path: string, what: string): never {
  throw new SplashdownError("VALUE_UNSUPPORTED", `${what} at ${path} cannot be stored`, { details: { path } });
}

function encodeNode(value: unknown, path: string, depth: number, walk: EncodeWalk): JsonValue {
  walk.nodes += 1;
  if (depth > LIMITS.valueDepthMax || walk.nodes > LIMITS.valueNodesMax) {
    throw new SplashdownError("VALUE_TOO_DEEP", `the value at ${path.slice(0, 200)} is nested too deep or has too many nodes`, {
      details: { path: path.slice(0, 200), depthMax: LIMITS.valueDepthMax, nodesMax: LIMITS.valueNodesMax },
    });
  }
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return encodeNumber(value);
    case "bigint":
      return { $t: "bigint", v: value.toString() };
    case "object":
      return value === null ? null : encodeObject(value, path, depth, walk);
    default:
      return refuse(path, value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function encodeNumber(value: number): JsonValue {
  if (Number.isNaN(value)) return { $t: "num", v: "NaN" };
  if (value === Infinity) return { $t: "num", v: "Infinity" };
  if (value === -Infinity) return { $t: "num", v: "-Infinity" };
  if (Object.is(value, -0)) return { $t: "num", v: "-0" };
  return value;
}

function encodeObject(value: object, path: string, depth: number, walk: EncodeWalk): JsonValue {
  if (walk.stack.has(value)) refuse(path, "a cycle");
  walk.stack.add(value);
  try {
    if (Array.isArray(value)) return encodeArray(value, path, depth, walk);
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) refuse(path, "an invalid date");
      return { $t: "date", v: value.toISOString() };
    }
    if (value instanceof Map) {
      const entries = [...value].map(([key, item], index) => [
        encodeNode(key, `${path}.key(${index})`, depth + 1, walk),
        encodeNode(item, `${path}.value(${index})`, depth + 1, walk),
      ]);
      return { $t: "map", v: entries };
    }
    if (value instanceof Set) {
      return { $t: "set", v: [...value].map((item, index) => encodeNode(item, `${path}.item(${index})`, depth + 1, walk)) };
    }
    if (value instanceof Uint8Array) return { $t: "bytes", v: Buffer.from(value).toString("base64") };
    return encodeRecord(value, path, depth, walk);
  } finally {
    walk.stack.delete(value);
  }
}

function encodeArray(value: readonly unknown[], path: string, depth: number, walk: EncodeWalk): JsonValue {
  const items: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    if (!(index in value)) refuse(`${path}[${index}]`, "a hole in an array");
    items.push(encodeNode(value[index], `${path}[${index}]`, depth + 1, walk));
  }
  return items;
}

function encodeRecord(value: object, path: string, depth: number, walk: EncodeWalk): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) refuse(path, `an instance of ${value.constructor.name || "a class"}`);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, "a symbol key");
  const result: Record<string, JsonValue> = {};
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!descriptor.enumerable) continue;
    if (key === "__proto__") refuse(`${path}.__proto__`, "the key __proto__");
    if (!("value" in descriptor)) refuse(`${path}.${key}`, "an accessor");
    if (descriptor.value !== undefined) result[key] = encodeNode(descriptor.value, `${path}.${key}`, depth + 1, walk);
  }
  return "$t" in result ? { $t: "obj", v: result } : result;
}

/**
 * The reverse of `encodeValue`.
 *
 * Errors: VALUE_UNSUPPORTED on an unknown or malformed tag.
 */
export function decodeValue(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => decodeValue(item));
  const record = value as JsonObject;
  return "$t" in record ? decodeTagged(record) : decodeRecord(record);
}

function decodeRecord(record: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(record)) {
    if (key === "__proto__") refuse("$.__proto__", "the key __proto__");
    if (item !== undefined) result[key] = decodeValue(item);
  }
  return result;
}

function decodeTagged(record: JsonObject): unknown {
  const { $t: tag, v } = record;
  if (tag === "bigint" && typeof v === "string" && /^-?\d+$/.test(v)) return BigInt(v);
  if (tag === "date" && typeof v === "string" && !Number.isNaN(Date.parse(v))) return new Date(v);
  if (tag === "bytes" && typeof v === "string") return new Uint8Array(Buffer.from(v, "base64"));
  if (tag === "num" && typeof v === "string" && ["NaN", "Infinity", "-Infinity", "-0"].includes(v)) return Number(v);
  if (tag === "set" && Array.isArray(v)) return new Set(v.map((item: JsonValue) => decodeValue(item)));
  if (tag === "map" && Array.isArray(v)) {
    return new Map(
      v.map((pair: JsonValue) => {
        if (!Array.isArray(pair) || pair.length !== 2) throw badTag("map");
        return [decodeValue(pair[0] as JsonValue), decodeValue(pair[1] as JsonValue)] as const;
      }),
    );
  }
  if (tag === "obj" && isJsonObject(v)) return decodeRecord(v);
  throw badTag(typeof tag === "string" ? tag : "?");
}

function badTag(tag: string): SplashdownError {
  return new SplashdownError("VALUE_UNSUPPORTED", `stored value has an unknown or malformed tag: ${tag}`);
}
