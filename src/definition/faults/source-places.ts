/** Where characters of a file stand: lines, columns, and the line of text around them. */
import { LineCounter } from "yaml";
import type { PlaceFinder, SourcePlace, TextPart } from "./fault.js";

/** Units: UTF-16 units of the file; the end is the first one after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text that was read, with its line starts. */
interface ReadText {
  readonly text: string;
  readonly file: string;
  readonly lines: LineCounter;
}

const EXCERPT_MAX = 200;

/**
 * Where a part of a text is written: the same occurrence of the same characters, so that it holds for plain, quoted and
 * block texts alike; `undefined` where they are written otherwise (escapes, folded lines, a variable that was filled in).
 */
export function findInSource(source: string, span: Span, { text, offset, width }: TextPart): Span | undefined {
  const [part = ""] = text.slice(offset, offset + Math.max(width, 1)).split("\n");
  if (part.trim() === "") return undefined;
  let at = span.start - 1;
  for (let before = -1; before < offset;) {
    before = text.indexOf(part, before + 1);
    at = source.indexOf(part, at + 1);
    if (before < 0 || at < 0 || at >= span.end) return undefined;
  }
  return { start: at, end: at + part.length };
}

/** The places of a file that is one text. */
export function placesOfText(text: string, file: string): PlaceFinder {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  const source = { text, file, lines };
  return {
    placeOf: () => placeOfSpan(source, { start: 0, end: 1 }),
    placeInText: (_path, part) => {
      const found = findInSource(text, { start: 0, end: text.length }, part);
      return found === undefined ? undefined : placeOfSpan(source, found);
    },
  };
}

/** Line, column and line of text of a span. */
export function placeOfSpan(walk: ReadText, span: Span): SourcePlace {
  const { line, col } = walk.lines.linePos(span.start);
  const lineStart = span.start - (col - 1);
  const end = walk.text.indexOf("\n", lineStart);
  const whole = walk.text.slice(lineStart, end < 0 ? undefined : end).replace(/\r$/, "");
  const excerpt = whole.slice(0, EXCERPT_MAX);
  const width = Math.min(span.end - span.start, Math.max(excerpt.length - (col - 1), 1));
  return { file: walk.file, line, column: col, excerpt, width };
}
