/**
 * Canonical JSON text, and the checked encoding of rich values.
 *
 * Owns: what may be stored at all. Nothing is lost in silence: a value round-trips exactly or is refused with its path.
 * B3: `decodeValue(encodeValue(x))` deep-equals x, for every x that `encodeValue` accepts.
 */
import { SplashdownError } from "./errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { LIMITS } from "./limits.js";

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

/** The way down to the node at hand: as deep as there are containers around it. */
interface EncodeWalk {
  nodes: number;
  readonly around: Set<object>;
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
  return encodeNode(value, "$", { nodes: 0, around: new Set() });
}

function refuse(path: string, what: string): never {
  throw new SplashdownError("VALUE_UNSUPPORTED", `${what} at ${path} cannot be stored`, { details: { path } });
}

function encodeNode(value: unknown, path: string, walk: EncodeWalk): JsonValue {
  countNode(path, walk);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return encodeNumber(value);
    case "bigint":
      return { $t: "bigint", v: value.toString() };
    case "object":
      return value === null ? null : encodeObject(value, path, walk);
    default:
      return refuse(path, value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function countNode(path: string, walk: EncodeWalk): void {
  walk.nodes += 1;
  const { valueDepthMax: depthMax, valueNodesMax: nodesMax } = LIMITS;
  if (walk.around.size <= depthMax && walk.nodes <= nodesMax) return;
  const at = path.slice(0, 200);
  throw new SplashdownError("VALUE_TOO_DEEP", `the value at ${at} is nested too deep or has too many nodes`, {
    details: { path: at, depthMax, nodesMax },
  });
}

function encodeNumber(value: number): JsonValue {
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  return { $t: "num", v: value === 0 ? "-0" : String(value) };
}

function encodeObject(value: object, path: string, walk: EncodeWalk): JsonValue {
  if (walk.around.has(value)) refuse(path, "a cycle");
  walk.around.add(value);
  try {
    return encodeContent(value, path, walk);
  } finally {
    walk.around.delete(value);
  }
}

function encodeContent(value: object, path: string, walk: EncodeWalk): JsonValue {
  if (Array.isArray(value)) return encodeArray(value, path, walk);
  if (value instanceof Date) return encodeDate(value, path);
  if (value instanceof Map) {
    const entries = [...value].map(([key, item], index) => [
      encodeNode(key, `${path}.key(${index})`, walk),
      encodeNode(item, `${path}.value(${index})`, walk),
    ]);
    return { $t: "map", v: entries };
  }
  if (value instanceof Set) {
    return { $t: "set", v: [...value].map((item, index) => encodeNode(item, `${path}.item(${index})`, walk)) };
  }
  if (value instanceof Uint8Array) return { $t: "bytes", v: Buffer.from(value).toString("base64") };
  return encodeRecord(value, path, walk);
}

function encodeDate(value: Date, path: string): JsonValue {
  if (Number.isNaN(value.getTime())) refuse(path, "an invalid date");
  return { $t: "date", v: value.toISOString() };
}

function encodeArray(value: readonly unknown[], path: string, walk: EncodeWalk): JsonValue {
  const items: JsonValue[] = [];
  for (let index = 0; index < value.length; index += 1) {
    if (!(index in value)) refuse(`${path}[${index}]`, "a hole in an array");
    items.push(encodeNode(value[index], `${path}[${index}]`, walk));
  }
  return items;
}

function encodeRecord(value: object, path: string, walk: EncodeWalk): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    refuse(path, `an instance of ${value.constructor.name || "a class"}`);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(path, "a symbol key");
  const result: Record<string, JsonValue> = {};
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (!descriptor.enumerable) continue;
    if (key === "__proto__") refuse(`${path}.__proto__`, "the key __proto__");
    if (!("value" in descriptor)) refuse(`${path}.${key}`, "an accessor");
    if (descriptor.value !== undefined) result[key] = encodeNode(descriptor.value, `${path}.${key}`, walk);
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
  if (isJsonObject(value)) return "$t" in value ? decodeTagged(value) : decodeRecord(value);
  return value.map((item) => decodeValue(item));
}

function decodeRecord(record: JsonObject): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(record)) {
    if (key === "__proto__") refuse("$.__proto__", "the key __proto__");
    if (item !== undefined) result[key] = decodeValue(item);
  }
  return result;
}

type Decoder = (v: JsonValue | undefined) => unknown;
/** What stands behind each tag; `undefined` when it is malformed. */
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["bigint", (v) => (typeof v === "string" && /^-?\d+$/.test(v) ? BigInt(v) : undefined)],
  ["date", (v) => (typeof v === "string" && !Number.isNaN(Date.parse(v)) ? new Date(v) : undefined)],
  ["bytes", (v) => (typeof v === "string" ? new Uint8Array(Buffer.from(v, "base64")) : undefined)],
  ["num", (v) => (v === "NaN" || v === "Infinity" || v === "-Infinity" || v === "-0" ? Number(v) : undefined)],
  ["set", (v) => (isJsonArray(v) ? new Set(v.map((item) => decodeValue(item))) : undefined)],
  ["map", (v) => (isJsonArray(v) ? decodeMap(v) : undefined)],
  ["obj", (v) => (isJsonObject(v) ? decodeRecord(v) : undefined)],
]);

function decodeTagged({ $t: tag, v }: JsonObject): unknown {
  const decoded = typeof tag === "string" ? DECODERS.get(tag)?.(v) : undefined;
  if (decoded !== undefined) return decoded;
  const name = typeof tag === "string" ? tag : "?";
  throw new SplashdownError("VALUE_UNSUPPORTED", `stored value has an unknown or malformed tag: ${name}`);
}

function decodeMap(pairs: readonly JsonValue[]): Map<unknown, unknown> | undefined {
  const result = new Map<unknown, unknown>();
  for (const pair of pairs) {
    if (!isJsonArray(pair) || pair.length !== 2) return undefined;
    const [key, item] = pair;
    result.set(decodeValue(key ?? null), decodeValue(item ?? null));
  }
  return result;
}

function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
