/**
 * Where minijinja differs from Jinja2 in what an expression means: the places, and what is written instead.
 *
 * Owns: `<` and its like compare what has an order (template-ordering.ts); `~` and filters that print write their operands as Python does; a sign `+`; `'%s' % x`; `.items()`, `.keys()`, `.values()`, `.get(…)`, `for key in map` and a list of a
 * map that is written there keep the order of the keys; `"{}".format(…)`; `int` and `float` give 0 for what is no number. Works on tokens; a rewrite wraps a whole
 * operand in brackets, so nothing around it changes its meaning.
 * Source: CONDUCTOR-YAML 1.8 and section 2, Traps.
 */
import { SHOWN_FILTERS, SHOWN_PREFIX } from "./template-shown-filters.js";
import { orderOperands } from "./template-ordering.js";
import type { Insertion, Token } from "./template-lexer.js";
import { KEYWORDS } from "./keywords.js";

const METHODS: Readonly<Record<string, string>> = {
  items: "__items",
  keys: "__keys",
  values: "__values",
  get: "__get",
  format: "__format",
  ljust: "__ljust",
  rjust: "__rjust",
  zfill: "__zfill",
  index: "__index",
  partition: "__partition",
};
const NUMBERS: Readonly<Record<string, string>> = { int: "__whole", float: "__number" };
/** Methods with arguments. */
const CALLED = new Set(["get", "format", "ljust", "rjust", "zfill", "index", "partition"]);
const OPENING = new Set(["(", "[", "{"]);
const CLOSING = new Set([")", "]", "}"]);
/** What ends an operand of `~`, as it binds less. */
const LOOSER = new Set(["+", "-", "~", "==", "!=", "<", ">", "<=", ">=", ",", ":", "="]);

/** All rewrites of the tokens of one tag, in order of their places. */
export function findRewrites(tokens: readonly Token[]): Insertion[] {
  return tokens.flatMap((_token, index) => rewritesAt(tokens, index)).sort(compareInsertions);
}

const IDENTITIES: Readonly<Record<string, string>> = { None: "none", True: "true", False: "false" };

/** A condition in Python says `x is None`; the tests of the template language are in lower case. */
export function findIdentityTests(tokens: readonly Token[]): Insertion[] {
  return tokens.flatMap(({ text, start, end, type }, index) => {
    const [before, earlier] = [tokens[index - 1]?.text, tokens[index - 2]?.text];
    const isTested = before === "is" || (before === "not" && earlier === "is");
    const test = type === "name" && isTested && Object.hasOwn(IDENTITIES, text) ? IDENTITIES[text] : undefined;
    return test === undefined ? [] : [{ at: start, until: end, text: test, isOpening: true, width: 0 }];
  });
}

function compareInsertions(left: Insertion, right: Insertion): number {
  if (left.at !== right.at) return left.at - right.at;
  if (left.isOpening !== right.isOpening) return left.isOpening ? 1 : -1;
  return left.isOpening ? right.width - left.width : left.width - right.width;
}

function rewritesAt(tokens: readonly Token[], at: number): Insertion[] {
  const { type, text } = tokens[at] as Token;
  const before = tokens[at - 1]?.text;
  if (type === "op") return rewriteOperator(tokens, at);
  if (type !== "name") return [];
  if (before === ".") return tokens[at + 1]?.text === "(" ? callFilter(tokens, at) : [];
  if (before !== "|") return [];
  if (text === "round") return callRound(tokens, at);
  if (text === "sort") return callSort(tokens, at);
  if (Object.hasOwn(SHOWN_FILTERS, text)) return showSubject(tokens, at);
  return Object.hasOwn(NUMBERS, text) ? readNumber(tokens, at) : [];
}

function rewriteOperator(tokens: readonly Token[], at: number): Insertion[] {
  const { text, start, end } = tokens[at] as Token;
  if (text === "~") return printOperands(tokens, at);
  if (text === "{") return listKeys(tokens, at);
  if (text === "%" && tokens[at - 1]?.type === "string") return formatOperands(tokens, at);
  const isSign = text === "+" && isOperandNext(tokens[at - 1]);
  return isSign ? [{ at: start, until: end, text: "", isOpening: true, width: 0 }] : orderOperands(tokens, at);
}

