/** Copies the large values that an encoded state names from one task's blobs to another's. */
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.js";
import type { BlobRef } from "../engine/events.js";

/** Sections of an encoded state that hold references. Source: engine/state-codec.ts. */
const SECTIONS = ["steps", "outputs", "histories", "deliverables"] as const;
const BLOB_KEY = /^blobs\/[a-z2-7]{2}\/[a-z2-7]{52}\.bin$/;

/**
 * The encoded state with its references replaced.
 *
 * Shape: a new object; `copy` is asked once for each value. What a step gave as a value stands under `inline` and is not
 * looked into. Errors: those of `copy`.
 */
export async function copyLargeValues(state: JsonValue, copy: (ref: BlobRef) => Promise<BlobRef>): Promise<JsonValue> {
  if (!isJsonObject(state)) return state;
  const copied = new Map<string, Promise<BlobRef>>();
  const copyOnce = (ref: BlobRef): Promise<BlobRef> => {
    const known = copied.get(ref.key) ?? copy(ref);
    copied.set(ref.key, known);
    return known;
  };
  const result: Record<string, JsonValue> = { ...state } as Record<string, JsonValue>;
  for (const section of SECTIONS) {
    const value = state[section];
    if (value !== undefined) result[section] = await replaceIn(value, copyOnce);
  }
  return result;
}

async function replaceIn(value: JsonValue, copy: (ref: BlobRef) => Promise<BlobRef>): Promise<JsonValue> {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value as readonly JsonValue[]) items.push(await replaceIn(item, copy));
    return items;
  }
  if (!isJsonObject(value)) return value;
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value) as [string, JsonValue][]) {
    if (key === "inline") entries.push([key, item]);
    else if (key === "blob" && isBlobRef(item)) entries.push([key, { ...(await copy(item as unknown as BlobRef)) }]);
    else entries.push([key, await replaceIn(item, copy)]);
  }
  return Object.fromEntries(entries);
}

function isBlobRef(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && typeof value["key"] === "string" && BLOB_KEY.test(value["key"]);
}
