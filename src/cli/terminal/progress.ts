/**
 * Progress of a running task on stderr: one line per thing that happened, and on a terminal below them the live view.
 *
 * Showing progress never fails a run.
 */
import { isJsonObject } from "../../base/json.js";
import type { EventView, Splashdown } from "../../runtime/contract.js";
import type { GlobalOptions, Streams } from "./deps.js";
import { formatClock } from "./local-time.js";
import { startLiveView } from "./live-view.js";
import { cleanForTerminal, coloursOf, formatPercent, type Colours } from "./output.js";
import { fitColumns } from "./text-width.js";

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

/** Bookkeeping of ours: with --debug. */
const DETAILS = new Set(["snapshot_written", "checkpoint_recorded", "step_spawned"]);

/** What the live view shows as long as it is true, and lines only repeat. */
const LIVE = new Set(["scope_entered", "step_intended"]);
/** Columns of a line of progress in a pipe. */
const LINE_MAX = 110;

export interface ProgressWatch {
  stop(): void;
}

/** Lines that follow the first of a text stand below it, so that none looks like a line of its own. */
const INDENT = "\n           ";

export function watchProgress(splashdown: Splashdown, streams: Streams, options: GlobalOptions): ProgressWatch {
  if (options.json === true || options.quiet === true) return { stop: () => undefined };
  const colours = coloursOf(streams);
  const { screen } = streams;
  const stopLive = screen?.canRedraw !== true ? undefined : startLiveView({ splashdown, screen, colours });
  const stopEvents = splashdown.on("event", (event) => {
    if (!isShown(event, options.debug === true) || (stopLive !== undefined && LIVE.has(event.type))) return;
    const text = cleanForTerminal(event.text).replaceAll("\n", INDENT);
    streams.error(`${colours.dim(formatClock(event.at))} ${markOf(event, colours)} ${text}\n`);
  });
  const stopProgress = splashdown.on("progress", ({ step, fraction, message }) => {
    if (stopLive !== undefined) return;
    const share = fraction === undefined ? "" : ` ${formatPercent(fraction)}`;
    const line = cleanForTerminal(`${step}${share} ${message ?? ""}`).replaceAll("\n", " ");
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

/** The root scope and steps that only carry a value are no news. */
function isShown(event: EventView, isDetailed: boolean): boolean {
  if (!SHOWN.has(event.type) && !(isDetailed && DETAILS.has(event.type))) return false;
  const isScope = event.type === "scope_entered" || event.type === "scope_left";
  return !isScope || event.event["phase"] !== undefined;
}

export function markOf({ type, event }: Pick<EventView, "type" | "event">, colours: Colours): string {
  const { disposition } = event;
  if (isJsonObject(disposition) && disposition["action"] === "pause_until") return colours.yellow("…");
  if (type.endsWith("failed")) return colours.red("✗");
  if (type === "step_completed" || type === "scope_left") return colours.green("✓");
  if (type === "question_opened") return colours.yellow("?");
  if (type === "node_skipped") return colours.dim("–");
  if (type === "decision_made" || type === "evaluation_completed") return colours.cyan("◆");
  if (type === "snapshot_written") return colours.dim("■");
  return colours.dim("·");
}
