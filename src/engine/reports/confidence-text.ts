/** The confidence of a task as a person reads it: a bar for each phase and specialist, what was measured, what is uncertain. */
import type { JsonValue } from "../../base/json.js";
import type { ConfidenceReportView, PhaseConfidenceReport, SpecialistConfidence } from "./confidence-report.js";

const BAR_CELLS = 20;
const NAME_CELLS = 24;

/** Shape: lines with a final newline; no times, so that equal tasks give equal texts. */
export function formatConfidence({ workflow, confidence, phases }: ConfidenceReportView): string {
  const whole = confidence === undefined ? "not known" : `${percent(confidence)}, that of its least sure phase`;
  const parts = phases.map(formatPhase);
  const none = phases.length === 0 ? ["", "it has no phases"] : [];
  return [`confidence of ${workflow}: ${whole}`, ...none, ...parts.flatMap((lines) => ["", ...lines]), ""].join("\n");
}

function formatPhase(phase: PhaseConfidenceReport): string[] {
  const { name, number, status, confidence, minimum, evaluation, specialists } = phase;
  const goal = confidence !== undefined && confidence < minimum ? `under ${percent(minimum)}` : "";
  const head = row(`${number} ${name}`, confidence, `${status} ${goal}`.trim());
  const dimensions = Object.entries(evaluation?.dimensions ?? {}).map(([dimension, score]) => `${dimension} ${score}`);
  const scored =
    evaluation === undefined
      ? []
      : [
          `  score ${evaluation.score} in iteration ${evaluation.iteration} of ${evaluation.iterations}: ${evaluation.verdict ?? "not judged"} (${dimensions.join(", ")})`,
        ];
  return [head, ...scored, ...specialists.flatMap(formatSpecialist)];
}

function formatSpecialist(specialist: SpecialistConfidence): string[] {
  const { name, status, counted, claimed, parts, gap, record, uncertainties } = specialist;
  const said = status === "done" && counted === undefined ? "says nothing of it" : status === "done" ? "" : status;
  const lowered =
    claimed !== undefined && counted !== undefined && counted < claimed ? `claimed ${percent(claimed)}` : "";
  const apart = gap === undefined ? "" : `${percent(gap)} off what was measured`;
  const known =
    record === undefined
      ? ""
      : `its last ${record.tasks} tasks claimed ${percent(record.claimed)}, measured ${percent(record.measured)}`;
  const four = parts === undefined ? [] : [`    ${describeParts(parts)}`];
  return [
    row(`  ${name}`, counted, [said, lowered, apart, known].filter((text) => text !== "").join(", ")),
    ...four,
    ...uncertainties.map((uncertainty) => `    ? ${textOf(uncertainty)}`),
  ];
}

function describeParts(parts: NonNullable<SpecialistConfidence["parts"]>): string {
  return Object.entries(parts)
    .map(([part, value]) => `${part} ${percent(value as number)}`)
    .join(" · ");
}

function row(name: string, confidence: number | undefined, rest: string): string {
  const shown = confidence === undefined ? "" : `${bar(confidence)} ${percent(confidence).padStart(5)}`;
  return `${name.padEnd(NAME_CELLS)} ${shown.padEnd(BAR_CELLS + 6)}  ${rest}`.trimEnd();
}

function bar(confidence: number): string {
  const full = Math.round(confidence * BAR_CELLS);
  return "█".repeat(full) + "░".repeat(BAR_CELLS - full);
}

/** Units: 0..1 as whole per cent. */
export function percent(value: number): string {
  return `${Math.round(value * 100)} %`;
}

/** One line of a value. */
export function textOf(value: JsonValue): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).replace(/\s+/g, " ");
}
