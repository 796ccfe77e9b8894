/**
 * Names that the documents the design comes from give to things, taken out of them mechanically: from fenced code and
 * from inline code, whatever language it is in.
 *
 * Shape: sorted, each once. Names of more than one word part, calls, keys, columns, fields, types, flags, variables and
 * figures; not plain prose.
 */
/** Fences at the margin, which may hold indented ones; then indented ones that stand alone. */
const FENCE = /^```[^\n]*\n([\s\S]*?)^```/gm;
const INDENTED_FENCE = /^ +```[^\n]*\n([\s\S]*?)^ +```/gm;
const INLINE = /`([^`\n]+)`/g;

/** Each gives names in its first group, from code of any language. */
const IN_CODE: readonly RegExp[] = [
  // Columns, tables and indexes of SQL.
  /^\s*(\w+)\s+(?:TEXT|INTEGER|JSONB|TIMESTAMPTZ|TIMESTAMP)\b/gm,
  /CREATE (?:TABLE|INDEX)(?: IF NOT EXISTS)? (\w+)/g,
  // Keys of JSON, YAML and objects; fields of classes and structs; named arguments.
  /"(\w+)"\s*:/g,
  /^\s*(?:-\s+|let\s+)?(\w+)\s*:(?=\s|$)/gm,
  /[{(,]\s*(\w+)\s*:(?=\s)/g,
  /^\s*-\s+([a-z]+_\w+)\s*$/gm,
  // Types and calls.
  /\b(?:class|struct|interface)\s+(\w+)/g,
  /([A-Za-z_]\w*)\s*\(/g,
  // Values that name something: events, statuses, kinds.
  /["'.]([a-z]+(?:_[a-z0-9]+)+)\b/g,
  /\btype: "(\w+)"/g,
  // Flags and variables of the environment.
  /(?:^|\s)(--[a-z][a-z-]*)/gm,
  /\b([A-Z]+(?:_[A-Z]+)+)\b/g,
  // Commands.
  /^\s*(?:conductor|\.\/debug\.sh)\s+([a-z-]+)/gm,
  /^\s*conductor checkpoints\s+([a-z]+)/gm,
];
/** Figures in prose and code: times, sizes, shares. */
const FIGURES = /[<>]\s?\d+\s?(?:ms|KB|%)|\b\d+ hours\b/g;
const INLINE_NAME = /^(?:\w+\.)*(\w+)(?:\([^)]*\))?$/;

export function extractSeedNames(document: string): readonly string[] {
  const names = new Set<string>();
  const prose = document.replaceAll(FENCE, "");
  const code = [...document.matchAll(FENCE), ...prose.matchAll(INDENTED_FENCE)].map(([, text = ""]) => text).join("\n");
  const take = (text: string): void => {
    for (const pattern of IN_CODE) for (const [, name = ""] of text.matchAll(pattern)) names.add(name);
  };
  take(code.replaceAll(/(?:^|\s)(?:#|\/\/).*$/gm, ""));
  for (const [, span = ""] of prose.replaceAll(INDENTED_FENCE, "").matchAll(INLINE)) {
    const [, name = ""] = INLINE_NAME.exec(span) ?? [];
    if (/[_A-Z]/.test(name) || span.includes("(")) names.add(name);
    else take(span);
  }
  for (const [figure] of document.matchAll(FIGURES)) names.add(figure.replaceAll(" ", "").replace("hours", "h"));
  names.delete("");
  return [...names].sort();
}
