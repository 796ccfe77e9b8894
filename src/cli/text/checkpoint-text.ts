/** One checkpoint as text that a person likes to read: `checkpoints show`. `--json` has everything. Pure. */
import type { CommandWriter } from "../../base/command-text.js";
import { formatDuration } from "../../base/plain-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import {
  cleanForTerminal,
  colourStatus,
  formatPercent,
  formatSize,
  formatTable,
  textOf,
  type Colours,
} from "../terminal/output.js";
import type { MetricsView } from "../../runtime/contract.js";
import { formatValue } from "./step-text.js";
import { formatClock, formatMoment } from "../terminal/local-time.js";
import { formatSpent, spentOf } from "../terminal/spent.js";

const DECISIONS_MAX = 5;
const INDENT = "  ";

export function formatCheckpoint(view: JsonObject, colours: Colours, write: CommandWriter): string {
  const reference = `${textOf(view["task"])}:${textOf(view["seq"])}`;
  return [
    `${colours.bold(line(reference))}  ${colourStatus(colours, textOf(view["status"]))}: ${line(textOf(view["trigger"]))} in phase ${textOf(view["phase"])}`,
    `${INDENT}${formatMoment(textOf(view["timestamp"]))}, ${describeFile(view)}`,
    `${INDENT}id ${textOf(view["checkpoint_id"])}`,
    ...noteOf("note", view["note"]),
    ...noteOf("metadata", view["metadata"]),
    ...section("phases", formatPhases(listOf(view["phases"]))),
    ...section("agents", formatAgents(view["agents"] ?? {})),
    ...section("decisions", formatDecisions(listOf(view["decisions"]))),
    ...section(
      "questions",
      listOf(view["questions"]).map((question) => `? ${line(textOf(question["text"]))}`),
    ),
    ...formatValues(view["values"]),
    ...section("figures", formatFigures(view)),
    "",
    `${INDENT}continue from here: ${write("fork", [textOf(view["task"])], { "--from": textOf(view["seq"]) })}`,
    `${INDENT}everything: ${write("checkpoints show", [reference], { "--json": true })}`,
  ].join("\n");
}

function describeFile(view: JsonObject): string {
  const { file, size, pinned, reachable, position } = view;
  const pin = pinned === true ? ", pinned" : "";
  if (reachable === false) return `unreachable: the history before it was removed${pin}`;
  if (typeof file !== "string") return `no file: record ${textOf(position)} of the journal${pin}`;
  return `${line(file)}${typeof size === "number" ? ` (${formatSize(size)})` : ""}${pin}`;
}

function noteOf(name: string, value: unknown): string[] {
  return value === undefined || value === "" ? [] : [`${INDENT}${name}: ${line(textOf(value))}`];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((text) => `${INDENT}${text}`)];
}

/** Each under its own title; long ones are cut. */
function formatValues(values: JsonValue | undefined): string[] {
  if (!isJsonObject(values ?? null)) return [];
  return Object.entries(values as JsonObject).flatMap(([kind, held]) =>
    Object.entries(isJsonObject(held ?? null) ? (held as JsonObject) : {}).flatMap(([name, value]) =>
      section(`${kind.replace(/s$/, "")} ${line(name)}`, formatValue(value ?? null)),
    ),
  );
}

function formatPhases(phases: readonly JsonObject[]): string[] {
  return phases.map(({ number, name, status, iteration, confidence }) =>
    line(
      `${textOf(number)} ${textOf(name)}: ${textOf(status)}, iteration ${textOf(iteration)}, confidence ${shareOf(confidence)}`,
    ),
  );
}

function formatAgents(agents: JsonValue): string[] {
  if (!isJsonObject(agents)) return [];
  const rows = Object.entries(agents).flatMap(([key, value]) =>
    isJsonObject(value ?? null) ? [describeAgent(key, value as JsonObject)] : [],
  );
  return rows.length === 0
    ? []
    : formatTable(["AGENT", "NAME", "STATUS", "CONFIDENCE", "OUTPUT", "BLOCKED BY"], rows).split("\n");
}

function describeAgent(key: string, { name, status, confidence, output_ref: output, blockers }: JsonObject): string[] {
  const blockedBy = Array.isArray(blockers) ? blockers.map(textOf).join("; ") : "";
  return [key, textOf(name), textOf(status), shareOf(confidence), textOf(output), blockedBy];
}

function formatDecisions(decisions: readonly JsonObject[]): string[] {
  const shown = decisions.slice(-DECISIONS_MAX);
  const cut = decisions.length - shown.length;
  return [
    ...(cut === 0 ? [] : [`… ${cut} earlier`]),
    ...shown.flatMap(({ timestamp, agent, description, rationale }) => [
      line(`${formatClock(textOf(timestamp))} ${textOf(agent)}: ${textOf(description)}`),
      ...(textOf(rationale) === "" ? [] : [`${INDENT}because ${line(textOf(rationale))}`]),
    ]),
  ];
}

function formatFigures({ steps, metrics }: JsonObject): string[] {
  const { done, failed, skipped, open } = (steps ?? {}) as JsonObject;
  const figures = (metrics ?? {}) as JsonObject;
  const number = (name: string): number => Number(figures[name] ?? 0);
  return [
    `steps ${textOf(done)} done, ${textOf(failed)} failed, ${textOf(skipped)} skipped, ${textOf(open)} open`,
    `${formatDuration(number("elapsed_time"))} of work, ${formatSpent(spentOf(metrics as unknown as MetricsView))}, memory up to ${number("memory_peak")} MiB`,
  ];
}

function shareOf(confidence: unknown): string {
  return typeof confidence === "number" ? formatPercent(confidence) : "–";
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]) : [];
}

/** Text of others on one line. */
function line(text: string): string {
  return cleanForTerminal(text).replaceAll(/[\n\t]+/g, " ");
}
