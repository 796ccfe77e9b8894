/**
 * Progress of a running task on stderr: one line per thing that happened, and on a terminal a last line that moves.
 *
 * Showing progress never fails a run.
 */
import type { EventView, Splashdown } from "../runtime/contract.js";
import type { GlobalOptions, Streams } from "./deps.js";
import { cleanForTerminal, coloursOf, type Colours } from "./output.js";

const SHOWN = new Set([
  "task_started",
  "task_resumed",
  "scope_entered",
  "scope_left",
  "iteration_started",
  "step_intended",
  "step_completed",
  "step_failed",
  "step_cancelled",
  "decision_made",
  "question_opened",
  "question_answered",
  "evaluation_completed",
  "snapshot_written",
  "snapshot_failed",
  "milestone_reached",
  "noted",
]);

export interface ProgressWatch {
  stop(): void;
}

export function watchProgress(splashdown: Splashdown, streams: Streams, options: GlobalOptions): ProgressWatch {
  if (options.json === true || options.quiet === true) return { stop: () => undefined };
  const colours = coloursOf(streams);
  let transient = false;
  const clear = (): void => {
    if (transient) streams.error("\r\u001b[2K");
    transient = false;
  };
  const stopEvents = splashdown.on("event", (event) => {
    if (!isShown(event)) return;
    clear();
    streams.error(
      `${colours.dim(event.at.slice(11, 19))} ${markOf(event.type, colours)} ${cleanForTerminal(event.text)}\n`,
    );
  });
  const stopProgress = splashdown.on("progress", ({ step, fraction, message }) => {
    const share = fraction === undefined ? "" : ` ${String(Math.round(fraction * 100)).padStart(3)} %`;
    const line = cleanForTerminal(`${step}${share} ${message ?? ""}`)
      .replaceAll("\n", " ")
      .slice(0, 110);
    if (streams.interactive) {
      streams.error(`\r\u001b[2K${colours.dim(line)}`);
      transient = true;
    } else {
      streams.error(`         ${line}\n`);
    }
  });
  return {
    stop: () => {
      clear();
      stopEvents();
      stopProgress();
    },
  };
}

/** The root scope and steps that only carry a value are no news. */
function isShown(event: EventView): boolean {
  if (!SHOWN.has(event.type)) return false;
  const isScope = event.type === "scope_entered" || event.type === "scope_left";
  return !isScope || event.event["phase"] !== undefined;
}

function markOf(type: string, colours: Colours): string {
  if (type.endsWith("failed")) return colours.red("✗");
  if (type === "step_completed" || type === "scope_left") return colours.green("✓");
  if (type === "question_opened") return colours.yellow("?");
  if (type === "decision_made" || type === "evaluation_completed") return colours.cyan("◆");
  if (type === "snapshot_written") return colours.dim("■");
  return colours.dim("·");
}
