/** Replaces the references to large values in what is copied to other blobs: another task's, or under another key. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { BlobRef } from "../../engine/model/value-ref.js";

/** Sections of an encoded state that hold references; the task's own is its output. Source: engine/state/state-codec.ts. */
const SECTIONS = ["steps", "scopes", "outputs", "histories", "deliverables"] as const;
const BLOB_KEY = /^blobs\/[a-z2-7]{2}\/[a-z2-7]{52}\.bin$/;

/**
 * The encoded state with its references replaced.
 *
 * Shape: a new object; `copy` is asked once for each value. What a step gave as a value stands under `inline` and is not
 * looked into. Errors: those of `copy`.
 */
export async function copyLargeValues(state: JsonValue, copy: (ref: BlobRef) => Promise<BlobRef>): Promise<JsonValue> {
  if (!isJsonObject(state)) return state;
  const copyOnce = onceEach(copy);
  const result: Record<string, JsonValue> = { ...state } as Record<string, JsonValue>;
  for (const section of SECTIONS) {
    const value = state[section];
    if (value !== undefined) result[section] = await replaceReferences(value, copyOnce);
  }
  const { task } = state;
  if (isJsonObject(task) && task["output"] !== undefined)
    result["task"] = { ...task, output: await replaceReferences(task["output"], copyOnce) };
  return result;
}

/** Asks once for each value. */
export function onceEach(copy: (ref: BlobRef) => Promise<BlobRef>): (ref: BlobRef) => Promise<BlobRef> {
  const copied = new Map<string, Promise<BlobRef>>();
  return (ref) => {
    const known = copied.get(ref.key) ?? copy(ref);
    copied.set(ref.key, known);
    return known;
  };
}

/** The value with every reference in it replaced, wherever one stands but under `inline`. Errors: those of `copy`. */
export async function replaceReferences(
  value: JsonValue,
  copy: (ref: BlobRef) => Promise<BlobRef>,
): Promise<JsonValue> {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value as readonly JsonValue[]) items.push(await replaceReferences(item, copy));
    return items;
  }
  if (!isJsonObject(value)) return value;
  const entries: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value) as [string, JsonValue][]) {
    if (key === "inline") entries.push([key, item]);
    else if (key === "blob" && isBlobRef(item)) entries.push([key, { ...(await copy(item as unknown as BlobRef)) }]);
    else entries.push([key, await replaceReferences(item, copy)]);
  }
  return Object.fromEntries(entries);
}

function isBlobRef(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && typeof value["key"] === "string" && BLOB_KEY.test(value["key"]);
}
