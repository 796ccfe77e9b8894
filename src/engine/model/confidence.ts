/**
 * The confidence of a phase and what the orchestrator makes of it.
 *
 * Phase confidence: the mean of the specialists' confidences weighted by criticality, less 0.02 per open uncertainty, at
 * most 0.1; a restart of a specialist and a roll-back of the phase count as one uncertainty each. A specialist that failed and was gone on without counts as 0.5 of certainty: the phase knows less, not nothing.
 * One that reports no confidence is not counted. A specialist that was added stands for the one it helps: the higher of
 * the two confidences counts, and its own uncertainties replace those it was to clear up.
 * Claimed against measured: a claim of 0.90 or more with a quality under 80 is multiplied by 0.8; a gap over 0.15 between
 * claim and measured score is flagged. A specialist whose claims in at least three earlier tasks were too high by over 0.15
 * in the mean is believed by the share that was measured of them; the lower of the two counts, and no record raises a claim.
 * Units: confidences 0..1, scores 0–100. Source: DESIGN section 5.
 */
import type { JsonValue } from "../../base/json.js";
import type { ConfidenceRule } from "../../definition/model/phase-rules.js";
import type { PhaseScope } from "../../definition/model/workflow.js";
import type { Criticality } from "../../definition/model/values.js";

export const CRITICALITY_WEIGHT: Readonly<Record<Criticality, number>> = {
  critical: 2,
  high: 1.5,
  standard: 1,
  low: 0.7,
};
const UNCERTAINTY_COST = 0.02;
const UNCERTAINTY_COST_MAX = 0.1;
const FAILED_CONFIDENCE = 0.5;
const CLAIM_HIGH = 0.9;
const QUALITY_LOW = 80;
const CLAIM_FACTOR = 0.8;
const GAP_MAX = 0.15;
/** Fewer tasks say nothing of a specialist. */
export const RECORD_TASKS_MIN = 3;

export interface SpecialistReport {
  readonly name: string;
  readonly criticality: Criticality;
  /** `failed`: gone on without it. */
  readonly failed: boolean;
  readonly confidence?: number;
  readonly uncertainties: readonly JsonValue[];
  /** Times it was restarted. */
  readonly restarts?: number;
  /** The specialist this one was added for. */
  readonly addresses?: string;
}

export interface PhaseConfidence {
  /** `undefined` when nobody reported any. */
  readonly value?: number;
  readonly mean?: number;
  readonly penalty: number;
  /** Restarts and roll-backs that count in the penalty. */
  readonly setbacks: number;
  readonly uncertainties: readonly { readonly specialist: string; readonly uncertainty: JsonValue }[];
  /** The specialist with the lowest confidence of its own. */
  readonly weakest?: string;
  /** Who failed for good: they are not started once more under another name. */
  readonly failed?: readonly string[];
}

/** What Apollo measured in the phase. */
export interface Measured {
  readonly score: number;
  readonly quality?: number;
}

/** How a specialist's claims stood in earlier tasks: means over those in which it was measured. Units: 0..1. */
export interface TrackRecord {
  readonly tasks: number;
  readonly claimed: number;
  readonly measured: number;
}

/** By path of the specialist. */
export type TrackRecords = Readonly<Record<string, TrackRecord>>;

export interface CheckedClaim {
  /** What counts. */
  readonly value: number;
  /** By the quality that was measured. */
  readonly reduced: boolean;
  /** Gap between claim and measured score, when it is over 0.15. */
  readonly gap?: number;
  /** The record that the claim was lowered for, where that made a difference. */
  readonly record?: TrackRecord;
}

/** Units: `rollbacks`: times the phase was rolled back. */
export function computePhaseConfidence(reports: readonly SpecialistReport[], rollbacks = 0): PhaseConfidence {
  const merged = mergeHelpers(reports);
  const counted = merged.filter((report) => report.failed || report.confidence !== undefined);
  const uncertainties = merged.flatMap((report) =>
    report.uncertainties.map((uncertainty) => ({ specialist: report.name, uncertainty })),
  );
  const setbacks = merged.reduce((sum, report) => sum + (report.restarts ?? 0), rollbacks);
  const cost = UNCERTAINTY_COST * (uncertainties.length + setbacks);
  const penalty = roundShare(Math.min(UNCERTAINTY_COST_MAX, cost));
  const failed = merged.flatMap((report) => (report.failed ? [report.name] : []));
  if (counted.length === 0) return { penalty, setbacks, uncertainties, ...(failed.length === 0 ? {} : { failed }) };
  let sum = 0;
  let weights = 0;
  let weakest = counted[0];
  for (const report of counted) {
    const weight = CRITICALITY_WEIGHT[report.criticality];
    sum += weight * confidenceOf(report);
    weights += weight;
    if (weakest === undefined || confidenceOf(report) < confidenceOf(weakest)) weakest = report;
  }
  const mean = sum / weights;
  return {
    value: roundShare(Math.max(0, mean - penalty)),
    mean: roundShare(mean),
    penalty,
    setbacks,
    uncertainties,
    ...(failed.length === 0 ? {} : { failed }),
    ...(weakest === undefined ? {} : { weakest: weakest.name }),
  };
}

