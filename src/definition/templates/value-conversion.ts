/**
 * Values on their way back from minijinja: `Map` objects become plain ones, in the key order of the value they came from.
 */
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { scanTemplate, type Token } from "./template-lexer.js";

/** Maps looked at for their key order; more than that keep the sorted order. */
const ORDERS_MAX = 10_000;

type Orders = Map<string, readonly string[]>;

/** Remembers the key orders of what was handed over or written in the template, by the set of keys; built only when a map comes back. */
export class KeyOrders {
  readonly #context: Record<string, unknown>;
  readonly #template: string;
  #orders: Orders | undefined;

  /** Shape: `template` is the text with its tags; empty where nobody knows. */
  constructor(context: Record<string, unknown>, template = "") {
    this.#context = context;
    this.#template = template;
  }

  /** The keys in their original order; as given when no value handed over had the same keys. */
  restore(keys: readonly string[]): readonly string[] {
    this.#orders ??= readOrders(this.#context, readWritten(this.#template));
    return this.#orders.get(signatureOf(keys)) ?? keys;
  }
}

function signatureOf(keys: readonly string[]): string {
  return JSON.stringify([...keys].sort());
}

/** The orders of maps that are written in a template: `{'b': 1, 'a': 2}` and `dict(b=1, a=2)`. */
function readWritten(template: string): Orders {
  const orders: Orders = new Map();
  if (!template.includes("{{") && !template.includes("{%")) return orders;
  for (const segment of scanTemplate(template)) {
    if (!("tokens" in segment)) continue;
    const open: string[][] = [];
    segment.tokens.forEach((token, at, all) => {
      const text = token.type === "op" ? token.text : "";
      if ("([{".includes(text) && text !== "") open.push([]);
      else if (")]}".includes(text) && text !== "") addOrder(orders, open.pop() ?? []);
      else if (text === ":" || text === "=") open.at(-1)?.push(keyOf(all[at - 1]));
    });
  }
  return orders;
}

/** The text of a key; a slice or a name that stands for a key gives one that no map has. */
function keyOf(token: Token | undefined): string {
  if (token?.type === "string") return token.text.slice(1, -1);
  return token?.text ?? "";
}

function addOrder(orders: Orders, keys: readonly string[]): void {
  const signature = signatureOf(keys);
  if (keys.length > 1 && !orders.has(signature)) orders.set(signature, keys);
}

function readOrders(context: Record<string, unknown>, orders: Orders): Orders {
  const open: unknown[] = Object.values(context);
  for (let next = open.pop(), count = 0; open.length > 0 || next !== undefined; next = open.pop(), count += 1) {
    if (count > ORDERS_MAX) break;
    if (typeof next !== "object" || next === null) continue;
    open.push(...Object.values(next));
    if (Array.isArray(next)) continue;
    const keys = Object.keys(next);
    addOrder(orders, keys);
  }
  return orders;
}

/**
 * Turns what minijinja returned into JSON.
 *
 * Errors: VALUE_UNSUPPORTED on numbers JSON has not, on the key `__proto__` and on objects of minijinja.
 */
export function plainOf(value: unknown, orders: KeyOrders): JsonValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return plainNumberOf(value);
  if (Array.isArray(value)) return value.map((item: unknown) => plainOf(item, orders));
  if (value instanceof Map) return plainMapOf(value, orders);
  throw new SplashdownError("VALUE_UNSUPPORTED", `${typeof value} is not a JSON value`);
}

/** Filters of minijinja give whole numbers as `bigint`. */
function plainNumberOf(value: number | bigint): number {
  const isFit = typeof value === "bigint" ? Number.isSafeInteger(Number(value)) : Number.isFinite(value);
  if (isFit) return Number(value);
  throw new SplashdownError("VALUE_UNSUPPORTED", `${typeof value} ${value} is not a JSON value`);
}

function plainMapOf(map: ReadonlyMap<unknown, unknown>, orders: KeyOrders): JsonValue {
  const items = new Map([...map].map(([key, item]) => [String(key), item]));
  const result: Record<string, JsonValue> = {};
  for (const key of orders.restore([...items.keys()])) {
    if (key === "__proto__")
      throw new SplashdownError("VALUE_UNSUPPORTED", "a map with the key __proto__ is not allowed");
    result[key] = plainOf(items.get(key), orders);
  }
  return result;
}
