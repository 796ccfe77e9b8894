/** Comparisons of comparisons, `1 < x < 9`: in Python both hold, in minijinja the truth of the first is compared. */
import type { Token } from "./template-lexer.js";

const COMPARISONS = new Set(["==", "!=", "<", ">", "<=", ">="]);
/** What parts two comparisons from each other. */
const PARTING = new Set(["and", "or", "not", "if", "else", "in", "is", ",", ":"]);
const OPENING = new Set(["(", "[", "{"]);
const CLOSING = new Set([")", "]", "}"]);

/** Where a comparison follows another one in the same brackets; `undefined` when there is none. */
export function findChainedComparison(tokens: readonly Token[]): number | undefined {
  const compared: boolean[] = [false];
  for (const { text, start } of tokens) {
    if (OPENING.has(text)) compared.push(false);
    else if (CLOSING.has(text)) compared.pop();
    else if (PARTING.has(text)) compared[compared.length - 1] = false;
    else if (COMPARISONS.has(text)) {
      if (compared.at(-1) === true) return start;
      compared[compared.length - 1] = true;
    }
  }
  return undefined;
}
