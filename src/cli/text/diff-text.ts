/** How `debug diff-checkpoints` tells differences: where the first one is, then each with its lines. Pure. */
import { formatCount } from "../../base/plain-text.js";
import type { JsonObject } from "../../base/json.js";
import { cleanForTerminal, textOf, type Colours } from "../terminal/output.js";

/** Shape: one line that says how much differs and where first, then the differences; equal checkpoints are one line. */
export function formatDifferences(view: JsonObject, colours: Colours): string {
  const title = `${textOf(view["from"])} → ${textOf(view["to"])}`;
  if (view["equal"] === true) return `${cleanForTerminal(title)}: ${colours.green("equal")}`;
  const differences = (Array.isArray(view["differences"]) ? view["differences"] : []) as readonly JsonObject[];
  const head = `${title}: ${countOf(differences.length)}, first at ${describePlace(differences[0] ?? {})}`;
  const lines = cleanForTerminal(textOf(view["text"])).split("\n");
  return [
    colours.bold(cleanForTerminal(head).replaceAll("\n", " ")),
    "",
    ...lines.map((line) => paint(line, colours)),
  ].join("\n");
}

function countOf(count: number): string {
  return formatCount(count, "difference");
}

function describePlace({ subject, number, name, field }: JsonObject): string {
  const which = [subject, number, name === subject ? undefined : name].map(textOf).filter((part) => part !== "");
  return `${which.join(" ")}${textOf(field) === "" ? "" : `: ${textOf(field)}`}`;
}

/** By its first character: what one side has, what the other has, what is around it; else it says where. */
function paint(line: string, colours: Colours): string {
  if (line.startsWith("-")) return colours.red(line);
  if (line.startsWith("+")) return colours.green(line);
  return line.startsWith(" ") ? colours.dim(line) : colours.cyan(line);
}