/** Filters that take the keys of a map. */
const KEYED = new Set(["list", "first", "last"]);

/** `for k in {'b': 1}` becomes `for k in ({'b': 1}|__keys)`, and so before a filter that takes its keys. */
function listKeys(tokens: readonly Token[], at: number): Insertion[] {
  const close = closingOf(tokens, at);
  const [from, to] = [tokens[at] as Token, tokens[close] as Token];
  if (close === at || !isTakenByKey(tokens, at, close) || !hasTextKeys(tokens.slice(at + 1, close))) return [];
  const width = to.end - from.start;
  return [
    { at: from.start, text: "(", isOpening: true, width },
    { at: to.end, text: "|__keys)", isOpening: false, width },
  ];
}

/** What may follow what a loop goes over; nothing mostly. */
const LOOP_WORDS = new Set(["", "if", "recursive"]);

/** True for what a loop goes over, and for what is listed. */
function isTakenByKey(tokens: readonly Token[], at: number, close: number): boolean {
  const [next, after] = [tokens[close + 1]?.text ?? "", tokens[close + 2]?.text ?? ""];
  if (next === "|") return KEYED.has(after);
  return tokens[0]?.text === "for" && tokens[at - 1]?.text === "in" && LOOP_WORDS.has(next);
}

/** Keys of another kind would come back as texts. */
function hasTextKeys(inner: readonly Token[]): boolean {
  let depth = 0;
  return inner.every(({ text }, at) => {
    if (OPENING.has(text)) depth += 1;
    else if (CLOSING.has(text)) depth -= 1;
    return depth > 0 || text !== ":" || inner[at - 1]?.type === "string";
  });
}

/** Python's `'%s' % x` and `'%s %s' % (x, y)`. */
function formatOperands(tokens: readonly Token[], at: number): Insertion[] {
  const [pattern, sign] = [tokens[at - 1] as Token, tokens[at] as Token];
  const last = factorEnd(tokens, at + 1);
  const to = tokens[last];
  if (to === undefined || last <= at) return [];
  const inner = tokens.slice(at + 2, last);
  const isTuple =
    tokens[at + 1]?.text === "(" && closingOf(tokens, at + 1) === last && inner.some(({ text }) => text === ",");
  const width = to.end - pattern.start;
  return [
    { at: pattern.start, text: "(", isOpening: true, width },
    { at: sign.start, until: sign.end, text: isTuple ? "|format" : "|format(", isOpening: false, width: 0 },
    { at: to.end, text: isTuple ? ")" : "))", isOpening: false, width },
  ];
}

const FACTORS = new Set(["*", "/", "//", "%", "**"]);

/** The last token of what stands between two operators. */
function factorEnd(tokens: readonly Token[], from: number): number {
  const end = operandEnd(tokens, from);
  let depth = 0;
  for (let at = from; at <= end; at += 1) {
    const { text } = tokens[at] as Token;
    if (OPENING.has(text)) depth += 1;
    else if (CLOSING.has(text)) depth -= 1;
    else if (depth === 0 && FACTORS.has(text)) return at - 1;
  }
  return end;
}

/** `x|join(…)` becomes `([x] ~ '')|__shown_join(…)`: the filter reads how minijinja writes the value. */
function showSubject(tokens: readonly Token[], at: number): Insertion[] {
  const [bar, token] = [tokens[at - 1] as Token, tokens[at] as Token];
  const first = subjectStart(tokens, at - 1);
  const from = tokens[first];
  if (from === undefined || isOfBlock(tokens)) return [];
  const width = bar.start - from.start;
  return [
    { at: from.start, text: "([", isOpening: true, width },
    { at: bar.start, text: "] ~ '')", isOpening: false, width },
    { at: token.start, until: token.end, text: SHOWN_PREFIX + token.text, isOpening: true, width: 0 },
  ];
}

