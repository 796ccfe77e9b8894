/** Repetitions in templates, `"-" * 20`: how many are allowed, and where there are too many. */
import type { Token } from "./template-lexer.js";
import { KEYWORDS } from "./keywords.js";

/** How often a template may repeat a text or a list. */
export const REPEAT_MAX = 10_000;

/**
 * The place of a repetition that could fill the memory: minijinja makes it before anyone can look at it.
 *
 * Shape: offset of the `*`; `undefined` when every text and list is repeated by a small number or a name.
 */
export function findExcessiveRepeat(tokens: readonly Token[]): number | undefined {
  for (const [index, token] of tokens.entries()) {
    if (token.text !== "*" || token.type !== "op") continue;
    const [left, right] = [tokens[index - 1], tokens[index + 1]];
    const other = isRepeatable(tokens, index - 1) ? right : isOpening(right) ? left : undefined;
    const isSmall = other?.type === "number" && Number(other.text) <= REPEAT_MAX;
    if (other !== undefined && !isSmall && other.type !== "name") return token.start;
  }
  return undefined;
}

/** A text or the end of a list, not of an index. */
export function isRepeatable(tokens: readonly Token[], at: number): boolean {
  if (tokens[at]?.type === "string") return true;
  if (tokens[at]?.text !== "]") return false;
  const before = tokens[findOpening(tokens, at) - 1];
  if (before === undefined || KEYWORDS.has(before.text)) return true;
  return before.type === "op" && before.text !== ")" && before.text !== "]";
}

/** The `[` that belongs to the `]` at an index. */
function findOpening(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let index = at; index >= 0; index -= 1) {
    if (tokens[index]?.text === "]") depth += 1;
    if (tokens[index]?.text === "[") depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

export function isOpening(token: Token | undefined): boolean {
  return token?.type === "string" || token?.text === "[";
}
