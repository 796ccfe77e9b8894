/**
 * Owns turning data into Markdown that says what the data says, whatever names and texts are in it.
 */
import { formatCount } from "./confidence.mjs";

const CODE_MAX = 240;

/** Plain text in Markdown: nothing in it is markup. */
export function escapeText(text) {
  return String(text)
    .replace(/[\\`*_{}[\]<>#|~!]/g, (found) => `\\${found}`)
    .replace(/\s+/g, " ");
}

/** A path or a name as code, also inside a table. */
export function formatCode(text) {
  const content = shorten(String(text).replace(/\s+/g, " ")).replace(/\|/g, "\\|");
  if (content === "") return "";
  const runs = content.match(/`+/g) ?? [];
  const fence = "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length), 0) + 1);
  const pad = content.startsWith("`") || content.endsWith("`") ? " " : "";
  return `${fence}${pad}${content}${pad}${fence}`;
}

/** A very long name with its middle left out. */
function shorten(text) {
  return text.length <= CODE_MAX ? text : `${text.slice(0, CODE_MAX / 2)}…${text.slice(-CODE_MAX / 2)}`;
}

/**
 * A table; cells are Markdown already.
 *
 * Shape: columns whose title begins with `#` are aligned right, without the `#`. Empty when there are no rows.
 */
export function formatTable(titles, rows) {
  if (rows.length === 0) return "";
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const head = titles.map((title) => title.replace(/^#/, ""));
  const rule = titles.map((title) => (title.startsWith("#") ? "---:" : "---"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

/** A list of points; empty when there are none. */
export function formatList(points) {
  return points.map((point) => `- ${point}`).join("\n");
}

/** Parts separated by empty lines, empty parts left out. */
export function joinParts(parts) {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}

/** The sentence about what a list leaves out; empty when it is whole. */
export function formatCut(list, what) {
  return list.cut > 0 ? `_${formatCount(list.cut)} further ${what} are counted but not listed._` : "";
}
