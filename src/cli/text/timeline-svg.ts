/**
 * A timeline as an SVG picture that stands alone: no script, no font, no link. Pure.
 *
 * It is written where a person asks (`show --svg FILE`) and never among the deliverables: times differ between an
 * interrupted run and an undisturbed one, and their deliverables must not. The picture there holds no times
 * (engine/reports/task-chart.ts).
 */
import { formatDuration } from "../../base/plain-text.js";
import { nameStep } from "../../base/step-name.js";
import { escapeXml } from "../../base/xml-text.js";
import type { TimelineLane, TimelineMarkKind, TimelineView } from "../../runtime/contract.js";
import { formatMoment } from "../terminal/local-time.js";
import { fitColumns } from "../terminal/text-width.js";
import { createAxis, type Axis } from "./time-axis.js";

const WIDTH = 1000;
const EDGE = 16;
const LEFT = 250;
/** Durations stand to the right of the bars. */
const RIGHT = 130;
const PLOT = WIDTH - LEFT - RIGHT - EDGE;
const ROW = 24;
const TOP = 92;
const LABEL_COLUMNS = 32;
const TICKS_MAX = 9;

const INK = "#1f2328";
const FAINT = "#656d76";
const GRID = "#e3e6ea";
const STRIPE = "#f6f8fa";

const FILLS: Readonly<Record<string, readonly [colour: string, name: string]>> = {
  completed: ["#2e9e5b", "done"],
  failed: ["#c9382a", "failed"],
  crashed: ["#e5897f", "cut off by a crash"],
  cancelled: ["#9aa0a6", "cancelled"],
  open: ["#e0a526", "not ended"],
  skipped: ["#d0d7de", "skipped"],
};

const MARKS: Readonly<Record<TimelineMarkKind, readonly [colour: string, name: string]>> = {
  checkpoint: ["#3b6fd4", "checkpoints"],
  decision: ["#7a4fc4", "decisions"],
  question: ["#c98a00", "questions"],
  resumed: ["#c9382a", "resumed"],
  rolled_back: ["#8a5a2b", "went back"],
};

export function formatTimelineSvg(view: TimelineView): string {
  const axis = createAxis(view.working, PLOT);
  const rows = [
    ...view.phases.map((phase) => (y: number) => drawPhase(phase, { y, axis })),
    ...view.lanes.map((lane, at) => (y: number) => drawLane(lane, at + 1, { y, axis })),
    ...listMarks(view).map((kind) => (y: number) => drawMarks(view, kind, { y, axis })),
  ];
  const bottom = TOP + rows.length * ROW;
  const height = bottom + 56;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}">`,
    `<title>${escapeXml(view.task)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text([EDGE, 28], view.workflow, 'font-size="16" font-weight="bold"'),
    text([EDGE, 48], describe(view, axis), `fill="${FAINT}"`),
    ...rows.flatMap((_row, at) =>
      at % 2 === 0 ? [`<rect x="0" y="${TOP + at * ROW}" width="${WIDTH}" height="${ROW}" fill="${STRIPE}"/>`] : [],
    ),
    ...drawAxis(axis, bottom),
    ...rows.flatMap((draw, at) => draw(TOP + at * ROW)),
    ...drawCuts(view, { axis, bottom }),
    ...drawLegend(view, bottom + 30),
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  readonly y: number;
  readonly axis: Axis;
}

function describe(view: TimelineView, axis: Axis): string {
  const work = `${formatDuration(axis.workedMs / 1000)} of work`;
  return `task ${view.task} · ${formatMoment(view.from)} to ${formatMoment(view.to)} · ${work}`;
}

/** Seconds between two marks of the axis. */
const STEPS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
  604_800,
];

/** Time at work, from the start; a grid line down through all rows. */
function drawAxis(axis: Axis, bottom: number): string[] {
  const seconds = axis.workedMs / 1000;
  const step = STEPS.find((each) => seconds / each <= TICKS_MAX) ?? Math.ceil(seconds / TICKS_MAX);
  const count = seconds === 0 ? 1 : Math.floor(seconds / step) + 1;
  return Array.from({ length: count }, (_tick, at) => {
    const x = round(LEFT + (seconds === 0 ? 0 : (at * step) / seconds) * PLOT);
    return [
      `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${bottom}" stroke="${GRID}"/>`,
      text([x, TOP - 12], formatTick(at * step), `fill="${FAINT}" font-size="11" text-anchor="middle"`),
    ].join("\n");
  });
}

/** Shape: `0`, `0.5 s`, `30 s`, `5 min`, `1 h 30 min`, `2 d`. */
function formatTick(seconds: number): string {
  if (seconds === 0) return "0";
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 3600) return seconds % 60 === 0 ? `${seconds / 60} min` : formatDuration(seconds);
  if (seconds >= 172_800) return `${Math.round(seconds / 86_400)} d`;
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : formatDuration(seconds);
}