/** Filters of `{% filter … %}` and `{% set x | … %}` stand after a text that is no token. */
function isOfBlock(tokens: readonly Token[]): boolean {
  const keyword = tokens[0]?.text;
  return keyword === "filter" || (keyword === "set" && !tokens.some(({ text }) => text === "="));
}

/** The first token of what a filter is applied to: what binds closer, filters before it and a sign. */
function subjectStart(tokens: readonly Token[], bar: number): number {
  let first = primaryStart(tokens, bar - 1);
  while (tokens[first - 1]?.text === "|") first = primaryStart(tokens, first - 2);
  return tokens[first - 1]?.text === "-" && isOperandNext(tokens[first - 2]) ? first - 1 : first;
}

/** Both operands of a `~`, but the left one of a row only once. */
function printOperands(tokens: readonly Token[], at: number): Insertion[] {
  const first = operandStart(tokens, at - 1);
  const right = print(tokens, at + 1, operandEnd(tokens, at + 1));
  return tokens[first - 1]?.text === "~" ? right : [...print(tokens, first, at - 1), ...right];
}

function print(tokens: readonly Token[], first: number, last: number): Insertion[] {
  const [from, to] = [tokens[first], tokens[last]];
  if (from === undefined || to === undefined || first > last) return [];
  const width = to.end - from.start;
  return [
    { at: from.start, text: "(([", isOpening: true, width },
    {
      at: to.end,
      text: `] ~ '')|${SHOWN_PREFIX}string(${hasOpenIf(tokens.slice(first, last + 1))}))`,
      isOpening: false,
      width,
    },
  ];
}

/** An `if` without `else` may give nothing at all. */
function hasOpenIf(tokens: readonly Token[]): boolean {
  const count = (word: string) => tokens.filter(({ type, text }) => type === "name" && text === word).length;
  return count("if") > count("else");
}

function operandStart(tokens: readonly Token[], from: number): number {
  let depth = 0;
  let at = from;
  for (; at >= 0; at -= 1) {
    const { text } = tokens[at] as Token;
    if (CLOSING.has(text)) depth += 1;
    else if (OPENING.has(text) && depth === 0) break;
    else if (OPENING.has(text)) depth -= 1;
    else if (depth === 0 && isLooser(tokens, at)) break;
  }
  return at + 1;
}

function operandEnd(tokens: readonly Token[], from: number): number {
  let depth = 0;
  let at = from;
  for (; at < tokens.length; at += 1) {
    const { text } = tokens[at] as Token;
    if (OPENING.has(text)) depth += 1;
    else if (CLOSING.has(text) && depth === 0) break;
    else if (CLOSING.has(text)) depth -= 1;
    else if (depth === 0 && at > from && isLooser(tokens, at)) break;
  }
  return at - 1;
}

function isLooser(tokens: readonly Token[], at: number): boolean {
  const { type, text } = tokens[at] as Token;
  const before = tokens[at - 1]?.text;
  if (type === "name") return LOOSE_WORDS.has(text) && before !== "." && before !== "|";
  const isSign = text === "+" || text === "-";
  return type === "op" && LOOSER.has(text) && !(isSign && isOperandNext(tokens[at - 1]));
}

/** A sign at the start of an operand belongs to it. */
function isOperandNext(before: Token | undefined): boolean {
  if (before === undefined) return true;
  return before.type === "op" ? !CLOSING.has(before.text) : before.type === "name" && LOOSE_WORDS.has(before.text);
}

const LOOSE_WORDS = new Set([...KEYWORDS].filter((word) => !/^(true|false|none|null)$/i.test(word)));

