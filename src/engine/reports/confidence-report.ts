/**
 * How sure the task is of what it found: by phase and specialist, what was claimed, what was measured, and what counts.
 *
 * Owns: the figures, from the state alone, and the rule by which results are merged: a result is sure enough when what
 * counts of its specialist's confidence reaches the minimum of the consolidation, else that of its phase; one without a
 * confidence is not known to be.
 * Units: confidences 0..1, scores 0–100.
 */
import type { StepId } from "../../base/ids.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { PhaseScope } from "../../definition/model/workflow.js";
import { checkClaim, findRecord, roundShare, type Measured, type TrackRecord } from "../model/confidence.js";
import type { ConfidenceParts } from "../model/events.js";
import { describeGroupReport } from "../model/group-report.js";
import { nameOfPath, parentPathOf } from "../model/identity.js";
import { childPath, findPlace, requireTask } from "../model/lookup.js";
import type { EvaluationEntry, StepEntry, TaskState } from "../model/state.js";

export interface SpecialistConfidence {
  readonly name: string;
  readonly path: string;
  readonly status: "done" | "failed" | "skipped" | "missing";
  readonly claimed?: number;
  readonly parts?: ConfidenceParts;
  /** What is left of the claim after it was checked. */
  readonly counted?: number;
  /** Gap between claim and measured score, where it is over 0.15. */
  readonly gap?: number;
  /** What was measured of it in earlier tasks; the claim may be lowered for that. */
  readonly record?: TrackRecord;
  readonly uncertainties: readonly JsonValue[];
  readonly factors: readonly string[];
  readonly sure: boolean;
}

export interface PhaseScore {
  readonly score: number;
  readonly iteration: number;
  readonly iterations: number;
  readonly verdict?: string;
  readonly dimensions: Readonly<Record<string, number>>;
}

export interface PhaseConfidenceReport {
  readonly name: string;
  readonly number: number;
  readonly status: string;
  readonly confidence?: number;
  readonly minimum: number;
  readonly evaluation?: PhaseScore;
  readonly specialists: readonly SpecialistConfidence[];
}

export interface ConfidenceReportView {
  readonly workflow: string;
  /** The lowest of the phases that have one: a chain is as strong as that. */
  readonly confidence?: number;
  readonly phases: readonly PhaseConfidenceReport[];
}

/** Empty where the workflow has no phases. */
export function describeTaskConfidence(state: TaskState): ConfidenceReportView {
  const { definition } = requireTask(state);
  const { root } = definition;
  const phases = root.scope === "phases" ? root.children : [];
  const minimum = root.scope === "phases" ? root.consolidation?.minimum : undefined;
  const reports = phases.map((node) => describePhase(state, { path: childPath(root.path, node.name), node, minimum }));
  const known = reports.flatMap(({ confidence }) => confidence ?? []);
  return {
    workflow: definition.name,
    ...(known.length === 0 ? {} : { confidence: Math.min(...known) }),
    phases: reports,
  };
}

/** Paths of the results that are sure enough, in order. */
export function listSureResults(state: TaskState): readonly string[] {
  return describeTaskConfidence(state).phases.flatMap(({ specialists }) =>
    specialists.filter(({ sure }) => sure).map(({ path }) => path),
  );
}

interface Placed {
  readonly path: string;
  readonly node: PhaseScope;
  readonly minimum: number | undefined;
}

function describePhase(state: TaskState, { path, node, minimum }: Placed): PhaseConfidenceReport {
  const entry = state.phases.get(path);
  const kept = findKept(state, path);
  const evaluation = kept === undefined ? undefined : scoreOf(state, kept);
  const names = [...node.children.map(({ name }) => name), ...(entry?.added ?? [])];
  return {
    name: node.name,
    number: node.number,
    status: entry?.status ?? "waiting",
    ...(entry?.confidence === undefined ? {} : { confidence: entry.confidence }),
    minimum: node.confidence.minimum,
    ...(evaluation === undefined ? {} : { evaluation }),
    specialists: names.map((name) => {
      const at = childPath(path, name);
      const describe = findPlace(state, at)?.node.node === "scope" ? describeGroup : describeSpecialist;
      return describe(state, at, { node, kept, minimum: minimum ?? node.confidence.minimum });
    }),
  };
}

