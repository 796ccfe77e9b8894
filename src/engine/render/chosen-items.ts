/**
 * The items of a for_each: chosen once, when it is entered, and read from there ever after.
 *
 * Without `key_by` an item is known by its index. With it, by the value at that path in the item, as text; an item that has
 * none there is known by its index, and a key that came before gets a number behind it (`key#2`): nothing is lost. A key that
 * is too long for an identity is known by its beginning and a digest of the whole of it.
 */
import { sha256Hex } from "../../base/digest.js";
import { errorCodeOf, messageOf } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import { parsePlainValue } from "../../base/plain-value.js";
import { createValueFailure, type TemplateScope } from "../../definition/templates/templates.js";
import type { ForEachScope } from "../../definition/model/workflow.js";
import type { Choice } from "../model/choice.js";
import { describeScope } from "./describe-scope.js";
import type { EventOf, StepError } from "../model/events.js";

type Items = Pick<EventOf<"scope_entered">, "items" | "count" | "keys" | "error">;

/** What a for_each is entered with: its items and their keys, or why there are none. */
export function chooseItems(choice: Choice, path: string, node: ForEachScope): Items {
  try {
    const scope = describeScope(choice, path);
    const items = readItems(choice.context.templates.renderValue(node.source, scope), node, scope);
    const { keyBy } = node;
    const keys = keyBy === undefined ? {} : { keys: { inline: listKeys(items, keyBy) } };
    return { items: { inline: items }, count: items.length, ...keys };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== "TEMPLATE_FAILED" && code !== "ITEMS_INVALID") throw error;
    const fault: StepError = { code, message: messageOf(error), retryable: false };
    return { error: fault };
  }
}

/** A text is taken for JSON. Source: CONDUCTOR-YAML 1.6. */
function readItems(value: JsonValue, { name, source }: ForEachScope, scope: TemplateScope): readonly JsonValue[] {
  const refuse = (message: string) =>
    createValueFailure(typeof source === "string" ? source : "", scope, { message, code: "ITEMS_INVALID" });
  const items = typeof value === "string" ? (parseJson(value, refuse) ?? value) : value;
  if (!Array.isArray(items)) {
    const from = typeof source === "string" ? ` (${source})` : "";
    throw refuse(`the source of ${name}${from} is no list but ${describeValue(items)}`);
  }
  const { forEachItemsMax: countMax } = LIMITS;
  if (items.length > countMax) throw refuse(`${name} has ${items.length} items; at most ${countMax} are done`);
  return items as readonly JsonValue[];
}

function parseJson(text: string, refuse: (message: string) => Error): JsonValue | undefined {
  try {
    return parsePlainValue(text);
  } catch (error) {
    if (errorCodeOf(error) !== undefined) throw refuse(`the source cannot be taken: ${messageOf(error)}`);
    return undefined;
  }
}

function describeValue(value: JsonValue): string {
  if (value === null) return "null";
  const text = JSON.stringify(value);
  const kind = isJsonObject(value) ? "a map" : `a ${typeof value === "string" ? "text" : typeof value}`;
  return `${kind}: ${text.length > 100 ? `${text.slice(0, 100)}…` : text}`;
}

function listKeys(items: readonly JsonValue[], keyBy: string): readonly string[] {
  const keys = items.map((item, index) => shorten(readKey(item, keyBy) ?? String(index)));
  // Keys that are there keep what they are, so numbered ones avoid them.
  const given = new Set(keys);
  const taken = new Set<string>();
  return keys.map((key) => {
    let unique = key;
    for (let at = 2; taken.has(unique) || (unique !== key && given.has(unique)); at += 1) unique = `${key}#${at}`;
    taken.add(unique);
    return unique;
  });
}

/** Of the digest and of a number behind the key. */
const ROOM_CHARS = 40;

function shorten(key: string): string {
  if (key.length <= LIMITS.itemKeyCharsMax) return key;
  const beginning = key.slice(0, LIMITS.itemKeyCharsMax - ROOM_CHARS).replace(/[\uD800-\uDBFF]$/, "");
  return `${beginning}…${sha256Hex(key).slice(0, 16)}`;
}

function readKey(item: JsonValue, keyBy: string): string | undefined {
  let at: JsonValue | undefined = item;
  for (const part of keyBy.split(".")) {
    if (!isJsonObject(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  if (at === undefined || at === null) return undefined;
  return typeof at === "object" ? canonicalJson(at) : String(at);
}
