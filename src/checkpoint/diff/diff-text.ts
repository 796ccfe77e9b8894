/** A difference of two states as plain text; the command line adds colours by the first character of a line. */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { unreachable } from "../../base/errors.js";
import type { StateDiff, StateDifference } from "./state-diff.js";
import type { TextLine, ValueMark } from "./value-diff.js";

/**
 * The lines of a difference, the first difference first; empty when there is none.
 *
 * Shape: a line that begins with `-` or `+` is what one side has, one with a space is around it.
 */
export function formatDiff(diff: StateDiff): string {
  return diff.differences
    .map((difference) => [formatPlace(difference), ...formatChange(difference)].join("\n"))
    .join("\n");
}

function formatPlace(difference: StateDifference): string {
  const number = difference.number === undefined ? "" : ` ${difference.number}`;
  const name = difference.name === difference.subject ? "" : ` ${difference.name}`;
  return `${difference.subject}${number}${name}${difference.field === "" ? "" : `: ${difference.field}`}`;
}

function formatChange(difference: StateDifference): string[] {
  switch (difference.kind) {
    case "added":
      return [`+ ${formatValue(difference.to)}`];
    case "removed":
      return [`- ${formatValue(difference.from)}`];
    case "changed":
      return [`- ${formatValue(difference.from)}`, `+ ${formatValue(difference.to)}`];
    case "text":
      return difference.lines.map(formatLine);
    case "more":
      return [`  … and ${difference.count} more`];
    default:
      return unreachable(difference);
  }
}

function formatLine(line: TextLine): string {
  if (line.op === "skip") return `  … ${line.count} equal or left out`;
  const mark = { same: " ", removed: "-", added: "+" }[line.op];
  return `${mark} ${line.text}`;
}

function formatValue(value: JsonValue | ValueMark): string {
  if (isMark(value))
    return `${value.size} bytes${value.digest === undefined ? "" : `, digest ${value.digest.slice(0, 16)}`}`;
  return JSON.stringify(value);
}

function isMark(value: JsonValue | ValueMark): value is ValueMark {
  return isJsonObject(value) && value["$t"] === "mark" && typeof value["size"] === "number";
}
