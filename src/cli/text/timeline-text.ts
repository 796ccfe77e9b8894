/**
 * A timeline as text: one bar per step over time, phases above, marks below. Pure.
 *
 * Time in which nobody worked on the task (crashed, paused, waiting) is cut out: all of it is one column, `┊`.
 */
import { formatDuration } from "../../base/plain-text.js";
import { nameStep } from "../../base/step-name.js";
import { formatMoment } from "../terminal/local-time.js";
import type { TimelineLane, TimelineMarkKind, TimelineView } from "../../runtime/contract.js";
import type { Colours } from "../terminal/output.js";
import { cleanForTerminal } from "../terminal/output.js";
import { createAxis, type Axis } from "./time-axis.js";

const LABEL_MAX = 32;
const BAR_MIN = 20;
const LANES_MAX = 200;

const FILL: Readonly<Record<string, string>> = {
  completed: "█",
  failed: "▒",
  cancelled: "░",
  crashed: "▒",
  open: "▓",
};
const FAILED = new Set(["failed", "crashed"]);

const MARKS: Readonly<Record<TimelineMarkKind, readonly [sign: string, name: string]>> = {
  checkpoint: ["■", "checkpoints"],
  decision: ["◆", "decisions"],
  question: ["?", "questions"],
  resumed: ["↻", "resumed"],
  rolled_back: ["↶", "rolled back"],
};

export interface TimelineTextOptions {
  readonly width: number;
  readonly colours: Colours;
}

export function formatTimeline(view: TimelineView, { width, colours }: TimelineTextOptions): string {
  const lanes = view.lanes.slice(-LANES_MAX);
  const names = [...lanes.map(nameLane), ...view.phases.map(({ name }) => name)];
  const label = Math.min(LABEL_MAX, Math.max(12, ...names.map((name) => name.length)));
  const axis = createAxis(view.working, Math.max(BAR_MIN, width - label - 12));
  const row = (name: string, bar: string, note = ""): string =>
    `${shorten(name, label).padEnd(label)} ${bar} ${note}`.trimEnd();
  const cut = view.lanes.length - lanes.length;
  return [
    `${cleanForTerminal(view.task)}  ${formatMoment(view.from)} to ${formatMoment(view.to)}, ${formatDuration(axis.workedMs / 1000)} of work`,
    ...view.phases.map((phase) =>
      row(
        `${phase.number} ${phase.name}`,
        drawSpan(axis, phase, "─"),
        phase.confidence === undefined ? "" : `${Math.round(phase.confidence * 100)} %`,
      ),
    ),
    ...(cut > 0 ? [`… ${cut} earlier steps (--json has all)`] : []),
    ...lanes.map((lane) => row(nameLane(lane), drawLane(axis, lane, colours), describeLane(lane))),
    ...formatMarks(view, axis, row),
    `bars: █ done  ▒ failed or crashed  ░ cancelled  ▓ open  ┊ nobody at work`,
  ].join("\n");
}

/** A step that was skipped has a moment and no identity of its own. */
function nameLane({ step, path }: TimelineLane): string {
  return nameStep(step.startsWith(`${path}@`) ? step : path);
}

function drawLane(axis: Axis, { spans }: TimelineLane, colours: Colours): string {
  const cells = axis.emptyRow();
  for (const { from, to, status } of spans) {
    const fill = FILL[status] ?? "█";
    const [first, last] = axis.cells(from, to);
    for (let at = first; at <= last; at += 1) cells[at] = FAILED.has(status) ? colours.red(fill) : colours.green(fill);
  }
  return cells.join("");
}

function drawSpan(axis: Axis, { from, to }: { readonly from: string; readonly to: string }, fill: string): string {
  const cells = axis.emptyRow();
  const [first, last] = axis.cells(from, to);
  for (let at = first; at <= last; at += 1) cells[at] = fill;
  return cells.join("");
}

function describeLane({ spans }: TimelineLane): string {
  const last = spans.at(-1);
  if (last === undefined) return "";
  const seconds = spans.reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1000, 0);
  return `${formatDuration(seconds)}${spans.length > 1 ? ` (${spans.length} attempts)` : ""}`;
}

function formatMarks(
  view: TimelineView,
  axis: Axis,
  row: (name: string, bar: string, note?: string) => string,
): string[] {
  return Object.entries(MARKS).flatMap(([kind, [sign, name]]) => {
    const marks = view.marks.filter((mark) => mark.kind === kind);
    if (marks.length === 0) return [];
    const cells = axis.emptyRow();
    for (const { at } of marks) cells[axis.cells(at, at)[0]] = sign;
    return [row(name, cells.join(""), String(marks.length))];
  });
}

function shorten(text: string, length: number): string {
  const clean = cleanForTerminal(text).replaceAll("\n", " ");
  return clean.length <= length ? clean : `…${clean.slice(clean.length - length + 1)}`;
}
