/**
 * Splits Jinja text into text, outputs, blocks and comments, and expressions into tokens.
 *
 * Owns: where a tag begins and ends. It judges no grammar: that is minijinja's (template-engine.ts).
 * Units: offsets in UTF-16 units from the start of the template.
 */

/** Text put in at an offset of the template; at one offset the wider operand opens first and closes last. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Text up to here is left out. */
  readonly until?: number;
  readonly isOpening: boolean;
  readonly width: number;
}

export interface Token {
  readonly type: "name" | "number" | "string" | "op";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** `verbatim`: comments and raw blocks, which hold no expression. */
export type Segment = PlainSegment | TagSegment<"output"> | TagSegment<"block">;
interface PlainSegment {
  readonly kind: "text" | "verbatim";
  readonly start: number;
  readonly end: number;
}
interface TagSegment<Kind> {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
  /** White space control: `-` or `+` or nothing, at both ends. */
  readonly open: string;
  readonly close: string;
  readonly tokens: readonly Token[];
}

/** A fault of the text itself, with its place; turned into a coded error by templates.ts. */
export class TemplateSyntaxFault extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const NAME = /[\p{ID_Start}_][\p{ID_Continue}]*/uy;
const NUMBER = /0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const OPERATOR = /\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>=|.,:()[\]{}]/y;
const SPACE = /\s+/y;
const RAW_END = /\{%[-+]?\s*endraw\s*[-+]?%\}/g;

/** What people coming from other languages write, and what it is called here. */
const FOREIGN: readonly (readonly [string, string])[] = [
  ["===", "write == instead of ==="],
  ["!==", "write != instead of !=="],
  ["&&", "write and instead of &&"],
  ["||", "write or instead of ||"],
  ["!", "write not instead of !"],
  ["?", "write `a if condition else b` instead of ?:"],
];

interface Cursor {
  readonly text: string;
  at: number;
}

export interface Word {
  readonly kind: "filter" | "test";
  readonly token: Token;
}

/** The names of filters and tests that are used. */
export function listWords(segments: readonly Segment[]): readonly Word[] {
  return segments.flatMap((segment) =>
    "tokens" in segment
      ? segment.tokens.flatMap((token, index, all) => readWord(token, all.slice(0, index)) ?? [])
      : [],
  );
}

function readWord(token: Token, before: readonly Token[]): Word | undefined {
  const [earlier, last] = [before.at(-2)?.text, before.at(-1)];
  if (token.type !== "name" || last === undefined || last.type === "string") return undefined;
  if (last.text === "|") return { kind: "filter", token };
  const isTest = (last.text === "is" && token.text !== "not") || (last.text === "not" && earlier === "is");
  return isTest ? { kind: "test", token } : undefined;
}

/** Splits a template. Errors: TemplateSyntaxFault on a tag without an end or a foreign character. */
export function scanTemplate(text: string): Segment[] {
  const segments: Segment[] = [];
  const cursor: Cursor = { text, at: 0 };
  while (cursor.at < text.length) {
    const start = findTag(text, cursor.at);
    if (start > cursor.at) segments.push({ kind: "text", start: cursor.at, end: start });
    cursor.at = start;
    if (start < text.length) segments.push(scanTag(cursor));
  }
  return segments;
}

function findTag(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at >= 0; at = text.indexOf("{", at + 1)) {
    const next = text[at + 1];
    if (next === "{" || next === "%" || next === "#") return at;
  }
  return text.length;
}

