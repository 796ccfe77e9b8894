/**
 * Turns data into Markdown that says what the data says, whatever names and texts are in it.
 */
import { formatCount } from "./figures.mjs";

const CODE_MAX = 240;

/** Plain text in Markdown: nothing in it is markup. */
export function escapeText(text) {
  return String(text)
    .replace(/[\\`*_{}[\]<>#|~!]/g, (found) => `\\${found}`)
    .replace(/\s+/g, " ");
}

/** A path or a name as code, also inside a table; a very long one with its middle left out. */
export function formatCode(text) {
  const whole = String(text).replace(/\s+/g, " ");
  const short = whole.length <= CODE_MAX ? whole : `${whole.slice(0, CODE_MAX / 2)}…${whole.slice(-CODE_MAX / 2)}`;
  const content = short.replace(/\|/g, "\\|");
  if (content === "") return "";
  const longest = Math.max(0, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = content.startsWith("`") || content.endsWith("`") ? " " : "";
  return `${fence}${pad}${content}${pad}${fence}`;
}

/** A place in a file as code. */
export const formatPlace = ({ path, line }) => formatCode(line === undefined ? path : `${path}:${line}`);

/**
 * A table of the first `rowsMax` of a list or of `{items, total}`, and how many more there are; empty when there are none.
 *
 * Shape: a column's title, which begins with `#` for figures, and the key of its values, or a function to Markdown.
 */
export function formatTable(list, columns, rowsMax = 8) {
  const { items, total = items.length } = Array.isArray(list) ? { items: list } : list;
  if (items.length === 0) return "";
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const titles = Object.keys(columns);
  const rows = items
    .slice(0, rowsMax)
    .map((item) => line(Object.values(columns).map((column) => cellOf(item, column))));
  const rule = line(titles.map((title) => (title.startsWith("#") ? "---:" : "---")));
  const cut = total - rows.length;
  const rest = cut > 0 ? ["", `_and ${formatCount(cut)} more_`] : [];
  return [line(titles.map((title) => title.replace(/^#/, ""))), rule, ...rows, ...rest].join("\n");
}

function cellOf(item, column) {
  const value = typeof column === "function" ? column(item) : item[column];
  if (typeof value === "number") return formatCount(value);
  return typeof column === "function" ? value : escapeText(value ?? "");
}

/** Parts separated by empty lines, empty parts left out. */
export function joinParts(parts) {
  return parts.filter(Boolean).join("\n\n");
}
