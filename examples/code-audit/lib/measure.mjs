/**
 * Measures one open text file: its lines, and in source its functions, branches and markers (TODO, FIXME, HACK, XXX).
 *
 * A marker counts only in a comment, as a word in capitals that is not quoted and not part of a list of such words.
 */
import { createBraceFinder } from "./braces.mjs";
import { forEachLine } from "./files.mjs";
import { createIndentFinder } from "./indents.mjs";
import { createScanner } from "./scanner.mjs";

const MARKER = /(?:^|[^"'`\w|/-])(TODO|FIXME|HACK|XXX)\b(?!["'`\w,)|/-]|\s+(?:and|or)\b)/;
const BRANCH = /\b(?:if|elif|elsif|else if|for|foreach|while|until|case|when|rescue|except|catch)\b|&&|\|\|/g;

/** The lines of a file by what they hold: `{lines, code, comment, blank}`; `visit(kind, line, number)` sees each. */
export function countLines(file, visit = () => undefined) {
  const counts = { lines: 0, code: 0, comment: 0, blank: 0 };
  const scanner = createScanner(file.language);
  forEachLine(file, (line, number, isContinuation) => {
    if (isContinuation) return;
    const scanned = scanner.next(line);
    counts.lines++;
    counts[scanned.kind]++;
    visit(scanned, line, number);
  });
  return counts;
}

/** `{counts, functions, branches, openAtEnd, markers: [{marker, line, text}]}`; no functions where none can be found. */
export function measureSource(file) {
  const finders = { braces: createBraceFinder, indent: createIndentFinder };
  const finder = finders[file.language.functions]?.(file.language);
  const markers = [];
  let branches = 0;
  let last = 0;
  const counts = countLines(file, ({ code, comment, directive }, _line, number) => {
    last = number;
    const match = MARKER.exec(comment);
    if (match) {
      const after = comment.slice(match.index + match[0].length).replace(/^[\s:-]+/, "");
      markers.push({ marker: match[1], line: number, text: after.trim() });
    }
    if (directive) finder?.direct(directive);
    else if (finder) finder.add(code, number);
    else branches += code.match(BRANCH)?.length ?? 0;
  });
  return { counts, markers, ...(finder?.finish(last) ?? { functions: [], branches }) };
}
