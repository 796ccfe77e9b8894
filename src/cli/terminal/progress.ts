/**
 * Progress of a running task on stderr: one line per thing that happened, and on a terminal below them the live view.
 *
 * Showing progress never fails a run.
 */
import { isJsonObject } from "../../base/json.js";
import { nameStep } from "../../base/step-name.js";
import type { EventView, Splashdown } from "../../runtime/contract.js";
import type { GlobalOptions, Streams } from "./deps.js";
import { formatClock, localTimes } from "./local-time.js";
import { startLiveView } from "./live-view.js";
import { isOfItem, LoopLines } from "./loop-lines.js";
import { cleanForTerminal, coloursOf, formatPercent, type Colours } from "./output.js";
import { fitColumns, wrapColumns } from "./text-width.js";

const SHOWN = new Set([
  "task_started",
  "task_resumed",
  "scope_entered",
  "scope_left",
  "iteration_started",
  "node_skipped",
  "step_intended",
  "step_completed",
  "step_failed",
  "step_cancelled",
  "decision_made",
  "question_opened",
  "question_answered",
  "question_moved",
  "question_reminded",
  "hook_told",
  "evaluation_completed",
  "snapshot_failed",
  "milestone_reached",
  "noted",
]);

/** Bookkeeping of ours: with --verbose. */
const DETAILS = new Set(["snapshot_written", "checkpoint_recorded", "step_spawned"]);

/** Events that need no line: the live view shows them while they last, and a question is asked below it. */
const LIVE = new Set(["scope_entered", "step_intended", "question_opened"]);
/** Events of a loop's items, which the live view counts. */
const COUNTED = new Set(["step_completed", "step_cancelled", "node_skipped"]);
/** Columns of a line of progress in a pipe. */
const LINE_MAX = 110;

export interface ProgressWatch {
  stop(): void;
}

/** Lines that follow the first of a text stand below it, so that none looks like a line of its own. */
const INDENT = 11;

export function watchProgress(splashdown: Splashdown, streams: Streams, options: GlobalOptions): ProgressWatch {
  if (options.json === true || options.quiet === true) return { stop: () => undefined };
  const colours = coloursOf(streams);
  const screen = streams.screen?.canRedraw === true ? streams.screen : undefined;
  const isVerbose = options.verbose === true || options.debug === true;
  const stopLive = screen === undefined ? undefined : startLiveView({ splashdown, screen, colours });
  const loops = new LoopLines(splashdown);
  const stopEvents = splashdown.on("event", (event) => {
    const ofLoop = loops.note(event);
    const isQuiet = screen !== undefined && !isVerbose;
    if (!isShown(event, isVerbose) && ofLoop === undefined) return;
    if (isQuiet && (LIVE.has(event.type) || isCounted(event))) return;
    const text = placeLines(cleanForTerminal(localTimes(ofLoop ?? event.text)), screen?.size().columns);
    streams.error(`${colours.dim(formatClock(event.at))} ${markOf(event, colours)} ${text}\n`);
  });
  const stopProgress = splashdown.on("progress", ({ step, fraction, message }) => {
    if (screen !== undefined) return;
    const share = fraction === undefined ? "" : ` ${formatPercent(fraction)}`;
    const line = cleanForTerminal(`${nameStep(step)}${share} ${message ?? ""}`).replaceAll("\n", " ");
    streams.error(`         ${fitColumns(line.trimEnd(), LINE_MAX)}\n`);
  });
  return {
    stop: () => {
      stopEvents();
      stopProgress();
      stopLive?.();
    },
  };
}

/** On a terminal broken between words, so that what follows stands below the first. */
function placeLines(text: string, columns: number | undefined): string {
  const lines = columns === undefined ? text.split("\n") : wrapColumns(text, Math.max(INDENT, columns - 1 - INDENT));
  return lines.join(`\n${" ".repeat(INDENT)}`);
}

/** The root scope and steps that only carry a value are no news. */
function isShown(event: EventView, isDetailed: boolean): boolean {
  if (!SHOWN.has(event.type) && !(isDetailed && DETAILS.has(event.type))) return false;
  const isScope = event.type === "scope_entered" || event.type === "scope_left";
  return !isScope || event.event["phase"] !== undefined;
}

function isCounted({ type, event }: EventView): boolean {
  const { step, path } = event;
  const of = typeof step === "string" ? step : typeof path === "string" ? path : "";
  return COUNTED.has(type) && isOfItem(of);
}

export function markOf({ type, event }: Pick<EventView, "type" | "event">, colours: Colours): string {
  const { disposition, outcome } = event;
  const action = isJsonObject(disposition) ? disposition["action"] : undefined;
  if (typeof action === "string" && AGAIN.has(action)) return colours.yellow("…");
  if (type.endsWith("failed") || outcome === "failed") return colours.red("✗");
  if (outcome === "partial") return colours.yellow("!");
  const [colour, mark] = MARKS[type] ?? ["dim", "·"];
  return colours[colour](mark);
}

/** It failed and is tried again. */
const AGAIN: ReadonlySet<string> = new Set(["pause_until", "retry", "restart"]);

const MARKS: Readonly<Record<string, readonly [keyof Colours, string]>> = {
  step_completed: ["green", "✓"],
  scope_left: ["green", "✓"],
  question_opened: ["yellow", "?"],
  node_skipped: ["dim", "–"],
  decision_made: ["cyan", "◆"],
  evaluation_completed: ["cyan", "◆"],
  snapshot_written: ["dim", "■"],
};
