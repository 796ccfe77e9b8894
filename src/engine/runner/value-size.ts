/**
 * How large and how deep a value is, found without making its text and without following it further than asked.
 *
 * Owns: the estimate. It is exact for what matters, long texts and many nodes; short texts count one byte per character.
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import { isJsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";

export interface ValueBounds {
  readonly bytesMax: number;
  readonly depthMax: number;
}

export type ValueFault = "VALUE_TOO_LARGE" | "VALUE_TOO_DEEP";

/** Below it the bytes of a text are not told from its characters. */
const SHORT_TEXT_CHARS = 256;
const SCALAR_BYTES = 6;

/** Why a value is out of bounds; `undefined` when it is within. Units: bytes of JSON text. */
export function findValueFault(value: JsonValue, { bytesMax, depthMax }: ValueBounds): ValueFault | undefined {
  let leftBytes = bytesMax;
  let level: (JsonValue | undefined)[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return "VALUE_TOO_DEEP";
    const below: (JsonValue | undefined)[] = [];
    for (const item of level) {
      leftBytes -= measureItself(item);
      if (leftBytes <= 0) return "VALUE_TOO_LARGE";
      for (const child of childrenOf(item)) below.push(child);
    }
    level = below;
  }
  return undefined;
}

/** True when the JSON text stays under the threshold of blobs. */
export function isSmall(value: JsonValue): boolean {
  return findValueFault(value, { bytesMax: LIMITS.blobThresholdBytes, depthMax: Infinity }) === undefined;
}

/** Units: bytes of JSON text, as `findValueFault` estimates them. */
export function measureValue(value: JsonValue): number {
  let bytes = 0;
  let level: (JsonValue | undefined)[] = [value];
  while (level.length > 0) {
    const below: (JsonValue | undefined)[] = [];
    for (const item of level) {
      bytes += measureItself(item);
      for (const child of childrenOf(item)) below.push(child);
    }
    level = below;
  }
  return bytes;
}

/** What a value takes without what is in it: a container counts its keys, commas and brackets. */
function measureItself(value: JsonValue | undefined): number {
  if (typeof value === "string") return measureText(value);
  if (typeof value !== "object" || value === null) return SCALAR_BYTES;
  if (!isJsonObject(value)) return 2 + value.length;
  let bytes = 2;
  for (const key in value) bytes += measureText(key) + 2;
  return bytes;
}

function measureText(text: string): number {
  return 2 + (text.length < SHORT_TEXT_CHARS ? text.length : Buffer.byteLength(text));
}

function childrenOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  if (typeof value !== "object" || value === null) return [];
  return isJsonObject(value) ? Object.values<JsonObject[string]>(value) : value;
}
