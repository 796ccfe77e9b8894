/** `logs`: what happened in a task and what its steps printed, as lines in order. Pure, but for what it remembers of the day. */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { EventView } from "../../runtime/contract.js";
import { formatClock, formatDay, formatZone, localTimes } from "../terminal/local-time.js";
import { cleanForTerminal, type Colours } from "../terminal/output.js";
import { markOf } from "../terminal/progress.js";

/** One thing that happened; `printed`: what a step wrote, in lines. */
export interface LogEntry {
  readonly n: number;
  readonly at: string;
  readonly type: string;
  readonly step?: string;
  readonly text: string;
  readonly printed?: readonly string[];
  /** The outcome of a phase or group that ended. */
  readonly outcome?: string;
  /** The time until which a provider or server asked to wait. */
  readonly until?: string;
}

/** Event types that are bookkeeping and stay out of `logs`; `events` shows them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "step_spawned",
  "server_spawned",
  "server_ended",
  "call_begun",
  "channel_changed",
  "checkpoint_recorded",
  "snapshot_written",
  "time_counted",
  "pruned",
  "tool_completed",
  "substep_intended",
]);

/** `undefined` for what a log leaves out. */
export function readLogEntry({ n, at, type, text, event }: EventView): LogEntry | undefined {
  if (LEFT_OUT.has(type) || (type.startsWith("scope_") && event["phase"] === undefined)) return undefined;
  const { step } = event;
  const printed = readPrinted(type, event);
  const { disposition, outcome } = event;
  const untilMs = get(disposition, "action") === "pause_until" ? get(disposition, "atMs") : undefined;
  return {
    n,
    at,
    type,
    ...(typeof step === "string" ? { step } : {}),
    text,
    ...(printed.length === 0 ? {} : { printed }),
    ...(typeof outcome === "string" ? { outcome } : {}),
    ...(typeof untilMs === "number" ? { until: new Date(untilMs).toISOString() } : {}),
  };
}

/** True for an entry of the step, which may be given by identity, path, the end of a path, or name. */
export function isOfStep({ step = "" }: LogEntry, wanted: string): boolean {
  const path = step.slice(0, step.lastIndexOf("@"));
  return step === wanted || path === wanted || path.endsWith(`/${wanted}`);
}

/** Writes entries as text, the day above the first of each. */
export class LogText {
  #day = "";

  constructor(private readonly colours: Colours) {}

  format(entry: LogEntry): string {
    const { colours } = this;
    const day = `${formatDay(entry.at)} ${formatZone(entry.at)}`;
    const head = day === this.#day ? [] : [colours.dim(`── ${day} ──`)];
    this.#day = day;
    const [first = "", ...rest] = cleanForTerminal(localTimes(entry.text)).split("\n");
    return [
      ...head,
      `${colours.dim(formatClock(entry.at))} ${markOfEntry(entry, colours)} ${first}`,
      ...rest.map((line) => `           ${line}`),
      ...(entry.printed ?? []).map((line) => `         ${colours.dim("|")} ${cleanForTerminal(line)}`),
    ].join("\n");
  }
}

function markOfEntry({ type, until, outcome }: LogEntry, colours: Colours): string {
  return until === undefined
    ? markOf({ type, event: outcome === undefined ? {} : { outcome } }, colours)
    : colours.yellow("…");
}

/** The printed lines of an event: stderr of a program, all output of a script, the words of a model in a turn. */
function readPrinted(type: string, event: EventView["event"]): string[] {
  if (type === "step_completed") return [...linesOf(event["stderr"]), ...readScript(valueOf(event["output"]))];
  if (type === "step_failed") return linesOf(get(get(event["error"], "details"), "stderr"));
  if (type === "turn_recorded") return linesOf(get(valueOf(event["value"]), "say"));
  return [];
}

/** A script's output is what it printed. */
function readScript(output: JsonValue | undefined): string[] {
  const [stdout, stderr] = [get(output, "stdout"), get(output, "stderr")];
  return get(output, "exit_code") === undefined ? [] : [...linesOf(stdout), ...linesOf(stderr)];
}

function valueOf(ref: JsonValue | undefined): JsonValue | undefined {
  return get(ref, "inline");
}

function get(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value ?? null) ? (value as { readonly [key: string]: JsonValue })[name] : undefined;
}

function linesOf(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.trimEnd() === "" ? [] : text.trimEnd().split("\n");
}
