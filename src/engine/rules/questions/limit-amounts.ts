/**
 * What a person may add to a limit, as words: `max_iterations=20`, several of them, or a bare number for the limit that is
 * reached. Names are those of the workflow file and those of the engine, each in its own unit.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.js";
import type { LimitName } from "../../model/question.js";
import { findNearest } from "../../../definition/faults/nearest.js";

interface LimitKey {
  readonly name: LimitName;
  /** How many of the engine's units one of these is. */
  readonly factor: number;
}

const LIMIT_KEYS: Readonly<Record<string, LimitKey>> = {
  max_iterations: { name: "iterations", factor: 1 },
  iterations: { name: "iterations", factor: 1 },
  timeout_seconds: { name: "seconds", factor: 1 },
  seconds: { name: "seconds", factor: 1 },
  max_tokens_total: { name: "tokens", factor: 1 },
  tokens: { name: "tokens", factor: 1 },
  max_calls: { name: "calls", factor: 1 },
  calls: { name: "calls", factor: 1 },
  budget_usd: { name: "cost_micro_usd", factor: 1_000_000 },
};
const NAMES: ReadonlySet<string> = new Set(Object.values(LIMIT_KEYS).map(({ name }) => name));

/** What the workflow file calls a limit. */
export function keyOfLimit(name: LimitName): string {
  return Object.entries(LIMIT_KEYS).find(([, known]) => known.name === name)?.[0] ?? name;
}

/** What extends a reached limit by as much again, with what readers are told of it; by 10 where that names no amount. */
export function exampleAmount(reached: LimitName, facts: JsonObject | undefined): string {
  const key = keyOfLimit(reached);
  const { factor } = LIMIT_KEYS[key] ?? { factor: 1 };
  const max = facts?.["max"];
  return `${key}=${typeof max === "number" && max > 0 ? max / factor : 10}`;
}

export type ReadAmounts = { readonly amounts: JsonObject } | { readonly fault: string };

/** Shape: amounts by the engine's name of the limit. */
export function readAmounts(text: string, reached: LimitName): ReadAmounts {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) return { fault: `say how much more, e.g. ${keyOfLimit(reached)}=10` };
  const amounts: Record<string, JsonValue> = {};
  for (const word of words) {
    const [key = "", amount] = word.includes("=") ? word.split(/=(.*)/s) : [keyOfLimit(reached), word];
    const read = readAmount(key, amount ?? "");
    if ("fault" in read) return read;
    Object.assign(amounts, read.amounts);
  }
  return { amounts };
}

/** One of them. */
export function readAmount(key: string, text: string): ReadAmounts {
  const known = Object.hasOwn(LIMIT_KEYS, key) ? LIMIT_KEYS[key] : undefined;
  if (known === undefined) {
    const nearest = findNearest(key, Object.keys(LIMIT_KEYS));
    const help = nearest === undefined ? `there are ${Object.keys(LIMIT_KEYS).join(", ")}` : `did you mean ${nearest}?`;
    return { fault: `there is no limit ${key}; ${help}` };
  }
  const amount = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isFinite(amount) || amount <= 0)
    return { fault: `${key} takes a number above 0 that is added to the limit, not ${JSON.stringify(text)}` };
  return { amounts: { [known.name]: Math.round(amount * known.factor) } };
}

/** Why a value adds nothing to a limit; `undefined` when it does. */
export function findAmountFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return "it takes amounts by name of the limit";
  for (const [name, amount] of Object.entries(value)) {
    if (!NAMES.has(name)) return `there is no limit ${name}; there are ${[...NAMES].join(", ")}`;
    if (typeof amount !== "number" || amount <= 0) return `${name} takes a number above 0`;
  }
  return undefined;
}
