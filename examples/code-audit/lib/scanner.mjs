/**
 * Separates code, comments and strings, line by line: what a line is, what of it is code, and what is comment.
 *
 * A heuristic lexer, no grammar. Ordinary quotes end at the line end, so that a misread quote damages one line and not the
 * file; block comments, templates (with code inside `${}`) and triple quotes run over lines until their closing mark. A
 * triple-quoted text that stands alone, and is no argument or value, is a comment.
 */

const RUST_CHARACTER = /^'(?:\\.[^']*|[^'\\])'/;
const LINE_LENGTH_MAX = 50_000;
const WORD_BEFORE_REGEX =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|instanceof|yield|await)$/;
const REGEX = /^\/(?:[^\\/[]|\\.|\[(?:[^\]\\]|\\.)*\]?)*\//;

/**
 * Creates a scanner for one file: `next(line)` answers `{kind, code, comment}`, the kind `blank`, `comment` or `code`, the
 * code with strings emptied and comments removed (empty for the preprocessor's lines, which are the directive), the comment without its marks.
 */
export function createScanner({ traits, line: lineMarks, block }) {
  const openers = [...block.map(([mark]) => mark), ...lineMarks].map(escapePattern);
  const quotes = traits.has("braces") || traits.has("indent") || lineMarks.length > 0 ? ["[\"'`]"] : [];
  const braces = traits.has("template") ? ["[{}]"] : [];
  const slash = traits.has("regex") ? ["/"] : [];
  const interesting = new RegExp([...openers, ...quotes, ...braces, ...slash].join("|") || "$^", "g");
  const state = { traits, block, lineMarks, interesting, stack: [], code: "", comment: "", hasString: false, last: "" };
  let isDirective = false;
  return {
    next(raw) {
      const line = raw.slice(0, LINE_LENGTH_MAX);
      const text = line.trim();
      if (text === "") return { kind: "blank", code: "", comment: "" };
      if (state.stack.length === 0) {
        isDirective = isDirective || (traits.has("directive") && text.startsWith("#"));
        if (!isDirective && isPlain(line, state)) return { kind: "code", code: line, comment: "" };
      }
      state.code = "";
      state.comment = "";
      state.hasString = state.stack.at(-1)?.isComment === false;
      scanLine(line, state);
      const code = state.code.trim();
      state.last = code || state.last;
      const kind = code !== "" || state.hasString ? "code" : "comment";
      if (!isDirective) return { kind, code: state.code, comment: state.comment };
      isDirective = line.endsWith("\\");
      return { kind, code: "", comment: state.comment, directive: code };
    },
  };
}

/** Whether nothing on a line can open anything; most lines are such. */
function isPlain(line, state) {
  state.interesting.lastIndex = 0;
  if (state.interesting.test(line)) return false;
  state.last = line.trim();
  return true;
}

const escapePattern = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function scanLine(line, state) {
  let at = 0;
  while (at < line.length) {
    const top = state.stack.at(-1);
    at = top?.mark === undefined ? scanCode(line, at, state) : scanUntil(line, at, state);
  }
}

/** Goes on inside a comment, a template or a triple-quoted text; answers where it ends on this line. */
function scanUntil(line, from, state) {
  const { mark, isComment, hasEscapes, hasHoles } = state.stack.at(-1);
  for (let at = from; at < line.length; at++) {
    if (hasEscapes && line[at] === "\\") at++;
    else if (line.startsWith(mark, at)) {
      if (isComment) state.comment += line.slice(from, at);
      state.stack.pop();
      return at + mark.length;
    } else if (hasHoles && line[at] === "$" && line[at + 1] === "{") {
      state.stack.push({ depth: 0 });
      return at + 2;
    }
  }
  if (isComment) state.comment += line.slice(from);
  return line.length;
}

/** Takes code up to and including the next thing that is not plain code; answers where it ends. */
function scanCode(line, from, state) {
  const { interesting } = state;
  interesting.lastIndex = from;
  for (let match = interesting.exec(line); match; match = interesting.exec(line)) {
    const before = state.code + line.slice(from, match.index);
    const isBrace = match[0] === "{" || match[0] === "}";
    const opened = isBrace
      ? closesHole(state, match[0]) && { code: before, end: match.index + 1 }
      : openAt(line, { found: match[0], at: match.index, before }, state);
    if (!opened) continue;
    state.code = opened.code;
    return opened.end;
  }
  state.code += line.slice(from);
  return line.length;
}

/** Counts a brace inside `${}`; whether it closes the hole. */
function closesHole({ stack }, brace) {
  const top = stack.at(-1);
  if (top === undefined || top.mark !== undefined) return false;
  if (brace === "{") top.depth++;
  else if (top.depth-- === 0) stack.pop();
  return top.depth < 0;
}

/** Opens the comment, string or regular expression that begins here: where it ends on this line, and the code until then. */
function openAt(line, { found, at, before }, state) {
  const pair = state.block.find(([opening]) => opening === found);
  if (pair) {
    if (found.startsWith("=") && at > 0) return undefined;
    state.stack.push({ mark: pair[1], isComment: true });
    return { code: `${before} `, end: at + found.length };
  }
  if (state.lineMarks.includes(found)) {
    // A # or a word opens a comment at the beginning or after white space; elsewhere it is part of something.
    if (/^[#;%!'\w]/.test(found) && /\S$/.test(before)) return undefined;
    state.comment += line.slice(at + found.length);
    return { code: before, end: line.length };
  }
  if (found !== "/") return openString(line, { at, before }, state);
  if (!isRegexPlace(before)) return undefined;
  state.hasString = true;
  return { code: `${before}""`, end: at + (REGEX.exec(line.slice(at))?.[0].length ?? 1) };
}

function openString(line, { at, before }, state) {
  const { traits } = state;
  const triple = traits.has("triple") ? /^(?:"""|''')/.exec(line.slice(at, at + 3))?.[0] : undefined;
  if (triple) return openTriple(triple, { at, before }, state);
  const quote = line[at];
  if (opensNoString(line.slice(at, at + 12), traits)) return undefined;
  state.hasString = true;
  const code = `${before}""`;
  if (quote === "`") {
    const isScript = traits.has("regex");
    state.stack.push({ mark: "`", isComment: false, hasEscapes: isScript, hasHoles: isScript });
    return { code, end: at + 1 };
  }
  let end = at + 1;
  while (end < line.length && line[end] !== quote) end += line[end] === "\\" ? 2 : 1;
  return { code, end: Math.min(end + 1, line.length) };
}

/** A quote that this language uses for something else. */
function opensNoString(text, traits) {
  if (text.startsWith("`")) return !traits.has("template");
  return text.startsWith("'") && traits.has("lifetime") && !RUST_CHARACTER.test(text);
}

function openTriple(mark, { at, before }, state) {
  const isComment = /^\s*[rRuUbB]{0,2}$/.test(before) && !/[([{,=+%\\]$/.test(state.last);
  state.stack.push({ mark, isComment, hasEscapes: true });
  state.hasString ||= !isComment;
  return { code: isComment ? "" : `${before}""`, end: at + 3 };
}

function isRegexPlace(before) {
  const text = before.trimEnd();
  return text === "" || /[(,=:[!&|?{};+\-*%~^<>]$/.test(text) || WORD_BEFORE_REGEX.test(text.slice(-12));
}
