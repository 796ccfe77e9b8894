/** Reads items of a for_each by the names they go by; see chosen-items.ts for what those are. */
import type { JsonValue } from "../../base/json.js";
import type { ForEachScope } from "../../definition/model/workflow.js";
import { loadValue, type Choice } from "../model/choice.js";
import { itemKeyOf, itemNameOf } from "../model/identity.js";
import type { ScopeData } from "../model/state.js";

export type ForEachData = Extract<ScopeData, { scope: "for_each" }>;

export function keyAt(choice: Choice, { keys }: ForEachData, index: number): string {
  return keys === undefined ? String(index) : (listOf(choice, keys)[index] ?? String(index));
}

/** How the for_each calls its item of an index. */
export function itemNameAt(choice: Choice, data: ForEachData, { node, index }: ItemPlace): string {
  return itemNameOf(node.children[0].name, keyAt(choice, data, index));
}

interface ItemPlace {
  readonly node: ForEachScope;
  readonly index: number;
}

export interface ItemView {
  readonly value: JsonValue;
  readonly index: number;
  /** Only where items have keys. */
  readonly key?: string;
}

/** The item that a name stands for; `undefined` when it is none of these. */
export function findItem(choice: Choice, data: ForEachData, name: string): ItemView | undefined {
  const key = itemKeyOf(name);
  if (key === undefined) return undefined;
  const index = data.keys === undefined ? Number(key) : indexOfKey(listOf(choice, data.keys), key);
  if (index === undefined) return undefined;
  const items = loadValue(choice, data.items);
  const value = Array.isArray(items) ? (items as readonly JsonValue[])[index] : undefined;
  return { value: value ?? null, index, ...(data.keys === undefined ? {} : { key }) };
}

const positions = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

/** Units: O(keys) once per list, then O(1). */
function indexOfKey(keys: readonly string[], key: string): number | undefined {
  const known = positions.get(keys) ?? new Map(keys.map((one, at) => [one, at]));
  positions.set(keys, known);
  return known.get(key);
}

function listOf(choice: Choice, ref: NonNullable<ForEachData["keys"]>): readonly string[] {
  const value = loadValue(choice, ref);
  return Array.isArray(value) ? (value as readonly string[]) : [];
}