/** The evaluation of the iteration that was kept: the best one, the latest of a visit. */
function findKept(state: TaskState, path: string): EvaluationEntry | undefined {
  return state.evaluations.findLast((entry) => entry.path === path && entry.best === true);
}

function scoreOf(state: TaskState, kept: EvaluationEntry): PhaseScore {
  return {
    score: kept.score ?? 0,
    iteration: kept.iteration,
    iterations: state.evaluations.filter(({ path }) => path === kept.path).length,
    ...(kept.verdict === undefined ? {} : { verdict: kept.verdict }),
    dimensions: Object.fromEntries(Object.entries(kept.scores).map(([name, { score }]) => [name, score])),
  };
}

interface Judged {
  readonly node: PhaseScope;
  readonly kept: EvaluationEntry | undefined;
  readonly minimum: number;
}

function describeSpecialist(state: TaskState, path: string, judged: Judged): SpecialistConfidence {
  const step = stepAt(state, path);
  const status = statusOf(step);
  const { value: claimed, parts, uncertainties = [], factors = [] } = step?.confidence ?? {};
  const record = recordOf(state, judged.node, { path, step });
  const checked = claimed === undefined ? undefined : checkClaim(claimed, measuredBy(judged.kept), record);
  const counted = checked === undefined ? undefined : roundShare(checked.value);
  return {
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    status,
    claimed: claimed === undefined ? undefined : roundShare(claimed),
    parts,
    counted,
    gap: checked?.gap,
    record,
    uncertainties,
    factors,
    sure: status === "done" && counted !== undefined && counted >= judged.minimum,
  };
}

/** A group: the steps in it, taken together. */
function describeGroup(state: TaskState, path: string, { kept, minimum }: Judged): SpecialistConfidence {
  const status = state.outputs.has(path) ? (isFailedGroup(state, path) ? "failed" : "done") : "missing";
  const {
    name,
    confidence: claimed,
    uncertainties,
  } = describeGroupReport(state, { path, failed: status === "failed" });
  const checked = claimed === undefined ? undefined : checkClaim(claimed, measuredBy(kept), undefined);
  const counted = checked === undefined ? undefined : roundShare(checked.value);
  return {
    name,
    path,
    status,
    claimed: claimed === undefined ? undefined : roundShare(claimed),
    counted,
    gap: checked?.gap,
    uncertainties,
    factors: [],
    sure: status === "done" && counted !== undefined && counted >= minimum,
  };
}

/** By the phase's own account of its members, once it was left. */
function isFailedGroup(state: TaskState, path: string): boolean {
  const [phase, name] = [parentPathOf(path) ?? "", nameOfPath(path)];
  const frontier = state.frontier.get(phase);
  if (frontier !== undefined) return frontier.ended.get(name) === "failed";
  const value = state.outputs.get(phase)?.value;
  const given = value !== undefined && "inline" in value && isJsonObject(value.inline) ? value.inline["errors"] : {};
  return isJsonObject(given) && Object.hasOwn(given, name);
}

function recordOf(
  { task }: TaskState,
  node: PhaseScope,
  { path, step }: { readonly path: string; readonly step: StepEntry | undefined },
): TrackRecord | undefined {
  return findRecord(task?.trackRecords, node, { path, addresses: step?.spawnedDefinition?.["addresses"] });
}

function measuredBy(kept: EvaluationEntry | undefined): Measured | undefined {
  return kept?.score === undefined ? undefined : { score: kept.score, quality: kept.scores["quality"]?.score };
}

/** The step whose output stands: after iterations that of the best one. */
function stepAt(state: TaskState, path: string): StepEntry | undefined {
  const by = state.outputs.get(path)?.by;
  return by === undefined ? undefined : state.steps.get(by as StepId);
}

function statusOf(step: StepEntry | undefined): SpecialistConfidence["status"] {
  if (step === undefined) return "missing";
  if (step.status === "completed") return "done";
  return step.status === "skipped" ? "skipped" : "failed";
}
