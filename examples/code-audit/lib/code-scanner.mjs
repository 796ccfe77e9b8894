/**
 * Owns the separation of code from strings and comments, line by line, for languages with braces and for Python.
 *
 * The scanner is a heuristic lexer: it knows quotes, block and line comments, JavaScript templates (with code inside
 * `${}`), regular expressions (a `/` where no value can end), Rust lifetimes and Python's triple quotes. It knows no
 * grammar. Ordinary quotes end at the line end, so that a misread quote damages one line and not the file.
 *
 * State: a stack of open things. `code` entries count the braces inside `${}`; `template` and `block` entries run over
 * lines until their closing mark.
 */

const RUST_CHARACTER = /^'(?:\\.[^']*|[^'\\])'/;
const LINE_LENGTH_MAX = 50_000;
const WORD_BEFORE_REGEX =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|instanceof|yield|await)$/;

/**
 * Creates a scanner for one file.
 *
 * Shape: `next(line)` answers the line with strings emptied and comments removed; nothing for a preprocessor directive.
 */
export function createCodeScanner(language) {
  const stack = [];
  const marks = { block: language.block, line: language.line, triples: language.docstrings === true, language };
  let isDirective = false;
  const next = (line) => {
    isDirective = language.hasPreprocessor === true && stack.length === 0 && (isDirective || /^\s*#/.test(line));
    if (!isDirective) return scanLine(line.slice(0, LINE_LENGTH_MAX), stack, marks);
    isDirective = line.endsWith("\\");
    return "";
  };
  return { next };
}

function scanLine(line, stack, marks) {
  let code = "";
  let at = 0;
  while (at < line.length) {
    const top = stack[stack.length - 1];
    if (top?.kind === "until") {
      const found = endOf(line, at, top);
      if (found.closing < 0 && found.hole < 0) return code;
      if (found.hole >= 0) {
        stack.push({ kind: "hole", depth: 0 });
        at = found.hole + 2;
      } else {
        stack.pop();
        at = found.closing + top.mark.length;
      }
      continue;
    }
    const step = scanCode({ line, from: at, stack, marks, before: code });
    code += step.code;
    at = step.at;
  }
  return code;
}

/** Where a run until a mark ends on this line, and whether a template's `${` comes first. */
function endOf(line, from, top) {
  for (let at = from; at < line.length; at++) {
    if (top.hasEscapes && line[at] === "\\") at++;
    else if (line.startsWith(top.mark, at)) return { closing: at, hole: -1 };
    else if (top.hasHoles && line[at] === "$" && line[at + 1] === "{") return { closing: -1, hole: at };
  }
  return { closing: -1, hole: -1 };
}

const INTERESTING = /["'`/#{}]/g;

/** Takes code up to and including the next thing that is not plain code. */
function scanCode({ line, from, stack, marks, before }) {
  INTERESTING.lastIndex = from;
  for (let match = INTERESTING.exec(line); match; match = INTERESTING.exec(line)) {
    const at = match.index;
    const plain = line.slice(from, at);
    const character = line[at];
    if (character === "{" || character === "}") {
      if (!countBrace(stack, character)) return { code: plain, at: at + 1 };
      continue;
    }
    const opened = openAt({ line, at, marks, before: before + plain });
    if (opened === undefined) continue;
    if (opened.until) stack.push(opened.until);
    return { code: plain + opened.code, at: opened.at };
  }
  return { code: line.slice(from), at: line.length };
}

/** Counts a brace inside `${}`; false when it closes the hole. */
function countBrace(stack, character) {
  const top = stack[stack.length - 1];
  if (top?.kind !== "hole") return true;
  if (character === "{") top.depth++;
  else if (top.depth === 0) {
    stack.pop();
    return false;
  } else top.depth--;
  return true;
}

/** What opens at this position: a comment, a string, a template, a regular expression; `undefined` when nothing does. */
function openAt({ line, at, marks, before }) {
  return openComment(line, at, marks) ?? openString(line, at, marks) ?? openRegex({ line, at, marks, before });
}

function openComment(line, at, marks) {
  if (marks.line.some((mark) => line.startsWith(mark, at))) return { code: "", at: line.length };
  const block = marks.block.find(([opening]) => line.startsWith(opening, at));
  return block && { code: " ", at: at + block[0].length, until: { kind: "until", mark: block[1] } };
}

function openString(line, at, { triples, language }) {
  const character = line[at];
  const triple = line.slice(at, at + 3);
  if (triples && (triple === '"""' || triple === "'''")) {
    return { code: '""', at: at + 3, until: { kind: "until", mark: triple, hasEscapes: true } };
  }
  if (character === "`" && language.hasTemplates) {
    const isScript = language.hasRegex === true;
    return { code: '""', at: at + 1, until: { kind: "until", mark: "`", hasEscapes: isScript, hasHoles: isScript } };
  }
  if (character !== '"' && character !== "'") return undefined;
  if (character === "'" && language.hasLifetimes && !RUST_CHARACTER.test(line.slice(at, at + 12))) return undefined;
  return { code: '""', at: endOfQuote(line, at, character) };
}

function openRegex({ line, at, marks, before }) {
  if (line[at] !== "/" || !marks.language.hasRegex || !isRegexPlace(before)) return undefined;
  return { code: '""', at: endOfRegex(line, at) };
}

function endOfQuote(line, from, quote) {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return at + 1;
  }
  return line.length;
}

function isRegexPlace(before) {
  const text = before.trimEnd();
  if (text === "") return true;
  const last = text[text.length - 1];
  if ("(,=:[!&|?{};+-*%~^<>".includes(last)) return true;
  return WORD_BEFORE_REGEX.test(text.slice(-12));
}

function endOfRegex(line, from) {
  let isInClass = false;
  for (let at = from + 1; at < line.length; at++) {
    const character = line[at];
    if (character === "\\") at++;
    else if (character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
    else if (character === "/" && !isInClass) return at + 1;
  }
  return from + 1;
}
