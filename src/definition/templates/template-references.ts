/**
 * Finds the names a template uses, and which of them it binds itself.
 *
 * Owns: chains such as `research.output.findings`, up to the first call or computed index; local names of for, set,
 * with, macro and call blocks. Works on tokens, so it needs no grammar of its own.
 */
import { type Segment, TemplateSyntaxFault, type Token } from "./template-lexer.js";
import { isOpening, isRepeatable } from "./repetition.js";
import { FUNCTIONS_PROVIDED, KEYWORDS, NAMES_OF_FOR, NAMES_OF_MACRO } from "./keywords.js";

/** One use of a name that comes from outside the template. */
export interface Chain {
  readonly root: string;
  readonly path: readonly string[];
  /** Under `default`, `is defined` or `is undefined`: it may be missing. */
  readonly guarded: boolean;
  /** It stands beside `*`: `number` where it must be a number, `times` where it repeats a text or a list. */
  readonly factor?: "number" | "times";
  /** It is evaluated whenever the template is: no branch and no `and`, `or`, `if` stands before it. */
  readonly certain: boolean;
  /** Something is done with it and not only handed on, so it fails where it is undefined, in a branch too. */
  readonly isUsed?: boolean;
  /** A loop or a filter goes over it, so a map stands for its keys. */
  readonly isIterated?: boolean;
  readonly start: number;
  readonly end: number;
}

/** A part of a name that the template binds itself, where something is done with it: `item.count > 3`. */
export interface LocalUse {
  readonly isLocal: true;
  readonly start: number;
  readonly end: number;
}

export interface ChainReport {
  readonly chains: readonly Chain[];
  readonly locals: readonly LocalUse[];
  /** Names bound by `set` somewhere, which may also come from outside on another path through the template. */
  readonly rebound: ReadonlySet<string>;
}

const GUARD_FILTERS = new Set(["default", "d"]);
const GUARD_TESTS = new Set(["defined", "undefined"]);
const FRAME_ENDS = new Set(["endfor", "endmacro", "endcall", "endwith"]);
const OPENS = new Set(["for", "if", "macro", "call", "with"]);
const BRANCHING = new Set(["and", "or", "if"]);
/** Filters that go over what they are applied to. */
const ITERATING = new Set([
  "list",
  "first",
  "last",
  "sort",
  "unique",
  "reverse",
  "map",
  "select",
  "reject",
  "batch",
  "slice",
]);
/** Blocks whose first token after the keyword is not a name from outside. */
const NO_EXPRESSION = new Set([
  "else",
  "endif",
  "endset",
  "endfilter",
  "filter",
  "block",
  "endblock",
  "raw",
  "autoescape",
  "endautoescape",
]);

interface Walk {
  readonly chains: Chain[];
  readonly locals: LocalUse[];
  readonly frames: Set<string>[];
  readonly rebound: Set<string>;
  /** Open blocks around the current tag. */
  depth: number;
}

/** The chains of a template's tags, in order. */
export function findChains(segments: readonly Segment[]): ChainReport {
  const walk: Walk = { chains: [], locals: [], frames: [new Set()], rebound: new Set(), depth: 0 };
  for (const segment of segments) {
    if (segment.kind === "output") collect(walk, segment.tokens);
    if (segment.kind === "block") visitBlock(walk, segment.tokens);
  }
  return { chains: walk.chains, locals: walk.locals, rebound: walk.rebound };
}

/** The chains of a plain expression. */
export function findExpressionChains(tokens: readonly Token[]): readonly Chain[] {
  const walk: Walk = { chains: [], locals: [], frames: [new Set()], rebound: new Set(), depth: 0 };
  collect(walk, tokens);
  return walk.chains;
}

/** Blocks that bind names or have a form of their own. */
const VISITORS: Readonly<Record<string, (walk: Walk, tokens: readonly Token[]) => void>> = {
  for: visitFor,
  set: visitSet,
  with: visitWith,
  macro: visitMacro,
  call: visitCall,
};

