/**
 * Owns the distinction of blank, comment and code lines, as `cloc` makes it.
 *
 * A line is *comment* when it holds nothing but comment, *code* when it holds anything else, *blank* when it holds
 * nothing. Strings are respected where a block comment could begin inside one (`"src/**"`), but not over several lines.
 * Python docstrings count as comment.
 */

const LINE_LENGTH_MAX = 4000;

/**
 * Creates a counter for one file.
 *
 * Shape: `add(line)` answers `blank`, `comment` or `code` and counts it in `counts`.
 */
export function createLineCounter(language) {
  const counts = { lines: 0, code: 0, comment: 0, blank: 0 };
  let closing = "";
  const add = (raw) => {
    counts.lines++;
    const line = raw.slice(0, LINE_LENGTH_MAX).trim();
    if (line === "") {
      counts.blank++;
      return "blank";
    }
    const found = judgeLine(line, closing, language);
    closing = found.closing;
    counts[found.kind]++;
    return found.kind;
  };
  return { counts, add };
}

function judgeLine(line, closing, language) {
  let rest = line;
  let hasComment = false;
  let open = closing;
  for (;;) {
    if (open !== "") {
      const end = rest.indexOf(open);
      if (end < 0) return { kind: "comment", closing: open };
      rest = rest.slice(end + open.length).trim();
      hasComment = true;
      open = "";
    }
    if (rest === "") return { kind: hasComment ? "comment" : "blank", closing: "" };
    const starting = startOfComment(rest, language);
    if (starting === "line") return { kind: "comment", closing: "" };
    if (!starting) return { kind: "code", closing: trailingOpening(rest, language) };
    rest = rest.slice(starting.length);
    open = starting.closing;
  }
}

function startOfComment(line, language) {
  for (const [opening, closing] of language.block) {
    if (line.startsWith(opening)) return { length: opening.length, closing };
  }
  for (const mark of language.line) if (line.startsWith(mark)) return "line";
  if (language.docstrings) {
    const found = /^[rRuUbB]{0,2}("""|''')/.exec(line);
    if (found) return { length: found[0].length, closing: found[1] };
  }
  return undefined;
}

/** The closing mark of a block comment that begins after code on this line and does not end on it. */
function trailingOpening(line, language) {
  return language.block.find((marks) => isLeftOpen(line, marks, language))?.[1] ?? "";
}

function isLeftOpen(line, [opening, closing], language) {
  let at = line.indexOf(opening);
  while (at >= 0) {
    let next = at + 1;
    if (isOutsideString(line, at, language)) {
      const end = line.indexOf(closing, at + opening.length);
      if (end < 0) return true;
      next = end + closing.length;
    }
    at = line.indexOf(opening, next);
  }
  return false;
}

/** Whether a position on a line is neither in a string nor behind a line comment. */
export function isOutsideString(line, until, language) {
  let quote = "";
  for (let at = 0; at < until; at++) {
    const character = line[at];
    if (quote !== "") {
      if (character === "\\") at++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'" || character === "`") quote = character;
    else if (character === "/" && line[at + 1] === "/" && language.line.includes("//")) return false;
  }
  return quote === "";
}
