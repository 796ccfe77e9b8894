/**
 * Reads how minijinja itself writes a value: the only way to learn which whole numbers are floats, because 1.0 comes out
 * of it as 1.
 *
 * A value is written as a list of one (`[value] ~ ''`), so that texts stand in quotes: `[1.0]`, `[{"a": none}]`.
 */
import type { KeyOrders } from "./value-conversion.js";

/** A whole number that prints as `1.0`. */
export class WholeFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A value to print: JSON in which floats are known, and whole numbers of any size. */
export type Shown = null | boolean | number | bigint | string | WholeFloat | readonly Shown[] | ShownMap;
export interface ShownMap {
  readonly [key: string]: Shown | undefined;
}

interface Cursor {
  readonly text: string;
  readonly orders: KeyOrders;
  at: number;
}

/** The value in a list of one; `undefined` for one that is undefined. Maps have their keys in the order they came in. */
export function readNative(text: string, orders: KeyOrders): Shown | undefined {
  const cursor: Cursor = { text, orders, at: 1 };
  return readValue(cursor);
}

function readValue(cursor: Cursor): Shown | undefined {
  const sign = cursor.text[cursor.at];
  if (sign === '"') return readText(cursor);
  if (sign === "[") return readList(cursor);
  return sign === "{" ? readMap(cursor) : readWord(cursor);
}

function readList(cursor: Cursor): Shown[] {
  const items: Shown[] = [];
  cursor.at += 1;
  while (!isClosed(cursor, "]")) items.push(readValue(cursor) ?? null);
  return items;
}

function readMap(cursor: Cursor): ShownMap {
  const items = new Map<string, Shown>();
  cursor.at += 1;
  while (!isClosed(cursor, "}")) {
    const key = readValue(cursor);
    cursor.at += ": ".length;
    items.set(typeof key === "string" ? key : JSON.stringify(key), readValue(cursor) ?? null);
  }
  return Object.fromEntries(cursor.orders.restore([...items.keys()]).map((key) => [key, items.get(key)]));
}

/** Steps over the end, or over what parts two items. */
function isClosed(cursor: Cursor, end: string): boolean {
  const { text, at } = cursor;
  if (text[at] === end || at >= text.length) {
    cursor.at += 1;
    return true;
  }
  if (text.startsWith(", ", at)) cursor.at += 2;
  return false;
}

const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|([^]))/g;
const SIGNS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0" };

function readText(cursor: Cursor): string {
  const { text, at } = cursor;
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  cursor.at = end + 1;
  return text
    .slice(at + 1, end)
    .replace(ESCAPE, (_whole, code: string | undefined, sign: string) =>
      code === undefined ? (SIGNS[sign] ?? sign) : String.fromCodePoint(Number.parseInt(code, 16)),
    );
}

const WORDS: ReadonlyMap<string, Shown | undefined> = new Map<string, Shown | undefined>([
  ["none", null],
  ["true", true],
  ["false", false],
  ["undefined", undefined],
  ["inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["NaN", Number.NaN],
]);

function readWord(cursor: Cursor): Shown | undefined {
  const end = cursor.text.slice(cursor.at).search(/, |[\]}]|: /);
  const word = cursor.text.slice(cursor.at, end < 0 ? undefined : cursor.at + end);
  cursor.at += Math.max(word.length, 1);
  if (WORDS.has(word)) return WORDS.get(word);
  if (/^-?\d+$/.test(word)) return Number.isSafeInteger(Number(word)) ? Number(word) : BigInt(word);
  const number = word === "" ? Number.NaN : Number(word);
  if (Number.isNaN(number)) return word;
  return Number.isInteger(number) ? new WholeFloat(number) : number;
}