function visitBlock(walk: Walk, tokens: readonly Token[]): void {
  const keyword = tokens[0]?.text ?? "";
  if (keyword.startsWith("end")) walk.depth -= 1;
  if (FRAME_ENDS.has(keyword) && walk.frames.length > 1) walk.frames.pop();
  if (FRAME_ENDS.has(keyword) || NO_EXPRESSION.has(keyword)) return;
  const visit = Object.hasOwn(VISITORS, keyword) ? VISITORS[keyword] : undefined;
  (visit ?? collect)(walk, tokens.slice(1));
  if (OPENS.has(keyword)) walk.depth += 1;
}

function visitFor(walk: Walk, tokens: readonly Token[]): void {
  const inAt = tokens.findIndex((token) => token.text === "in");
  const names = tokens.slice(0, Math.max(inAt, 0)).filter((token) => token.type === "name");
  const rest = tokens.slice(inAt + 1);
  const filterAt = rest.findIndex((token, index) => token.text === "if" && depthAt(rest, index) === 0);
  const source = (filterAt < 0 ? rest : rest.slice(0, filterAt)).filter(
    (token, index, all) => !(token.text === "recursive" && index === all.length - 1),
  );
  collect(walk, source);
  const whole = walk.chains.at(-1);
  if (whole !== undefined && whole.start === source[0]?.start && whole.end === source.at(-1)?.end)
    walk.chains[walk.chains.length - 1] = { ...whole, isIterated: true };
  walk.frames.push(new Set([...names.map((token) => token.text), ...NAMES_OF_FOR]));
  if (filterAt >= 0) collect(walk, rest.slice(filterAt + 1));
}

function visitSet(walk: Walk, tokens: readonly Token[]): void {
  const equalsAt = tokens.findIndex((token) => token.text === "=");
  const targets = equalsAt < 0 ? tokens.slice(0, 1) : tokens.slice(0, equalsAt);
  if (equalsAt >= 0) collect(walk, tokens.slice(equalsAt + 1));
  const isAttribute = targets.some((token) => token.text === ".");
  if (isAttribute) return;
  for (const token of targets) {
    if (token.type !== "name") continue;
    top(walk).add(token.text);
    walk.rebound.add(token.text);
  }
}

function visitWith(walk: Walk, tokens: readonly Token[]): void {
  const names = new Set<string>();
  tokens.forEach((token, index) => {
    if (token.type === "name" && tokens[index + 1]?.text === "=" && depthAt(tokens, index) === 0) names.add(token.text);
  });
  const values = tokens.filter((token, index) => !(names.has(token.text) && tokens[index + 1]?.text === "="));
  collect(walk, values);
  walk.frames.push(names);
}

function visitMacro(walk: Walk, tokens: readonly Token[]): void {
  const name = tokens[0];
  if (name !== undefined) {
    top(walk).add(name.text);
    walk.rebound.add(name.text);
  }
  const names = tokens.slice(1).filter((token, index, all) => {
    const before = all[index - 1]?.text;
    return token.type === "name" && (before === "(" || before === ",") && depthAt(all, index) === 1;
  });
  walk.frames.push(new Set([...names.map((token) => token.text), ...NAMES_OF_MACRO]));
  const defaults = tokens.slice(1).filter((token) => !names.includes(token));
  collect(walk, defaults);
}

function visitCall(walk: Walk, tokens: readonly Token[]): void {
  const names = new Set<string>();
  let from = 0;
  if (tokens[0]?.text === "(") {
    from = tokens.findIndex((token) => token.text === ")") + 1;
    for (const token of tokens.slice(0, from)) if (token.type === "name") names.add(token.text);
  }
  collect(walk, tokens.slice(from));
  walk.frames.push(names);
}

function depthAt(tokens: readonly Token[], index: number): number {
  let depth = 0;
  for (let at = 0; at < index; at += 1) {
    const text = tokens[at]?.text ?? "";
    if (text === "(" || text === "[" || text === "{") depth += 1;
    if (text === ")" || text === "]" || text === "}") depth -= 1;
  }
  return depth;
}

/** The innermost frame; the outermost one is never popped. */
function top(walk: Walk): Set<string> {
  return walk.frames.at(-1) as Set<string>;
}

