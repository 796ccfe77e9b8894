/**
 * Owns the complexity of one file: its functions, branches, nesting and markers (TODO, FIXME, HACK, XXX).
 *
 * Markers count only where they stand in a comment line or after a comment mark, as a word in capitals that is not quoted
 * and not part of a list of such words.
 */
import { createBraceFinder } from "./brace-functions.mjs";
import { createCodeScanner } from "./code-scanner.mjs";
import { forEachLine } from "./file-reader.mjs";
import { createIndentFinder } from "./indent-functions.mjs";
import { createLineCounter, isOutsideString } from "./line-counter.mjs";

const MARKER = /\b(TODO|FIXME|HACK|XXX)\b(?!["'`\w,)|/-]|\s+(?:and|or)\b)/;
const BRANCH = /\b(?:if|elif|elsif|else if|for|foreach|while|until|case|when|rescue|except|catch)\b|&&|\|\|/g;

/**
 * Measures one open text file.
 *
 * Shape: `{counts, functions, branches, nesting, markers: [{marker, line, text}]}`; `functions` is empty for languages
 * in which no function can be found, and `hasFunctions` says so.
 */
export function measureComplexity(file) {
  const { language } = file;
  const counter = createLineCounter(language);
  const hasFunctions = language.functions !== "none";
  const scanner = hasFunctions ? createCodeScanner(language) : undefined;
  const finder =
    language.functions === "braces"
      ? createBraceFinder(language)
      : language.functions === "indent"
        ? createIndentFinder()
        : undefined;
  const markers = [];
  let branches = 0;
  let last = 0;
  forEachLine(file, (line, number, isContinuation) => {
    if (isContinuation) return;
    last = number;
    const kind = counter.add(line);
    const marker = kind === "blank" ? undefined : findMarker(line, kind, language);
    if (marker) markers.push({ ...marker, line: number });
    if (finder) finder.add(scanner.next(line), number);
    else if (kind === "code") branches += line.match(BRANCH)?.length ?? 0;
  });
  const found = finder ? finder.finish(last) : { functions: [], branches, nesting: 0 };
  return { counts: counter.counts, markers, hasFunctions, ...found };
}

/** The marker in a comment on this line, with the text after it. */
export function findMarker(line, kind, language) {
  const match = MARKER.exec(line);
  if (!match) return undefined;
  if (kind === "code" && !isAfterCommentMark(line, match.index, language)) return undefined;
  return {
    marker: match[1],
    text: line
      .slice(match.index + match[1].length)
      .replace(/^[\s:-]+/, "")
      .trim(),
  };
}

function isAfterCommentMark(line, until, language) {
  const marks = [...language.line, ...language.block.map(([opening]) => opening)];
  return marks.some((mark) => {
    const at = line.lastIndexOf(mark, until - mark.length);
    return at >= 0 && isOutsideString(line, at, language);
  });
}
