/**
 * Owns what counts as a line for the search of duplicates, and its hash.
 *
 * A meaningful line is a line of code (no comment, no blank) with at least three letters or digits that is no import;
 * it is compared with white space collapsed. Names and literals are not normalised: a copy with renamed variables is
 * not found.
 */
import { forEachLine } from "./file-reader.mjs";
import { createLineCounter } from "./line-counter.mjs";

const IMPORT =
  /^(?:import\b|export\s+(?:\*|\{[^}]*\}|type\s+\{[^}]*\})\s+from\b|from\s+\S+\s+import\b|#\s*include\b|using\s+[\w.]+;|use\s+[\w:\\{},\s*]+;|require(?:_once|_relative)?\b|(?:const|var|let)\s+[\w${},\s:]+=\s*require\()/;
const LINE_LENGTH_MAX = 2000;

/** The form in which a line is compared, or `undefined` when it is not meaningful. */
export function normaliseLine(line) {
  const text = line.slice(0, LINE_LENGTH_MAX).trim().replace(/\s+/g, " ");
  if (text.length < 3 || !/\w.*\w.*\w/.test(text) || IMPORT.test(text)) return undefined;
  return text;
}

/** Calls `visit(normalised, lineNumber)` for every meaningful line of an open file. */
export function forEachMeaningfulLine(file, visit) {
  const counter = createLineCounter(file.language);
  forEachLine(file, (line, number, isContinuation) => {
    if (isContinuation || counter.add(line) !== "code") return;
    const text = normaliseLine(line);
    if (text !== undefined) visit(text, number);
  });
}

/** A hash of 53 bits, exact in a double: equal lines have equal hashes, unequal ones all but certainly not. */
export function hashLine(text) {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 13);
  }
  low ^= low >>> 15;
  high ^= high >>> 16;
  return (high >>> 11) * 4294967296 + (low >>> 0);
}