function collect(walk: Walk, tokens: readonly Token[]): void {
  const isCertain = walk.depth === 0 && !tokens.some((token) => token.type === "name" && BRANCHING.has(token.text));
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.type !== "name" || !isOutsideName(tokens, index)) continue;
    if (walk.frames.some((frame) => frame.has(token.text))) {
      walk.locals.push(...readLocal(tokens, index));
      continue;
    }
    const found = readChain(tokens, index);
    if (found === undefined) throw new TemplateSyntaxFault(`there is no function ${token.text}`, token.start);
    walk.chains.push({
      ...readUse(tokens, index, found.last),
      ...found.chain,
      certain: isCertain && tokens[found.last + 1]?.text !== "is",
    });
    index = found.last;
  }
}

function readLocal(tokens: readonly Token[], index: number): LocalUse[] {
  const found = readChain(tokens, index);
  if (found === undefined || found.chain.path.length === 0 || !isUsed(tokens, index, found.last)) return [];
  const { start, end } = found.chain;
  return [{ isLocal: true, start, end }];
}

/** What is done with a chain, as far as it counts for how its value is handed over. */
function readUse(
  tokens: readonly Token[],
  first: number,
  last: number,
): Pick<Chain, "factor" | "isUsed" | "isIterated"> {
  const factor = findFactor(tokens, first, last);
  const isIterated = tokens[last + 1]?.text === "|" && ITERATING.has(tokens[last + 2]?.text ?? "");
  return {
    ...(factor === undefined ? {} : { factor }),
    ...(isUsed(tokens, first, last) ? { isUsed: true } : {}),
    ...(isIterated ? { isIterated } : {}),
  };
}

/** What may stand before and behind a value that is handed on as it is: undefined values may be, in Jinja. */
const HANDS_ON_BEFORE = new Set(["", "=", "(", ",", "else"]);
const HANDS_ON_BEHIND = new Set(["", ")", ",", "if", "else"]);

/** True but for a value that is handed on or tested, and for one in brackets that `default` or `is defined` follows. */
function isUsed(tokens: readonly Token[], first: number, last: number): boolean {
  let [from, to] = [first, last];
  while (isBracketed(tokens, from, to)) [from, to] = [from - 1, to + 1];
  const [before, behind] = [tokens[from - 1]?.text ?? "", tokens[to + 1]?.text ?? ""];
  if (behind === "is" || isGuarded(tokens, to + 1)) return false;
  if (HANDS_ON_BEFORE.has(before) && HANDS_ON_BEHIND.has(behind) && !isListed(tokens, from)) return false;
  return !isInGuardedBrackets(tokens, to);
}

/** A list or a map prints what is undefined in it as nothing at all. */
function isListed(tokens: readonly Token[], from: number): boolean {
  let depth = 0;
  for (let at = from - 1; at >= 0; at -= 1) {
    const { text } = tokens[at] as Token;
    if (text === ")" || text === "]" || text === "}") depth += 1;
    else if (depth > 0 && isOpen(text)) depth -= 1;
    else if (isOpen(text)) return text !== "(";
  }
  return false;
}

function isOpen(text: string): boolean {
  return text === "(" || text === "[" || text === "{";
}

/** Brackets that only group. */
function isBracketed(tokens: readonly Token[], from: number, to: number): boolean {
  if (tokens[from - 1]?.text !== "(" || tokens[to + 1]?.text !== ")") return false;
  const before = tokens[from - 2];
  return before === undefined || before.type === "op" || KEYWORDS.has(before.text);
}

function isInGuardedBrackets(tokens: readonly Token[], from: number): boolean {
  let depth = 0;
  for (let at = from + 1; at < tokens.length; at += 1) {
    const { text } = tokens[at] as Token;
    if (isOpen(text)) depth += 1;
    else if (text === ")" || text === "]" || text === "}") depth -= 1;
    if (depth < 0) {
      if (isGuarded(tokens, at + 1)) return true;
      depth = 0;
    }
  }
  return false;
}

