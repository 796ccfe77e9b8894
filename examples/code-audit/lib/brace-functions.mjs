/**
 * Owns finding functions in languages with braces, from code that the scanner has cleaned.
 *
 * A function is a `{` whose header (the text since the last `;`, `{` or `}` outside parentheses) ends like a function:
 * `=>`, the words function, func, fn, fun or def, or `name(…)` followed by nothing but a return type or modifiers. A
 * header that begins with a control word opens a block and adds nesting; one that names a class, namespace, interface
 * or type adds none. Braces inside a parameter list or a return type belong to the header around them. Arrow functions without braces are not found. Arms of
 * `match`, `when` and `select` count as branches only where they are written with `case`. Branches are counted to the innermost function.
 */

const TOKEN = /[{}();]|\b(?:if|for|foreach|while|case|catch)\b|&&|\|\||\?\?=?|\?(?![.?:,)\]=>])/g;
const CONTROL =
  /^(?:\}?\s*)(?:else\b|if\b|for\b|foreach\b|while\b|do\b|switch\b|try\b|catch\b|finally\b|synchronized\b|(?:with|using|lock|unsafe|loop|match|when|guard|select|repeat|defer)(?:\s+[^(\s]|$))/;
const CONTAINER =
  /(?:^|\s)(?:class|interface|struct|enum|union|namespace|module|package|trait|impl|extension|protocol|record|object|declare|type)\s+[\w$"<]|^extern\b/;
const FUNCTION_WORD = /(?:^|[^\w$.])(?:function|func|fn|fun|def)\b\s*\*?\s*(?:\([^)]*\)\s*)?([\w$]*)/;
const METHOD_HEAD =
  /([\w$#~]+)\s*(?:<[^<>()]*>)?\s*\((?:[^()]|\([^()]*\))*\)\s*(?:(?:const|noexcept|override|final|async|throws\s+[\w.,\s]+|mutable)\s*)*(?:->\s*[^={}]+|:\s*[^={};]+|:\s*[\w$]+\s*\([^{}]*\))?$/;
const ARROW_NAME =
  /(?:([\w$#]+)\s*[:=]\s*)?(?:async\s*)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w$]+)\s*(?::\s*[^={}]+)?=>$/;
const BARE_CONTROL = /^\s*(?:if|for|switch)\s+[^(\s]/;
const DECLARED = /(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*(?::\s*[^=]+)?=>$/;
const CALLBACK = /([\w$.]{1,60})\((?:[^()]*,)?\s*(?:async\s*)?(?:\([^()]*\)|[\w$]+)\s*=>$/;
const HEADER_MAX = 300;
const CONTROL_CALLS = new Set(["if", "for", "foreach", "while", "switch", "catch", "when", "with", "using", "lock"]);
const CALL_WORDS = new Set(["return", "new", "await", "super", "sizeof", "typeof"]);

/**
 * Creates a finder for one file.
 *
 * Shape: `add(code, lineNumber)` for each cleaned line; `finish(lastLine)` answers functions `{name, line,
 * lines, branches, nesting}` and how many braces were still open.
 */
export function createBraceFinder(language) {
  const finder = {
    hasArrowArms: language.hasArrowArms === true,
    open: [],
    functions: [],
    header: "",
    parens: 0,
    branches: 0,
    nestingMax: 0,
  };
  return {
    add: (code, line) => addLine(finder, code, line),
    finish: (lastLine) => {
      const openAtEnd = finder.open.length;
      while (finder.open.length > 0) closeBrace(finder, lastLine);
      return { functions: finder.functions, branches: finder.branches, nesting: finder.nestingMax, openAtEnd };
    },
  };
}

function addLine(finder, code, line) {
  let from = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(code); match; match = TOKEN.exec(code)) {
    const token = match[0];
    const at = match.index;
    if (token === "{") {
      finder.header += code.slice(from, at);
      openBrace(finder, line);
      from = at + 1;
    } else if (token === "}") {
      closeBrace(finder, line);
      from = at + 1;
    } else if (token === "(") finder.parens++;
    else if (token === ")") finder.parens = Math.max(0, finder.parens - 1);
    else if (token === ";") {
      if (finder.parens === 0 && !BARE_CONTROL.test(finder.header + code.slice(from, at))) {
        finder.header = "";
        from = at + 1;
      }
    } else countBranch(finder);
  }
  finder.header = `${finder.header}${code.slice(from)} `;
  if (finder.header.length > HEADER_MAX) finder.header = finder.header.slice(-HEADER_MAX);
}

function countBranch(finder) {
  finder.branches++;
  for (let at = finder.open.length - 1; at >= 0; at--) {
    if (finder.open[at].kind === "function") {
      finder.open[at].branches++;
      return;
    }
  }
}

function openBrace(finder, line) {
  const header = finder.header.slice(-HEADER_MAX).trim();
  const isInsideHeader = isPartOfHeader(header, finder.parens);
  const found = isInsideHeader ? { kind: "block" } : judgeHeader(header, finder);
  const outer = finder.open[finder.open.length - 1];
  const nesting = found.kind === "function" ? 0 : (outer?.nesting ?? 0) + (found.kind === "control" ? 1 : 0);
  finder.open.push({
    ...found,
    line,
    nesting,
    nestingMax: 0,
    branches: 0,
    parens: finder.parens,
    outerHeader: isInsideHeader ? `${header}{}` : "",
  });
  finder.header = "";
  finder.parens = 0;
  finder.nestingMax = Math.max(finder.nestingMax, nesting);
  for (let at = finder.open.length - 1; at >= 0; at--) {
    if (finder.open[at].kind === "function") {
      finder.open[at].nestingMax = Math.max(finder.open[at].nestingMax, nesting);
      break;
    }
  }
}

function closeBrace(finder, line) {
  const closed = finder.open.pop();
  finder.header = closed?.outerHeader ?? "";
  if (!closed) return;
  finder.parens = closed.parens;
  if (closed.kind !== "function") return;
  finder.functions.push({
    name: closed.name,
    line: closed.line,
    lines: line - closed.line + 1,
    branches: closed.branches,
    nesting: closed.nestingMax,
  });
}

/** Whether a brace after this text is a pattern, an object or a type inside a header that goes on after it. */
function isPartOfHeader(header, parens) {
  if (parens > 0) return /[(,[:=|&<?]$/.test(header) && !header.endsWith("=>");
  return /\)\s*:\s*(?:[\w$.<>[\]\s|&{}]*[|&<\s])?$/.test(header);
}

/** What an arrow function is assigned to, or the call it is handed to. */
function nameArrow(header) {
  const assigned = DECLARED.exec(header)?.[1] ?? ARROW_NAME.exec(header)?.[1];
  if (assigned) return assigned;
  const callee = CALLBACK.exec(header)?.[1];
  return callee ? `(callback of ${callee})` : "(arrow)";
}

function judgeHeader(header, { parens, hasArrowArms }) {
  if (header === "") return { kind: "block" };
  if (header.endsWith("=>")) return hasArrowArms ? { kind: "control" } : { kind: "function", name: nameArrow(header) };
  if (parens === 0 && CONTROL.test(header)) return { kind: "control" };
  const worded = FUNCTION_WORD.exec(header);
  if (worded) return { kind: "function", name: worded[1] || "(anonymous)" };
  if (CONTAINER.test(header)) return { kind: "container" };
  return judgeCall(header, METHOD_HEAD.exec(header)?.[1]);
}

/** A header that ends like `name(…)`: a method, or a control word that some language writes that way. */
function judgeCall(header, name) {
  if (name === undefined) return { kind: "block" };
  if (CONTROL_CALLS.has(name)) return { kind: "control" };
  const isExpression = CALL_WORDS.has(name) || /\b(?:return|new|throw)\s[^;]*$/.test(header);
  return isExpression ? { kind: "block" } : { kind: "function", name };
}
