/**
 * Finds functions in Python, by `def` and indentation, from code that the scanner has cleaned.
 *
 * A function ends before the first line of code that is indented no deeper than its `def`, outside brackets. Nesting is
 * counted in control blocks (if, for, while, try, with, match) inside the function.
 */

const DEFINITION = /^(?:async\s+)?def\s+(\w+)/;
const CONTROL = /^(?:async\s+)?(?:if|elif|else|for|while|try|except|finally|with|match|case)\b.*:\s*$/;
const OPEN_CONTROL = /^(?:async\s+)?(?:if|elif|for|while|with)\b/;
const BRANCH = /\b(?:if|elif|for|while|except|case|and|or)\b/g;

/** Creates a finder for one file; see `createBraceFinder` for the shape. */
export function createIndentFinder() {
  const finder = { open: [], functions: [], brackets: 0, branches: 0, lastLine: 0 };
  return {
    add: (code, line) => addLine(finder, code, line),
    finish: () => {
      closeTo(finder, -1);
      return { functions: finder.functions, branches: finder.branches };
    },
  };
}

const innermost = ({ open }) => open.findLast(({ kind }) => kind === "function");

function addLine(finder, code, line) {
  const text = code.trim();
  if (text === "") return;
  const isContinuation = finder.brackets > 0;
  for (const bracket of text.match(/[()[\]{}]/g) ?? [])
    finder.brackets = Math.max(0, finder.brackets + ("([{".includes(bracket) ? 1 : -1));
  if (!isContinuation) openBlock(finder, { text, indent: indentOf(code), line });
  finder.lastLine = line;
  const branches = text.match(BRANCH)?.length ?? 0;
  finder.branches += branches;
  const inner = innermost(finder);
  if (inner) inner.branches += branches;
}

function openBlock(finder, { text, indent, line }) {
  closeTo(finder, indent);
  const name = DEFINITION.exec(text)?.[1];
  if (name) finder.open.push({ kind: "function", name, line, indent, nesting: 0, nestingMax: 0, branches: 0 });
  else if (CONTROL.test(text) || (finder.brackets > 0 && OPEN_CONTROL.test(text))) {
    const nesting = (finder.open.at(-1)?.nesting ?? 0) + 1;
    finder.open.push({ kind: "control", indent, nesting });
    const inner = innermost(finder);
    if (inner) inner.nestingMax = Math.max(inner.nestingMax, nesting);
  }
}

function closeTo(finder, indent) {
  while (finder.open.length > 0 && finder.open.at(-1).indent >= indent) {
    const { kind, name, line, branches, nestingMax: nesting } = finder.open.pop();
    if (kind === "function")
      finder.functions.push({ name, line, lines: finder.lastLine - line + 1, branches, nesting });
  }
}

/** The width of the white space at the beginning, a tab up to the next multiple of eight. */
function indentOf(code) {
  let width = 0;
  for (const character of /^[ \t]*/.exec(code)[0]) width = character === " " ? width + 1 : width - (width % 8) + 8;
  return width;
}