function scanTag(cursor: Cursor): Segment {
  const { text, at: start } = cursor;
  if (text[start + 1] === "#") {
    const end = text.indexOf("#}", start + 2);
    if (end < 0) throw new TemplateSyntaxFault("a comment {# has no end #}", start);
    cursor.at = end + 2;
    return { kind: "verbatim", start, end: end + 2 };
  }
  const isOutput = text[start + 1] === "{";
  const control = text[start + 2];
  const open = control === "-" || (control === "+" && !isOutput) ? control : "";
  cursor.at = start + 2 + open.length;
  const { tokens, close } = scanTagTokens(cursor, isOutput ? "}}" : "%}", start);
  if (!isOutput && tokens.length === 1 && tokens[0]?.text === "raw") return scanRaw(cursor, start);
  const rest = { start, end: cursor.at, open, close, tokens };
  return isOutput ? { kind: "output", ...rest } : { kind: "block", ...rest };
}

function scanRaw(cursor: Cursor, start: number): Segment {
  RAW_END.lastIndex = cursor.at;
  const match = RAW_END.exec(cursor.text);
  if (match === null) throw new TemplateSyntaxFault("a block {% raw %} has no {% endraw %}", start);
  cursor.at = match.index + match[0].length;
  return { kind: "verbatim", start, end: cursor.at };
}

function scanTagTokens(cursor: Cursor, end: string, start: number): { tokens: Token[]; close: string } {
  const tokens: Token[] = [];
  let depth = 0;
  for (;;) {
    skipSpace(cursor);
    if (cursor.at >= cursor.text.length) throw new TemplateSyntaxFault(`a tag has no end ${end}`, start);
    const close = depth === 0 ? closeAt(cursor, end) : undefined;
    if (close !== undefined) return { tokens, close };
    const token = scanToken(cursor);
    if ("([{".includes(token.text)) depth += 1;
    if (")]}".includes(token.text)) depth -= 1;
    tokens.push(token);
  }
}

function closeAt(cursor: Cursor, end: string): string | undefined {
  const control = cursor.text[cursor.at];
  const close = control === "-" || control === "+" ? control : "";
  if (!cursor.text.startsWith(end, cursor.at + close.length)) return undefined;
  cursor.at += close.length + end.length;
  return close;
}

/** The tokens of a plain expression. Errors: TemplateSyntaxFault. */
export function scanExpression(text: string): Token[] {
  const tokens: Token[] = [];
  const cursor: Cursor = { text, at: 0 };
  for (skipSpace(cursor); cursor.at < text.length; skipSpace(cursor)) tokens.push(scanToken(cursor));
  return tokens;
}

function skipSpace(cursor: Cursor): void {
  SPACE.lastIndex = cursor.at;
  const match = SPACE.exec(cursor.text);
  if (match !== null) cursor.at += match[0].length;
}

function scanToken(cursor: Cursor): Token {
  const start = cursor.at;
  const quote = cursor.text[start];
  if (quote === '"' || quote === "'") return scanString(cursor, quote);
  for (const [type, pattern] of [
    ["name", NAME],
    ["number", NUMBER],
  ] as const) {
    const text = matchAt(pattern, cursor);
    if (text !== undefined) return { type, text, start, end: cursor.at };
  }
  const foreign = FOREIGN.find(([sign]) => cursor.text.startsWith(sign, start) && !cursor.text.startsWith("!=", start));
  if (foreign !== undefined) throw new TemplateSyntaxFault(foreign[1], start);
  const text = matchAt(OPERATOR, cursor);
  if (text === undefined) throw new TemplateSyntaxFault(`unexpected character ${JSON.stringify(quote)}`, start);
  return { type: "op", text, start, end: cursor.at };
}

function matchAt(pattern: RegExp, cursor: Cursor): string | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text);
  if (match === null) return undefined;
  cursor.at += match[0].length;
  return match[0];
}

function scanString(cursor: Cursor, quote: string): Token {
  const start = cursor.at;
  for (let at = start + 1; at < cursor.text.length; at += 1) {
    if (cursor.text[at] === "\\") at += 1;
    else if (cursor.text[at] === quote) {
      cursor.at = at + 1;
      return { type: "string", text: cursor.text.slice(start, at + 1), start, end: at + 1 };
    }
  }
  throw new TemplateSyntaxFault("a quoted text has no end", start);
}
