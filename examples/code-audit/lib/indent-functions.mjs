/**
 * Owns finding functions in Python, by `def` and indentation, from code that the scanner has cleaned.
 *
 * A function ends before the first line of code that is indented no deeper than its `def`, outside brackets. Nesting is
 * counted in control blocks (if, for, while, try, with, match) inside the function.
 */

const DEFINITION = /^(?:async\s+)?def\s+([\w]+)/;
const CONTROL = /^(?:async\s+)?(?:if|elif|else|for|while|try|except|finally|with|match|case)\b.*:\s*$/;
const OPEN_CONTROL = /^(?:async\s+)?(?:if|elif|for|while|with)\b/;
const BRANCH = /\b(?:if|elif|for|while|except|case|and|or)\b/g;

/** Creates a finder for one file; see `createBraceFinder` for the shape. */
export function createIndentFinder() {
  const finder = { open: [], functions: [], brackets: 0, branches: 0, nestingMax: 0, lastLine: 0 };
  return {
    add: (code, line) => addLine(finder, code, line),
    finish: () => {
      closeTo(finder, -1);
      return { functions: finder.functions, branches: finder.branches, nesting: finder.nestingMax };
    },
  };
}

function addLine(finder, code, line) {
  const text = code.trim();
  if (text === "") return;
  const isContinuation = finder.brackets > 0;
  countBrackets(finder, text);
  if (!isContinuation) {
    const indent = indentOf(code);
    closeTo(finder, indent);
    openBlock(finder, { text, indent, line });
  }
  finder.lastLine = line;
  const branches = text.match(BRANCH)?.length ?? 0;
  finder.branches += branches;
  const inner = finder.open.findLast((block) => block.kind === "function");
  if (inner) inner.branches += branches;
}

function openBlock(finder, { text, indent, line }) {
  const definition = DEFINITION.exec(text);
  const outer = finder.open[finder.open.length - 1];
  if (definition) {
    finder.open.push({ kind: "function", name: definition[1], line, indent, nesting: 0, nestingMax: 0, branches: 0 });
  } else if (CONTROL.test(text) || (finder.brackets > 0 && OPEN_CONTROL.test(text))) {
    const nesting = (outer?.nesting ?? 0) + 1;
    finder.open.push({ kind: "control", indent, nesting });
    finder.nestingMax = Math.max(finder.nestingMax, nesting);
    const inner = finder.open.findLast((block) => block.kind === "function");
    if (inner) inner.nestingMax = Math.max(inner.nestingMax, nesting);
  }
}

function closeTo(finder, indent) {
  while (finder.open.length > 0 && finder.open[finder.open.length - 1].indent >= indent) {
    const closed = finder.open.pop();
    if (closed.kind !== "function") continue;
    finder.functions.push({
      name: closed.name,
      line: closed.line,
      lines: finder.lastLine - closed.line + 1,
      branches: closed.branches,
      nesting: closed.nestingMax,
    });
  }
}

function countBrackets(finder, text) {
  for (const character of text) {
    if ("([{".includes(character)) finder.brackets++;
    else if (")]}".includes(character)) finder.brackets = Math.max(0, finder.brackets - 1);
  }
}

function indentOf(code) {
  let width = 0;
  for (const character of code) {
    if (character === " ") width++;
    else if (character === "\t") width = (Math.floor(width / 8) + 1) * 8;
    else break;
  }
  return width;
}
