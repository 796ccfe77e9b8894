/**
 * Finds functions in languages with braces, from code that the scanner has cleaned.
 *
 * A function is a `{` whose header (the text since the last `;`, `{` or `}` outside parentheses) ends like one: `=>`, the
 * words function, func, fn, fun or def, or `name(…)` followed by no more than a return type or modifiers. A header that
 * begins with a control word opens a block and adds nesting; one that names a class, namespace or type adds none. Braces
 * inside a parameter list or a return type belong to the header around them. Branches count to the innermost function. Each
 * way through the preprocessor's #if begins with the braces that were open before it.
 */

const TOKEN = /[{}();]|\b(?:if|for|foreach|while|case|catch)\b|&&|\|\||\?\?=?|\?(?![.?:,)\]=>])/g;
const CONTROL =
  /^(?:\}?\s*)(?:else(?:if)?\b|if\b|for\b|foreach\b|while\b|do\b|switch\b|try\b|catch\b|finally\b|synchronized\b|(?:with|using|lock|unsafe|loop|match|when|guard|select|repeat|defer)(?:\s+[^(\s]|$))/;
const CONTAINER =
  /(?:^|\s)(?:class|interface|struct|enum|union|namespace|module|package|trait|impl|extension|protocol|record|object|declare|type)\s+[\w$"<]|^extern\b/;
const FUNCTION_WORD =
  /(?:^|[^\w$.])(?:func\b\s*(?:\(\)\s*)?|(?:function|fn|fun|def)\b\s*[*&]?\s*(?:<[^>]*>\s*)?)([\w$.]*)(?=\s*[(<[])/;
const METHOD_HEAD =
  /([\w$#~]+)\s*(?:<[^<>()]*>)?\s*\((?:[^()]|\([^()]*\))*\)\s*(?:(?:const|noexcept|override|final|async|throws\s+[\w.,\s]+|mutable)\s*)*(?:->\s*[^={}]+|:\s*[^={};]+|:\s*[\w$]+\s*\([^{}]*\))?$/;
const ARROW_NAME =
  /(?:([\w$#]+)\s*[:=]\s*)?(?:async\s*)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w$]+)\s*(?::\s*[^={}]+)?=>$/;
const CONTROL_VALUE = /(?:=|return|&&|\|\||[(,])\s*(?:match|if|switch|when|loop|unsafe)\b[^;]*$/;
const BARE_CONTROL = /^\s*(?:if|for|switch)\s+[^(\s]/;
const DECLARED = /(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*(?::\s*[^=]+)?=>$/;
const CALLBACK = /([\w$.]{1,60})\((?:[^()]*,)?\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>$/;
const HEADER_MAX = 600;
const HEADER_LINES_MAX = 20;
const CONTROL_CALLS = new Set([
  "if",
  "elseif",
  "elif",
  "for",
  "foreach",
  "while",
  "switch",
  "catch",
  "when",
  "with",
  "using",
  "lock",
]);
const CALL_WORDS = new Set(["return", "new", "await", "super", "sizeof", "typeof"]);

/**
 * Creates a finder for one file: `add(code, lineNumber)` for each cleaned line; `finish(lastLine)` answers functions `{name, line,
 * lines, branches, nesting}`, all branches, and how many braces were still open.
 */
export function createBraceFinder({ traits }) {
  const fresh = { open: [], functions: [], header: "", headerLines: [], parens: 0, branches: 0, ways: [] };
  const finder = { ...fresh, hasArms: traits.has("arms"), isWorded: traits.has("worded") };
  return {
    add: (code, line) => addLine(finder, code, line),
    direct: (text) => followDirective(finder, text),
    finish: (lastLine) => {
      const openAtEnd = finder.open.length;
      while (finder.open.length > 0) closeBrace(finder, lastLine);
      return { functions: finder.functions, branches: finder.branches, openAtEnd };
    },
  };
}

function addLine(finder, code, line) {
  let from = 0;
  for (const { 0: token, index: at } of code.matchAll(TOKEN)) {
    const text = code.slice(from, at);
    if (token === "(") finder.parens++;
    else if (token === ")") finder.parens = Math.max(0, finder.parens - 1);
    else if (token === "{" || token === "}") {
      extendHeader(finder, text, line);
      if (token === "}") closeBrace(finder, line);
      else openBrace(finder, line);
      finder.headerLines = [];
      from = at + 1;
    } else if (token !== ";") countBranch(finder);
    else if (finder.parens === 0 && !BARE_CONTROL.test(finder.header + text)) {
      Object.assign(finder, { header: "", headerLines: [] });
      from = at + 1;
    }
  }
  extendHeader(finder, `${code.slice(from).trimEnd()} `, line);
}

function followDirective(finder, text) {
  const word = /^\s*#\s*(if|else|elif|endif)/.exec(text)?.[1];
  const { open, header, headerLines, parens, ways } = finder;
  if (word === "if") ways.push({ open: [...open], header, headerLines: [...headerLines], parens });
  else if (word === "endif") ways.pop();
  else if (word !== undefined && ways.length > 0) {
    const before = ways.at(-1);
    Object.assign(finder, { ...before, open: [...before.open], headerLines: [...before.headerLines] });
  }
}

function extendHeader(finder, text, line) {
  finder.header = `${finder.header}${text.replace(/^\s+/, " ")}`.slice(-HEADER_MAX);
  finder.headerLines.push({ line, text });
  if (finder.headerLines.length > HEADER_LINES_MAX) finder.headerLines.shift();
}

const innermost = ({ open }) => open.findLast(({ kind }) => kind === "function");

function countBranch(finder) {
  finder.branches++;
  const inner = innermost(finder);
  if (inner) inner.branches++;
}

function openBrace(finder, braceLine) {
  const header = finder.header.trim();
  const isInHeader = isPartOfHeader(header, finder.parens);
  const found = isInHeader ? { kind: "block" } : judgeHeader(header, finder);
  const outer = finder.open.at(-1);
  const nesting = found.kind === "function" ? 0 : (outer?.nesting ?? 0) + (found.kind === "control" ? 1 : 0);
  const { parens } = finder;
  const outerHeader = isInHeader ? `${header}{}` : "";
  // A function begins on the line that has its name.
  const isNamed = ({ text }) => found.name !== undefined && text.includes(found.name);
  const line = finder.headerLines.findLast(isNamed)?.line ?? braceLine;
  finder.open.push({ ...found, line, nesting, nestingMax: 0, branches: 0, parens, outerHeader });
  Object.assign(finder, { header: "", parens: 0 });
  const inner = innermost(finder);
  if (inner) inner.nestingMax = Math.max(inner.nestingMax, nesting);
}

function closeBrace(finder, lastLine) {
  const closed = finder.open.pop();
  finder.header = closed?.outerHeader ?? "";
  if (!closed) return;
  finder.parens = closed.parens;
  const { kind, name, line, branches, nestingMax: nesting } = closed;
  if (kind === "function") finder.functions.push({ name, line, lines: lastLine - line + 1, branches, nesting });
}

/** Whether a brace after this text is a pattern, an object or a type inside a header that goes on after it. */
function isPartOfHeader(header, parens) {
  if (parens > 0) return /[(,[:=|&<?]$/.test(header) && !header.endsWith("=>");
  return /\)\s*:\s*(?:[\w$.<>[\]\s|&{}]*[|&<\s])?$/.test(header);
}

/** What an arrow function is assigned to, or the call it is handed to. */
function nameArrow(header) {
  const assigned = DECLARED.exec(header)?.[1] ?? ARROW_NAME.exec(header)?.[1];
  const callee = assigned ? undefined : CALLBACK.exec(header)?.[1];
  return assigned ?? (callee ? `(callback of ${callee})` : "(arrow)");
}

function judgeHeader(header, { parens, hasArms, isWorded }) {
  if (header === "") return { kind: "block" };
  if (header.endsWith("=>")) return hasArms ? { kind: "control" } : { kind: "function", name: nameArrow(header) };
  if (parens === 0 && CONTROL.test(header)) return { kind: "control" };
  const outside = header.replace(/\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g, "()");
  const worded = FUNCTION_WORD.exec(outside);
  if (worded) return { kind: "function", name: worded[1] || "(anonymous)" };
  if (isContainer(outside)) return { kind: "container" };
  const name = METHOD_HEAD.exec(header)?.[1];
  return isWorded && name !== "init" ? judgeValue(header) : judgeCall(header, name);
}

/** Whether a header names a class or the like, not merely in the type that a function returns. */
function isContainer(outside) {
  return CONTAINER.test(outside) && !(outside.endsWith(")") && /(?:^|\s)(?:struct|enum|union)\s/.test(outside));
}

const judgeValue = (header) => ({ kind: CONTROL_VALUE.test(header) ? "control" : "block" });

/** A header that ends like `name(…)`: a method, or a control word that some language writes that way. */
function judgeCall(header, name) {
  if (name === undefined) return { kind: "block" };
  if (CONTROL_CALLS.has(name)) return { kind: "control" };
  const isExpression = CALL_WORDS.has(name) || /\b(?:return|new|throw)\s[^;]*$/.test(header);
  return isExpression ? { kind: "block" } : { kind: "function", name };
}