function drawPhase(phase: TimelineView["phases"][number], { y, axis }: Place): string[] {
  const [x, width] = stretch(axis, phase.from, phase.to);
  const confidence = phase.confidence === undefined ? "" : `confidence ${Math.round(phase.confidence * 100)} %`;
  return [
    text([EDGE, y + 16], fitColumns(`Phase ${phase.number}: ${phase.name}`, LABEL_COLUMNS), 'font-weight="bold"'),
    `<rect x="${x}" y="${y + 8}" width="${width}" height="8" rx="2" fill="#b7c6e6"><title>${escapeXml(phase.name)}</title></rect>`,
    note(y, confidence),
  ];
}

function drawLane({ step, path, spans }: TimelineLane, number: number, { y, axis }: Place): string[] {
  const name = nameStep(step.startsWith(`${path}@`) ? step : path);
  const isSkipped = spans.every(({ status }) => status === "skipped");
  const seconds = spans.reduce((sum, { from, to }) => sum + secondsOf(from, to), 0);
  return [
    text([EDGE + 18, y + 16], String(number), `fill="${FAINT}" font-size="10" text-anchor="end"`),
    text([EDGE + 26, y + 16], fitColumns(name, LABEL_COLUMNS)),
    ...spans.map(({ from, to, attempt, status }) => {
      const [x, width] = stretch(axis, from, to);
      const [fill] = FILLS[status] ?? FILLS["cancelled"] ?? [FAINT];
      const title = escapeXml(`${name}: ${status}, attempt ${attempt}, ${formatDuration(secondsOf(from, to))}`);
      return `<rect x="${x}" y="${y + 5}" width="${width}" height="14" rx="3" fill="${fill}"><title>${title}</title></rect>`;
    }),
    note(
      y,
      isSkipped ? "skipped" : `${formatDuration(seconds)}${spans.length > 1 ? ` · ${spans.length} attempts` : ""}`,
    ),
  ];
}

function listMarks(view: TimelineView): TimelineMarkKind[] {
  return (Object.keys(MARKS) as TimelineMarkKind[]).filter((kind) => view.marks.some((mark) => mark.kind === kind));
}

/** Thin strokes, so that many beside each other can still be told apart. */
function drawMarks(view: TimelineView, kind: TimelineMarkKind, { y, axis }: Place): string[] {
  const [colour, name] = MARKS[kind];
  const marks = view.marks.filter((mark) => mark.kind === kind);
  return [
    text([EDGE + 26, y + 16], name, `fill="${FAINT}"`),
    ...marks.map(
      ({ at, text: what }) =>
        `<rect x="${round(position(axis, at) - 1)}" y="${y + 6}" width="2.5" height="12" rx="1" fill="${colour}"><title>${escapeXml(what)}</title></rect>`,
    ),
    note(y, String(marks.length)),
  ];
}

function note(y: number, what: string): string {
  return text([WIDTH - EDGE, y + 16], what, `fill="${FAINT}" text-anchor="end"`);
}

/** Dashed lines where time was cut out in which nobody worked, with how long that was. */
function drawCuts(
  { working }: TimelineView,
  { axis, bottom }: { readonly axis: Axis; readonly bottom: number },
): string[] {
  return working.slice(1).flatMap(({ from }, at) => {
    const x = position(axis, from);
    const idle = formatDuration(secondsOf(working[at]?.to ?? from, from));
    return [
      `<line x1="${x}" y1="${TOP - 6}" x2="${x}" y2="${bottom}" stroke="#57606a" stroke-dasharray="3 3"/>`,
      text([x, TOP - 28], `${idle} later`, `fill="${INK}" font-size="11" text-anchor="middle"`),
    ];
  });
}

/** The colours of the bars that there are. */
function drawLegend(view: TimelineView, y: number): string[] {
  const used = new Set(view.lanes.flatMap(({ spans }) => spans.map(({ status }) => status)));
  const shown = Object.entries(FILLS).filter(([status]) => used.has(status));
  const entries = shown.map(([, [colour, name]]) => ({ colour, name }));
  let x = LEFT;
  return entries.map(({ colour, name }) => {
    const at = x;
    x += 36 + name.length * 6.5;
    return [
      `<rect x="${round(at)}" y="${y - 10}" width="14" height="12" rx="3" fill="${colour}"/>`,
      text([round(at + 20), y], name, `fill="${FAINT}"`),
    ].join("\n");
  });
}

function secondsOf(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1000;
}

function stretch(axis: Axis, from: string, to: string): [x: number, width: number] {
  const x = position(axis, from);
  return [x, Math.max(3, round(position(axis, to) - x))];
}

function position(axis: Axis, at: string): number {
  return round(LEFT + axis.share(at) * PLOT);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function text([x, y]: readonly [number, number], content: string, attributes = ""): string {
  return `<text x="${x}" y="${y}"${attributes === "" ? "" : ` ${attributes}`}>${escapeXml(content)}</text>`;
}
