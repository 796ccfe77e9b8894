/**
 * The confidence of a task as a picture, `final/confidence.svg`: a bar for each phase and specialist with its four parts
 * below it, and a mark where the minimum is. Pure, and alone: no script, no font, no link; no times, so equal bytes.
 */
import { LIMITS } from "../../base/limits.js";
import { escapeXml } from "../../base/xml-text.js";
import type { ConfidenceReportView, PhaseConfidenceReport, SpecialistConfidence } from "./confidence-report.js";
import { percent } from "./confidence-text.js";

const WIDTH = 760;
const TOP = 50;
const ROW = 24;
const BAR_X = 250;
const BAR_WIDTH = 300;
const PARTS = ["knowledge", "information", "implementation", "validation"] as const;
const PART_FILLS = ["#4e79a7", "#76b7b2", "#f28e2b", "#af7aa1"] as const;
const EDGES = [
  [0.85, "#2e9e5b"],
  [0.75, "#8bb84a"],
  [0.65, "#e0a526"],
  [0, "#c9382a"],
] as const;

/** The picture as text. */
export function drawConfidence(report: ConfidenceReportView): string {
  const all = report.phases.flatMap(listRows);
  const rows = all.slice(0, LIMITS.pictureRowsMax);
  const cut = all.length - rows.length;
  const height = TOP + (rows.length + (cut > 0 ? 1 : 0)) * ROW + 34;
  const title = `Confidence of ${report.workflow}${report.confidence === undefined ? "" : `: ${percent(report.confidence)}`}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="26" font-size="15" font-weight="bold">${escapeXml(cutText(title, 80))}</text>`,
    ...rows.flatMap((row, at) => drawRow(row, TOP + at * ROW)),
    ...(cut > 0 ? [text([12, TOP + rows.length * ROW + 15], `… and ${cut} more`)] : []),
    ...drawLegend(height - 14),
    "</svg>",
    "",
  ].join("\n");
}

interface Row {
  readonly name: string;
  readonly isPhase: boolean;
  readonly value: number | undefined;
  readonly minimum?: number;
  readonly parts?: SpecialistConfidence["parts"];
  readonly note: string;
}

function listRows(phase: PhaseConfidenceReport): Row[] {
  const { name, number, status, confidence: value, minimum, evaluation, specialists } = phase;
  const score = evaluation === undefined ? "" : `, score ${evaluation.score}`;
  const own = { name: `${number} ${name}`, isPhase: true, value, minimum, note: `${status}${score}` };
  return [own, ...specialists.map(rowOf)];
}

function rowOf({ name, status, counted, claimed, parts, gap, uncertainties }: SpecialistConfidence): Row {
  const notes = [
    ...(status === "done" ? [] : [status]),
    ...(claimed !== undefined && counted !== undefined && counted < claimed ? [`claimed ${percent(claimed)}`] : []),
    ...(gap === undefined ? [] : [`${percent(gap)} off`]),
    ...(uncertainties.length === 0 ? [] : [`${uncertainties.length} uncertain`]),
  ];
  return { name, isPhase: false, value: counted, parts, note: notes.join(", ") };
}

function drawRow({ name, isPhase, value, minimum, parts, note }: Row, y: number): string[] {
  const weight = isPhase ? ' font-weight="bold"' : "";
  const lines = [text([isPhase ? 12 : 28, y + 13], cutText(name, 34), weight)];
  lines.push(`<rect x="${BAR_X}" y="${y + 3}" width="${BAR_WIDTH}" height="10" fill="#eceff1"/>`);
  if (value !== undefined) {
    lines.push(`<rect x="${BAR_X}" y="${y + 3}" width="${across(value)}" height="10" fill="${fillOf(value)}"/>`);
    lines.push(text([BAR_X + BAR_WIDTH + 8, y + 13], percent(value), weight));
  }
  if (parts !== undefined) lines.push(...drawParts(parts, y + 14));
  if (minimum !== undefined)
    lines.push(`<rect x="${BAR_X + across(minimum) - 1}" y="${y}" width="2" height="16" fill="#37474f"/>`);
  if (note !== "") lines.push(text([BAR_X + BAR_WIDTH + 58, y + 13], cutText(note, 30), ' fill="#546e7a"'));
  return lines;
}

/** The four parts share the width of the bar. */
function drawParts(parts: NonNullable<SpecialistConfidence["parts"]>, y: number): string[] {
  const share = BAR_WIDTH / PARTS.length;
  return PARTS.map((part, at) => {
    const width = Math.round(share * parts[part] * 10) / 10;
    return `<rect x="${BAR_X + at * share}" y="${y}" width="${width}" height="3" fill="${PART_FILLS[at] ?? ""}"/>`;
  });
}

function drawLegend(y: number): string[] {
  return PARTS.flatMap((part, at) => [
    `<rect x="${BAR_X + at * 120}" y="${y - 8}" width="10" height="8" fill="${PART_FILLS[at] ?? ""}"/>`,
    text([BAR_X + at * 120 + 14, y], part, ' fill="#546e7a"'),
  ]);
}

function text([x, y]: readonly [number, number], words: string, more = ""): string {
  return `<text x="${x}" y="${y}"${more}>${escapeXml(words)}</text>`;
}

function across(value: number): number {
  return Math.round(BAR_WIDTH * value * 10) / 10;
}

function fillOf(value: number): string {
  return EDGES.find(([edge]) => value >= edge)?.[1] ?? "#c9382a";
}

function cutText(words: string, charactersMax: number): string {
  return words.length <= charactersMax ? words : `${words.slice(0, charactersMax - 1)}…`;
}