function findFactor(tokens: readonly Token[], first: number, last: number): "number" | "times" | undefined {
  const isStar = (at: number): boolean => tokens[at]?.text === "*";
  if (isStar(first - 1)) return isRepeatable(tokens, first - 2) ? "times" : "number";
  if (isStar(last + 1)) return isOpening(tokens[last + 2]) ? "times" : "number";
  return undefined;
}

function isOutsideName(tokens: readonly Token[], index: number): boolean {
  const { text } = tokens[index] as Token;
  if (KEYWORDS.has(text) || text === "self" || isAfterMark(tokens, index)) return false;
  if (FUNCTIONS_PROVIDED.has(text) && tokens[index + 1]?.text === "(") return false;
  const before = tokens[index - 1]?.text;
  const isKeywordArgument = tokens[index + 1]?.text === "=" && (before === "(" || before === ",");
  return !isKeywordArgument;
}

/** After `.`, `|` and `is` stand names of parts, filters and tests. */
function isAfterMark(tokens: readonly Token[], index: number): boolean {
  const [before, earlier] = [tokens[index - 1]?.text ?? "", tokens[index - 2]?.text];
  return [".", "|", "is"].includes(before) || (before === "not" && earlier === "is");
}

function readChain(
  tokens: readonly Token[],
  index: number,
): { chain: Omit<Chain, "certain">; last: number } | undefined {
  const root = tokens[index] as Token;
  const path: string[] = [];
  const ends = [root.end];
  let at = index;
  for (let next = readPart(tokens, at + 1); next !== undefined; next = readPart(tokens, at + 1)) {
    path.push(...next.parts);
    at = next.last;
    ends.push(...next.parts.map(() => tokens[at]?.end ?? 0));
  }
  let last = at;
  if (tokens[at + 1]?.text === "(") {
    // Macros of the template itself are no names from outside.
    if (path.length === 0) return undefined;
    // The last part is the method that is called: `x.items()`.
    path.pop();
    ends.pop();
    last = at - (tokens[at]?.text === "]" ? 3 : 2);
  }
  const chain = {
    root: root.text,
    path,
    guarded: isGuarded(tokens, last + 1),
    start: root.start,
    end: ends.at(-1) ?? root.end,
  };
  return { chain, last };
}

interface ChainPart {
  readonly parts: readonly string[];
  readonly last: number;
}

function readPart(tokens: readonly Token[], at: number): ChainPart | undefined {
  const [first, second] = [tokens[at]?.text, tokens[at + 1]];
  if (second === undefined) return undefined;
  if (first === "[" && second.text === "-") return readFromEnd(tokens, at);
  if (first === "[") return tokens[at + 2]?.text === "]" ? readIndex(second, at + 2) : undefined;
  if (first !== ".") return undefined;
  if (second.type === "name") return { parts: [second.text], last: at + 1 };
  return second.type === "number" ? { parts: second.text.split("."), last: at + 1 } : undefined;
}

/** `[-1]` */
function readFromEnd(tokens: readonly Token[], at: number): ChainPart | undefined {
  const text = tokens[at + 2]?.text ?? "";
  return /^[1-9]\d*$/.test(text) && tokens[at + 3]?.text === "]" ? { parts: [`-${text}`], last: at + 3 } : undefined;
}

/** An index that is fixed: a whole number or a text without escapes. */
function readIndex(token: Token, last: number): ChainPart | undefined {
  if (token.type === "number" && /^\d+$/.test(token.text)) return { parts: [token.text], last };
  const literal = token.type === "string" ? readLiteral(token.text) : undefined;
  return literal === undefined ? undefined : { parts: [literal], last };
}

/** The value of a quoted text without escapes; others are left to minijinja. */
function readLiteral(text: string): string | undefined {
  return text.includes("\\") ? undefined : text.slice(1, -1);
}

function isGuarded(tokens: readonly Token[], at: number): boolean {
  const [first, second, third] = [tokens[at]?.text, tokens[at + 1]?.text ?? "", tokens[at + 2]?.text ?? ""];
  if (first === "|") return GUARD_FILTERS.has(second);
  return first === "is" && (GUARD_TESTS.has(second) || (second === "not" && GUARD_TESTS.has(third)));
}