/** `x.items()` becomes `(x|__items)`. */
function callFilter(tokens: readonly Token[], at: number): Insertion[] {
  const name = (tokens[at] as Token).text;
  const filter = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  const isPlain = tokens[at + 2]?.text === ")";
  const dot = tokens[at - 1] as Token;
  if (filter === undefined || isPlain === CALLED.has(name)) return [];
  const first = primaryStart(tokens, at - 2);
  const close = closingOf(tokens, at + 1);
  const [from, to] = [tokens[first], tokens[close]];
  if (from === undefined || to === undefined) return [];
  const width = to.end - from.start;
  return [
    { at: from.start, text: "(", isOpening: true, width },
    { at: dot.start, until: (tokens[at] as Token).end, text: `|${filter}`, isOpening: false, width: 0 },
    { at: to.end, text: ")", isOpening: false, width },
  ];
}

/** The first token of the name, text, call or bracket that ends here. */
function primaryStart(tokens: readonly Token[], from: number): number {
  let at = from;
  for (;;) {
    if (CLOSING.has(tokens[at]?.text ?? "")) at = openingOf(tokens, at);
    if (tokens[at - 1]?.text === ".") at -= 2;
    else if (isSuffix(tokens, at)) at -= 1;
    else return at;
  }
}

/** A call or an index belongs to what stands before it. */
function isSuffix(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const { text } = tokens[at] ?? { text: "" };
  if (before === undefined || (text !== "(" && text !== "[")) return false;
  return before.type === "name" ? !KEYWORDS.has(before.text) : before.type === "string" || CLOSING.has(before.text);
}

function openingOf(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at >= 0; at -= 1) {
    if (CLOSING.has(tokens[at]?.text ?? "")) depth += 1;
    if (OPENING.has(tokens[at]?.text ?? "")) depth -= 1;
    if (depth === 0) return at;
  }
  return from;
}

function closingOf(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    if (OPENING.has(tokens[at]?.text ?? "")) depth += 1;
    if (CLOSING.has(tokens[at]?.text ?? "")) depth -= 1;
    if (depth === 0) return at;
  }
  return from;
}

/**
 * `x|round(0, 'ceil')` becomes `x|__round(0, 'ceil')|float`; without a method, `x|round(1)` becomes `x|__even(1)|round(1)`,
 * so that halves go to even numbers and whole numbers stay whole.
 */
function callRound(tokens: readonly Token[], at: number): Insertion[] {
  const token = tokens[at] as Token;
  const close = tokens[at + 1]?.text === "(" ? closingOf(tokens, at + 1) : at;
  const call = tokens.slice(at + 1, close + 1);
  if (call.some(({ type, text }) => type === "string" || text === "method"))
    return [
      { at: token.start, until: token.end, text: "__round", isOpening: true, width: 0 },
      { at: (tokens[close] as Token).end, text: "|float", isOpening: false, width: 0 },
    ];
  const isFixed = call.every(({ type, text }) => type !== "name" || text === "precision");
  const text = call.map((part) => part.text).join("");
  return isFixed ? [{ at: token.start, text: `__even${text}|`, isOpening: true, width: 0 }] : [];
}

/** `x|sort(attribute='a,b')` goes by several parts. */
function callSort(tokens: readonly Token[], at: number): Insertion[] {
  const { start, end } = tokens[at] as Token;
  const call = tokens.slice(at + 1, tokens[at + 1]?.text === "(" ? closingOf(tokens, at + 1) : at + 1);
  const isMany = call.some(({ type, text }) => type === "string" && text.includes(","));
  return isMany ? [{ at: start, until: end, text: "__sort", isOpening: true, width: 0 }] : [];
}

/** `x|int(5)` becomes `x|__whole(5)|int`: a filter of ours gives what the other one can read. */
function readNumber(tokens: readonly Token[], at: number): Insertion[] {
  const token = tokens[at] as Token;
  const end = tokens[at + 1]?.text === "(" ? (tokens[closingOf(tokens, at + 1)] as Token).end : token.end;
  return [
    { at: token.start, until: token.end, text: NUMBERS[token.text] ?? token.text, isOpening: true, width: 0 },
    { at: end, text: `|${token.text}`, isOpening: false, width: 0 },
  ];
}
