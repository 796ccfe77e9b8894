/** How `debug diff-checkpoints` tells differences in words: where the first one is, then each, from what to what. Pure. */
import { formatCount } from "../../base/plain-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { cleanForTerminal, textOf, type Colours } from "../terminal/output.js";

/** Shape: one line that says how much differs and where first, then the differences; equal checkpoints are one line. */
export function formatDifferences(view: JsonObject, colours: Colours): string {
  const title = `${textOf(view["from"])} → ${textOf(view["to"])}`;
  if (view["equal"] === true) return `${cleanForTerminal(title)}: ${colours.green("equal")}`;
  const differences = (Array.isArray(view["differences"]) ? view["differences"] : []) as readonly JsonObject[];
  const head = `${title}: ${countOf(differences.length)}, first at ${describePlace(differences[0] ?? {})}`;
  const lines = differences.flatMap(formatDifference);
  return [
    colours.bold(cleanForTerminal(head).replaceAll("\n", " ")),
    "",
    ...lines.map((line) => paintLine(line, colours)),
  ].join("\n");
}

/** A line, or a change that fits on one. */
type Line = string | { readonly place: string; readonly from: string; readonly to: string };

function paintLine(line: Line, colours: Colours): string {
  const clean = (text: string): string => cleanForTerminal(text).replaceAll("\n", " ");
  if (typeof line === "string") return paint(clean(line), colours);
  const { place, from, to } = line;
  return `${colours.cyan(`${clean(place)}:`)} ${colours.red(clean(from))} → ${colours.green(clean(to))}`;
}

/** Longer values stand on lines of their own. */
const SHORT_CHARS = 60;

/** From and to on one line where they are short; else what one side has, then what the other has. */
function formatDifference(difference: JsonObject): Line[] {
  const place = describePlace(difference);
  const { kind, from, to, lines, count } = difference;
  switch (kind) {
    case "added":
      return formatOne(`${place}: new`, "+", describeValue(to ?? null));
    case "removed":
      return formatOne(`${place}: gone`, "-", describeValue(from ?? null));
    case "changed":
      return formatBoth(place, describeValue(from ?? null), describeValue(to ?? null));
    case "text":
      return [place, ...(Array.isArray(lines) ? (lines as readonly JsonObject[]) : []).map(formatLine)];
    default:
      return [`  … and ${textOf(count)} more at ${place}`];
  }
}

function formatOne(title: string, mark: "+" | "-", value: readonly string[]): string[] {
  const [only = ""] = value;
  if (value.length <= 1 && only.length <= SHORT_CHARS) return [`${title}${only === "" ? "" : `: ${only}`}`];
  return [title, ...value.map((line) => `${mark} ${line}`)];
}

function formatBoth(place: string, from: readonly string[], to: readonly string[]): Line[] {
  const [before = ""] = from;
  const [after = ""] = to;
  const isShort = from.length <= 1 && to.length <= 1 && before.length + after.length <= SHORT_CHARS;
  if (isShort) return [{ place, from: before, to: after }];
  return [place, ...from.map((line) => `- ${line}`), ...to.map((line) => `+ ${line}`)];
}

function formatLine({ op, text, count }: JsonObject): string {
  if (op === "skip") return `  … ${textOf(count)} equal or left out`;
  return `${op === "removed" ? "-" : op === "added" ? "+" : " "} ${textOf(text)}`;
}

/** Shape: a line for each field; a list of plain values is one line. */
export function describeValue(value: JsonValue): string[] {
  if (typeof value === "string") return value === "" ? ["(empty)"] : value.split("\n");
  if (value === null || typeof value !== "object") return [String(value ?? "nothing")];
  if (isJsonObject(value) && value["$t"] === "mark") return [`${textOf(value["size"])} bytes`];
  const isList = Array.isArray(value);
  const entries = Object.entries(value as JsonObject);
  if (entries.length === 0) return [isList ? "(an empty list)" : "(nothing)"];
  if (isList && entries.every(([, item]) => typeof item !== "object" || item === null))
    return [entries.map(([, item]) => describeValue(item ?? null).join(" ")).join(", ")];
  return entries.flatMap(([name, item]) => describeField(isList ? `[${name}]` : name, item ?? null));
}

function describeField(name: string, item: JsonValue): string[] {
  const lines = describeValue(item);
  const [only = ""] = lines;
  const isPlain = typeof item !== "object" || item === null || Array.isArray(item);
  return isPlain && lines.length === 1 ? [`${name}: ${only}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
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