interface ReportingStep {
  readonly criticality: Criticality;
  readonly confidence: number;
  readonly uncertainties: readonly JsonValue[];
}

/**
 * What a group counts as among the specialists of its phase: the mean of the steps in it that said how sure they are, by
 * their criticality, with the uncertainties of all.
 *
 * Shape: no confidence where none of them said it.
 */
export function computeGroupReport(
  { name, failed }: Pick<SpecialistReport, "name" | "failed">,
  steps: readonly ReportingStep[],
): SpecialistReport {
  const weights = steps.map(({ criticality }) => CRITICALITY_WEIGHT[criticality]);
  const sum = steps.reduce((total, { confidence }, at) => total + confidence * (weights[at] ?? 0), 0);
  return {
    name,
    criticality: "standard",
    failed,
    ...(steps.length === 0 ? {} : { confidence: sum / weights.reduce((total, weight) => total + weight, 0) }),
    uncertainties: steps.flatMap(({ uncertainties }) => uncertainties),
  };
}

function confidenceOf(report: SpecialistReport): number {
  return report.failed ? FAILED_CONFIDENCE : (report.confidence ?? 0);
}

/** Lets every added specialist stand for the one it helps, in the order they were added. */
function mergeHelpers(reports: readonly SpecialistReport[]): readonly SpecialistReport[] {
  const merged = new Map<string, SpecialistReport>();
  for (const report of reports) {
    const helped = report.addresses === undefined ? undefined : merged.get(report.addresses);
    if (helped === undefined) merged.set(report.name, report);
    else if (!report.failed) {
      const confidence = Math.max(helped.confidence ?? 0, report.confidence ?? 0);
      merged.set(helped.name, { ...helped, confidence, uncertainties: report.uncertainties, failed: false });
    }
  }
  return [...merged.values()];
}

/** The record that counts for a specialist: one that was added is the one it helps once more, but where it is of its own. */
export function findRecord(
  records: TrackRecords | undefined,
  { spawn }: Pick<PhaseScope, "spawn">,
  { path, addresses }: { readonly path: string; readonly addresses?: JsonValue },
): TrackRecord | undefined {
  if (typeof addresses !== "string") return records?.[path];
  return spawn === undefined ? records?.[`${path.slice(0, path.lastIndexOf("/"))}/${addresses}`] : undefined;
}

/** Checks a claimed confidence against what was measured, now and in earlier tasks. */
export function checkClaim(claimed: number, measured: Measured | undefined, record?: TrackRecord): CheckedClaim {
  const checked = checkMeasured(claimed, measured);
  const lowered = lowerByRecord(claimed, record);
  return lowered < checked.value ? { ...checked, value: lowered, record } : checked;
}

function checkMeasured(claimed: number, measured: Measured | undefined): CheckedClaim {
  if (measured === undefined) return { value: claimed, reduced: false };
  const reduced = claimed >= CLAIM_HIGH && (measured.quality ?? measured.score) < QUALITY_LOW;
  const gap = roundShare(Math.abs(claimed - measured.score / 100));
  return { value: reduced ? roundShare(claimed * CLAIM_FACTOR) : claimed, reduced, ...(gap > GAP_MAX ? { gap } : {}) };
}

function lowerByRecord(value: number, record: TrackRecord | undefined): number {
  if (record === undefined || record.tasks < RECORD_TASKS_MIN) return value;
  const { claimed, measured } = record;
  return roundShare(claimed - measured) > GAP_MAX ? roundShare((value * measured) / claimed) : value;
}

export type Band = "proceed" | "flag" | "spawn_one" | "spawn_several" | "halt";

/** The band a confidence falls in. At or above the minimum the phase proceeds, flagged when under the first edge. */
export function selectBand(confidence: number, rule: ConfidenceRule): Band {
  const { bands, minimum } = rule;
  if (confidence >= minimum) return confidence >= bands.proceed ? "proceed" : "flag";
  if (confidence >= bands.spawnOne) return "spawn_one";
  return confidence >= bands.spawnSeveral ? "spawn_several" : "halt";
}

/** To four digits: sums of decimals carry noise, and the edges of the rules are exact. */
export function roundShare(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
