/**
 * Compiles a template once: what can be answered without minijinja, and the rewritten text for what cannot.
 *
 * Every chain from outside (`research.output.findings`) becomes one variable of its own, filled with the value at its
 * end. So only what is named crosses into wasm, and `default` and `is defined` work on a chain whose root is missing,
 * because the variable itself is missing then. Outputs are wrapped so that values print as in Python.
 */
import type { JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { SHOWN_PREFIX } from "./template-shown-filters.js";
import {
  type Insertion,
  scanExpression,
  scanTemplate,
  type Segment,
  TemplateSyntaxFault,
  type Token,
} from "./template-lexer.js";
import { type Chain, findChains, findExpressionChains, type LocalUse } from "./template-references.js";
import { findIdentityTests, findRewrites } from "./template-rewrites.js";
import { findChainedComparison } from "./template-comparisons.js";
import { findExcessiveRepeat, REPEAT_MAX } from "./repetition.js";

export type CompiledTemplate = { readonly chains: readonly Chain[]; readonly rebound: ReadonlySet<string> } & (
  | { readonly form: "text" }
  /** One whole `{{ chain }}`. */
  | { readonly form: "chain" }
  /** Text and chains only: joined without minijinja. */
  | { readonly form: "pieces"; readonly pieces: readonly (string | Chain)[] }
  /** One whole `{{ expression }}` that is more than a chain. */
  | { readonly form: "expression"; readonly expression: string; readonly source: string }
  | { readonly form: "program"; readonly source: string }
);

export type CompiledCondition =
  | { readonly form: "rendered"; readonly template: CompiledTemplate }
  | { readonly form: "expression"; readonly chains: readonly Chain[]; readonly expression: string };

/** What is written another way for minijinja. */
type Use = Chain | LocalUse;

const VARIABLE = "__v";
/** A map that a loop goes over is handed over as its keys, in their order. */
const LOOPED = "__k";
const VALUE = "__p";
/** The function of template-engine.ts that is called where a name is used that is not defined. */
const MISSING = "__missing";

/** The variable a chain is handed over as. */
export function variableOf(chain: Chain): string {
  return (
    (chain.isIterated === true ? LOOPED : VARIABLE) +
    [chain.root, ...chain.path].map((part) => `_${Array.from(part, encodeSign).join("")}`).join("")
  );
}

/** Undefined where it is used, it fails there: minijinja itself compares an undefined value, and denies it. */
function textOf(use: Use, text: string): string {
  if ("isLocal" in use) return orMissing(text.slice(use.start, use.end));
  return use.isUsed === true && !use.certain ? orMissing(variableOf(use)) : variableOf(use);
}

function orMissing(source: string): string {
  return `(${source} if ${source} is defined else ${MISSING}(${JSON.stringify(source)}))`;
}

/** Letters and digits stay; anything else becomes its number, so that different chains never meet. */
function encodeSign(sign: string): string {
  return /[A-Za-z0-9]/.test(sign) ? sign : `_${(sign.codePointAt(0) ?? 0).toString(16)}_`;
}

/** Compiles a template. Errors: TemplateSyntaxFault. */
export function compileTemplate(text: string): CompiledTemplate {
  if (!text.includes("{{") && !text.includes("{%") && !text.includes("{#"))
    return { form: "text", chains: [], rebound: new Set() };
  const segments = scanTemplate(text);
  refuseMany(segments);
  refuseFiles(segments);
  for (const segment of segments) if ("tokens" in segment) refuseTokens(segment.tokens);
  const { chains, locals, rebound } = findChains(segments);
  const uses = [...chains, ...locals].sort((left, right) => left.start - right.start);
  const whole = findWhole(text, segments);
  if (whole !== undefined) {
    const only = isOnlyChain(whole, chains) ? chains[0] : undefined;
    if (only !== undefined) return { form: "chain", chains, rebound };
    const [from, to] = innerOf(whole);
    return {
      form: "expression",
      chains,
      rebound,
      expression: rewrite(text, uses, { tokens: whole.tokens, range: [from, to] }),
      source: rewriteProgram(text, segments, uses),
    };
  }
  const pieces = readPieces(text, segments, chains);
  if (pieces !== undefined) return { form: "pieces", chains, rebound, pieces };
  return { form: "program", chains, rebound, source: rewriteProgram(text, segments, uses) };
}

/** Compiles a condition of either dialect. Errors: TemplateSyntaxFault. Source: CONDUCTOR-YAML 1.5. */
export function compileCondition(text: string): CompiledCondition {
  if (text.includes("{{") && text.includes("}}")) return { form: "rendered", template: compileTemplate(text) };
  const tokens = scanExpression(text);
  refuseTokens(tokens);
  const chains = findExpressionChains(tokens);
  return {
    form: "expression",
    chains,
    expression: rewrite(text, chains, { tokens, range: [0, text.length], edits: findIdentityTests(tokens) }),
  };
}

function refuseMany(segments: readonly Segment[]): void {
  const tags = segments.filter((segment) => "tokens" in segment);
  const first = tags[LIMITS.templateTagsMax];
  if (first !== undefined)
    throw new TemplateSyntaxFault(`a template has more than ${LIMITS.templateTagsMax} tags`, first.start);
}

/** Blocks that would read another template. */
const OTHER_FILES = new Set(["include", "import", "from", "extends"]);

function refuseFiles(segments: readonly Segment[]): void {
  for (const segment of segments) {
    const [keyword] = segment.kind === "block" ? segment.tokens : [];
    if (keyword !== undefined && OTHER_FILES.has(keyword.text))
      throw new TemplateSyntaxFault(
        `${keyword.text} reads no other file here: put its text in with !file`,
        keyword.start,
      );
  }
}

function refuseTokens(tokens: readonly Token[]): void {
  const at = findExcessiveRepeat(tokens);
  if (at !== undefined) throw new TemplateSyntaxFault(`a text or a list is repeated more than ${REPEAT_MAX} times`, at);
  const chained = findChainedComparison(tokens);
  if (chained !== undefined)
    throw new TemplateSyntaxFault("a comparison of a comparison: write `a < b and b < c` for a < b < c", chained);
}

type TagSegment = Extract<Segment, { readonly kind: "output" }>;

function findWhole(text: string, segments: readonly Segment[]): TagSegment | undefined {
  const rest = segments.filter(
    (segment) => segment.kind !== "text" || text.slice(segment.start, segment.end).trim() !== "",
  );
  const [only] = rest;
  return rest.length === 1 && only?.kind === "output" && only.tokens.length > 0 ? only : undefined;
}

function innerOf(segment: TagSegment): [number, number] {
  return [segment.start + 2 + segment.open.length, segment.end - 2 - segment.close.length];
}

function isOnlyChain(segment: TagSegment, chains: readonly Chain[]): boolean {
  const [first, last] = [segment.tokens[0], segment.tokens.at(-1)];
  return chains.some((chain) => chain.start === first?.start && chain.end === last?.end);
}

function readPieces(
  text: string,
  segments: readonly Segment[],
  chains: readonly Chain[],
): readonly (string | Chain)[] | undefined {
  const pieces: (string | Chain)[] = [];
  for (const segment of segments) {
    const piece = readPiece(text, segment, chains);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return pieces;
}

function readPiece(text: string, segment: Segment, chains: readonly Chain[]): string | Chain | undefined {
  if (segment.kind === "text") return text.slice(segment.start, segment.end);
  if (segment.kind !== "output" || segment.open !== "" || segment.close !== "") return undefined;
  const [chain] = usesWithin(chains, segment.start, segment.end);
  return chain !== undefined && isOnlyChain(segment, [chain]) ? chain : undefined;
}

function rewriteProgram(text: string, segments: readonly Segment[], uses: readonly Use[]): string {
  return segments.map((segment) => rewriteSegment(text, segment, uses)).join("");
}

function rewriteSegment(text: string, segment: Segment, uses: readonly Use[]): string {
  if (segment.kind === "block")
    return rewrite(text, uses, { tokens: segment.tokens, range: [segment.start, segment.end] });
  if (segment.kind !== "output") return text.slice(segment.start, segment.end);
  const { open, close, tokens } = segment;
  const shown = `${VALUE} if ${VALUE} is undefined or ${VALUE} is string or ${VALUE} is integer else ([${VALUE}] ~ '')|${SHOWN_PREFIX}string`;
  return `{%${open} with ${VALUE}=(${rewrite(text, uses, { tokens, range: innerOf(segment) })}) %}{{ ${shown} }}{% endwith ${close}%}`;
}

interface Rewriting {
  readonly tokens: readonly Token[];
  readonly range: readonly [number, number];
  readonly edits?: readonly Insertion[];
}

/** Chains become variables, and what minijinja means otherwise is written out; see template-rewrites.ts. */
function rewrite(
  text: string,
  uses: readonly Use[],
  { tokens, range: [from, to], edits: own = [] }: Rewriting,
): string {
  const inside = usesWithin(uses, from, to);
  const edits = [
    ...own,
    ...findRewrites(tokens),
    ...inside.map((use) => ({ at: use.start, until: use.end, text: textOf(use, text) })),
  ];
  let result = "";
  let at = from;
  // The sort keeps the order of what stands at one place: what closes, what opens, then the chain itself.
  for (const edit of edits.sort((left, right) => left.at - right.at)) {
    result += text.slice(at, edit.at) + edit.text;
    at = edit.until ?? edit.at;
  }
  return result + text.slice(at, to);
}

/** The uses of one tag: those of the tags before it come first. */
function usesWithin<T extends { readonly start: number }>(uses: readonly T[], from: number, to: number): readonly T[] {
  let [low, high] = [0, uses.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((uses[middle]?.start ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < uses.length && (uses[end]?.start ?? 0) < to) end += 1;
  return uses.slice(low, end);
}

/** The value at the end of a chain; `undefined` where any part is missing. */
export function followPath(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let current = value;
  for (const part of path) {
    if (/^-?\d+$/.test(part) && (typeof current === "string" || Array.isArray(current))) {
      current = (current as ArrayLike<JsonValue>)[Number(part) < 0 ? current.length + Number(part) : Number(part)];
      continue;
    }
    if (typeof current !== "object" || current === null) return undefined;
    current =
      Object.hasOwn(current, part) && !isLength(current, part)
        ? (current as Record<string, JsonValue>)[part]
        : undefined;
  }
  return current;
}

function isLength(value: object, part: string): boolean {
  return Array.isArray(value) && part === "length";
}
