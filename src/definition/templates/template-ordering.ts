/**
 * `<`, `>`, `<=` and `>=` as in Python: numbers with numbers, texts with texts, lists with lists; all else is an error.
 *
 * minijinja orders any two values by their kind, so `8 > "10"` would go one way without a word. `a < b` becomes
 * `((a)|__less((b)))`; the operands are what stands between two words, commas or brackets, signs and sums included.
 */
import type { JsonValue } from "../../base/json.js";
import { KEYWORDS } from "./keywords.js";
import type { FilterCall } from "./filter-call.js";
import { formatPython } from "./python-text.js";
import type { Insertion, Token } from "./template-lexer.js";

const FILTER_OF: Readonly<Record<string, string>> = {
  "<": "__less",
  ">": "__more",
  "<=": "__at_most",
  ">=": "__at_least",
};
const OPENING = new Set(["(", "[", "{"]);
const CLOSING = new Set([")", "]", "}"]);
const PARTING = new Set([...Object.keys(FILTER_OF), "==", "!=", ",", ":", "="]);
/** Values and tests that are words, too, end no operand. */
const WORDS = new Set(["elif", ...[...KEYWORDS].filter((word) => !/^(true|false|none|null)$/i.test(word))]);

export const ORDER_FILTERS: Readonly<Record<string, FilterCall>> = {
  __less: (left, [right]) => compare(left, right) < 0,
  __more: (left, [right]) => compare(left, right) > 0,
  __at_most: (left, [right]) => compare(left, right) <= 0,
  __at_least: (left, [right]) => compare(left, right) >= 0,
};

/** The rewrite of the comparison at an index; empty where there is none. */
export function orderOperands(tokens: readonly Token[], at: number): Insertion[] {
  const sign = tokens[at] as Token;
  const filter = Object.hasOwn(FILTER_OF, sign.text) ? FILTER_OF[sign.text] : undefined;
  if (filter === undefined) return [];
  const [from, to] = [tokens[edge(tokens, at, -1)], tokens[edge(tokens, at, 1)]];
  if (from === undefined || to === undefined || from.start >= sign.start || to.end <= sign.end) return [];
  const width = to.end - from.start;
  return [
    { at: from.start, text: "((", isOpening: true, width },
    { at: sign.start, until: sign.end, text: `)|${filter}((`, isOpening: false, width: 0 },
    { at: to.end, text: ")))", isOpening: false, width },
  ];
}

/** The last token of the operand on one side of a comparison. */
function edge(tokens: readonly Token[], from: number, step: 1 | -1): number {
  const [inward, outward] = step === 1 ? [OPENING, CLOSING] : [CLOSING, OPENING];
  let depth = 0;
  let at = from + step;
  for (; at >= 0 && at < tokens.length; at += step) {
    const { type, text } = tokens[at] as Token;
    if (inward.has(text)) depth += 1;
    else if (outward.has(text) && depth === 0) break;
    else if (outward.has(text)) depth -= 1;
    else if (depth === 0 && (type === "op" ? PARTING.has(text) : isWord(tokens, at))) break;
  }
  return at - step;
}

function isWord(tokens: readonly Token[], at: number): boolean {
  const { type, text } = tokens[at] as Token;
  const before = tokens[at - 1]?.text;
  return type === "name" && WORDS.has(text) && before !== "." && before !== "|";
}

function compare(left: JsonValue | undefined, right: JsonValue | undefined): number {
  const [one, other] = [numberOf(left), numberOf(right)];
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one === "string" && typeof other === "string") return Buffer.compare(Buffer.from(one), Buffer.from(other));
  if (Array.isArray(one) && Array.isArray(other)) return compareLists(one, other);
  throw new Error(`${nameOf(left)} and ${nameOf(right)} cannot be compared: neither is the larger`);
}

function compareLists(left: readonly JsonValue[], right: readonly JsonValue[]): number {
  const at = left.findIndex((item, index) => index < right.length && !isSame(item, right[index]));
  return at < 0 ? left.length - right.length : compare(left[at], right[at]);
}

const isSame = (left: JsonValue, right: JsonValue | undefined) =>
  JSON.stringify(numberOf(left)) === JSON.stringify(numberOf(right));

/** A truth value is a number in Python. */
const numberOf = (value: JsonValue | undefined) => (typeof value === "boolean" ? Number(value) : value);

function nameOf(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  const text = formatPython(typeof value === "string" ? [value] : value);
  const shown = typeof value === "string" ? text.slice(1, -1) : text;
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}
