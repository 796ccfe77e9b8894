/**
 * A timeline as an SVG picture that stands alone: no script, no font, no link. Pure.
 *
 * It is written where a person asks (`show --svg FILE`) and never among the deliverables: times differ between an
 * interrupted run and an undisturbed one, and their deliverables must not. The picture there holds no times
 * (engine/reports/task-chart.ts).
 */
import { formatDuration } from "../../base/plain-text.js";
import { escapeXml } from "../../base/xml-text.js";
import type { TimelineMarkKind, TimelineSpan, TimelineView } from "../../runtime/contract.js";

import { createAxis, type Axis } from "./time-axis.js";

const WIDTH = 1000;
const LEFT = 240;
const ROW = 22;
const TOP = 48;
const PLOT = WIDTH - LEFT - 20;

const FILLS: Readonly<Record<string, string>> = {
  completed: "#2e9e5b",
  failed: "#c9382a",
  crashed: "#c9382a",
  cancelled: "#9aa0a6",
  open: "#e0a526",
};

const MARKS: Readonly<Record<TimelineMarkKind, readonly [colour: string, name: string]>> = {
  checkpoint: ["#3b6fd4", "checkpoint"],
  decision: ["#7a4fc4", "decision"],
  question: ["#e0a526", "question"],
  resumed: ["#c9382a", "resumed"],
  rolled_back: ["#8a5a2b", "rolled back"],
};

export function formatTimelineSvg(view: TimelineView): string {
  const axis = createAxis(view.working, PLOT);
  const rows = view.phases.length + view.lanes.length;
  const height = TOP + (rows + 3) * ROW;
  const lanesTop = TOP + view.phases.length * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(view.task)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text([12, 20], `${view.task}: ${view.workflow}`, 'font-size="15" font-weight="bold"'),
    text([12, 38], `${view.from} to ${view.to}, ${formatDuration(axis.workedMs / 1000)} of work`, 'fill="#555555"'),
    ...view.phases.map((phase, at) => drawPhase(phase, TOP + at * ROW, axis)),
    ...view.lanes.flatMap(({ path, spans }, at) => drawLane(path, spans, { y: lanesTop + at * ROW, axis })),
    ...drawMarks(view, { y: lanesTop + view.lanes.length * ROW + 6, axis }),
    ...drawCuts(view, { axis, height }),
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  readonly y: number;
  readonly axis: Axis;
}

function drawPhase(phase: TimelineView["phases"][number], y: number, axis: Axis): string {
  const [x, width] = stretch(axis, phase.from, phase.to);
  const confidence = phase.confidence === undefined ? "" : `, confidence ${Math.round(phase.confidence * 100)} %`;
  return [
    text([12, y + 14], `phase ${phase.number} ${phase.name}`, 'font-weight="bold"'),
    `<rect x="${x}" y="${y + 6}" width="${width}" height="8" rx="2" fill="#c9d4ea"><title>${escapeXml(`${phase.name}${confidence}`)}</title></rect>`,
  ].join("\n");
}

function drawLane(path: string, spans: readonly TimelineSpan[], { y, axis }: Place): string[] {
  return [
    text([12, y + 14], path.length > 34 ? `…${path.slice(-33)}` : path),
    ...spans.map(({ from, to, attempt, status }) => {
      const [x, width] = stretch(axis, from, to);
      const seconds = formatDuration((Date.parse(to) - Date.parse(from)) / 1000);
      const title = escapeXml(`${path}: ${status}, attempt ${attempt}, ${seconds}`);
      return `<rect x="${x}" y="${y + 3}" width="${width}" height="14" rx="3" fill="${FILLS[status] ?? "#9aa0a6"}"><title>${title}</title></rect>`;
    }),
  ];
}

function drawMarks(view: TimelineView, { y, axis }: Place): string[] {
  const used = (Object.keys(MARKS) as TimelineMarkKind[]).filter((kind) =>
    view.marks.some((mark) => mark.kind === kind),
  );
  const dots = view.marks.map(({ at, kind, text: what }) => {
    const [colour] = MARKS[kind];
    return `<circle cx="${position(axis, at)}" cy="${y + 10}" r="4" fill="${colour}"><title>${escapeXml(what)}</title></circle>`;
  });
  const legend = used.flatMap((kind, at) => {
    const [colour, name] = MARKS[kind];
    const x = LEFT + at * 120;
    return [`<circle cx="${x}" cy="${y + 36}" r="4" fill="${colour}"/>`, text([x + 10, y + 40], name)];
  });
  return [text([12, y + 14], "marks"), ...dots, ...legend];
}

/** A dashed line where time was cut out in which nobody worked. */
function drawCuts(
  { working }: TimelineView,
  { axis, height }: { readonly axis: Axis; readonly height: number },
): string[] {
  return working.slice(1).map(({ from }) => {
    const x = position(axis, from);
    return `<line x1="${x}" y1="${TOP}" x2="${x}" y2="${height - 2 * ROW}" stroke="#888888" stroke-dasharray="3 3"/>`;
  });
}

function stretch(axis: Axis, from: string, to: string): [x: number, width: number] {
  const x = position(axis, from);
  return [x, Math.max(2, round(position(axis, to) - x))];
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
