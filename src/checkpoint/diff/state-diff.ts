/**
 * Two states of tasks side by side: the first step and field that differ, then the rest by step.
 *
 * Owns: what is compared with what, and what is hidden: ids, times, processes and the order in which things happened are
 * left out unless asked for, since they differ between any two runs. How a value differs is value-diff.ts.
 * Source: DESIGN section 10 (diff).
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { Decision } from "../../engine/model/decision.js";
import type { BlobRef, ValueRef } from "../../engine/model/value-ref.js";
import type { EvaluationEntry, PhaseEntry, QuestionEntry, StepEntry, TaskState } from "../../engine/model/state.js";
import { diffValues, type ValueDifference, type ValueMark } from "./value-diff.js";

/** One difference and where it is. */
export type StateDifference = ValueDifference & {
  /** `step`, `task`, `phase`, `decision`, `question`, `evaluation`, `channel`, `output`, `deliverable`, `totals`. */
  readonly subject: string;
  /** Which one: a step's identity, a path, a key. */
  readonly name: string;
  /** Of a step: which one it is, from 1, in the order of the first state. */
  readonly number?: number;
};

export interface StateDiff {
  readonly equal: boolean;
  readonly differences: readonly StateDifference[];
}

export interface StateDiffOptions {
  /** Also ids, times, processes, checkpoints. */
  readonly showsAll?: boolean;
  /** Reads large values; without it they are compared by size and digest. */
  readonly load?: { readonly from: LoadBlob; readonly to: LoadBlob };
}
export type LoadBlob = (ref: BlobRef) => Promise<JsonValue>;

/** A comparable thing: plain fields, and values that may be kept outside. */
interface View {
  readonly fields: JsonObject;
  readonly values: Readonly<Record<string, ValueRef | undefined>>;
}

type Views = ReadonlyMap<string, View>;

/** Compares two states. Shape: steps first, in the order of the first state; equal states give no difference. */
export async function diffStates(from: TaskState, to: TaskState, options: StateDiffOptions = {}): Promise<StateDiff> {
  const differences: StateDifference[] = [];
  for (const [subject, describe] of SUBJECTS) {
    if (subject === "checkpoint" && options.showsAll !== true) continue;
    const pair = { from: describe(from, options), to: describe(to, options) };
    differences.push(...(await diffViews(subject, pair, options)));
  }
  return { equal: differences.length === 0, differences };
}

async function diffViews(
  subject: string,
  views: { readonly from: Views; readonly to: Views },
  options: StateDiffOptions,
): Promise<StateDifference[]> {
  const found: StateDifference[] = [];
  let number = 0;
  for (const name of new Set([...views.from.keys(), ...views.to.keys()])) {
    number += 1;
    const where = subject === "step" ? { subject, name, number } : { subject, name };
    for (const difference of await diffPair(views.from.get(name), views.to.get(name), options))
      found.push({ ...where, ...difference });
  }
  return found;
}

async function diffPair(
  from: View | undefined,
  to: View | undefined,
  options: StateDiffOptions,
): Promise<ValueDifference[]> {
  if (from === undefined || to === undefined) return diffAlone(from, to, options);
  const found: ValueDifference[] = [];
  for (const field of new Set([...Object.keys(from.values), ...Object.keys(to.values)])) {
    found.push(...(await diffRefs(field, { from: from.values[field], to: to.values[field] }, options)));
  }
  return [...found, ...(await diffValues("", from.fields, to.fields))];
}

/** A thing that only one side has: what became of it, and what it holds. */
async function diffAlone(
  from: View | undefined,
  to: View | undefined,
  options: StateDiffOptions,
): Promise<ValueDifference[]> {
  const found: ValueDifference[] = [];
  for (const field of RESULT_FIELDS)
    found.push(...(await diffRefs(field, { from: from?.values[field], to: to?.values[field] }, options)));
  const [before, after] = [from && summarise(from), to && summarise(to)];
  const isEmpty = Object.keys(before ?? after ?? {}).length === 0;
  return isEmpty && found.length > 0 ? found : [...(await diffValues("", before, after)), ...found];
}

/** Of what a thing holds: its results, not what it was made from. */
const RESULT_FIELDS = ["output", "value", "content"] as const;

function summarise({ fields }: View): JsonObject {
  const { status } = fields;
  return status === undefined ? fields : { status };
}

async function diffRefs(
  field: string,
  refs: { readonly from: ValueRef | undefined; readonly to: ValueRef | undefined },
  options: StateDiffOptions,
): Promise<ValueDifference[]> {
  const { from, to } = refs;
  if (from !== undefined && to !== undefined && "blob" in from && "blob" in to && from.blob.digest === to.blob.digest)
    return [];
  const { load } = options;
  const hasBlob = [from, to].some((ref) => ref !== undefined && "blob" in ref);
  if (hasBlob && load === undefined) return diffMarks(field, from, to);
  return diffValues(field, await resolve(from, load?.from), await resolve(to, load?.to));
}

async function resolve(ref: ValueRef | undefined, load: LoadBlob | undefined): Promise<JsonValue | undefined> {
  if (ref === undefined) return undefined;
  if ("inline" in ref) return ref.inline;
  return load?.(ref.blob);
}

function diffMarks(field: string, from: ValueRef | undefined, to: ValueRef | undefined): ValueDifference[] {
  if (from === undefined) return to === undefined ? [] : [{ field, kind: "added", to: show(to) }];
  if (to === undefined) return [{ field, kind: "removed", from: show(from) }];
  return [{ field, kind: "changed", from: show(from), to: show(to) }];
}

function show(ref: ValueRef): ValueMark {
  if ("blob" in ref) return { $t: "mark", size: ref.blob.sizeBytes, digest: ref.blob.digest };
  return { $t: "mark", size: Buffer.byteLength(JSON.stringify(ref.inline)) };
}

type Describe = (state: TaskState, options: StateDiffOptions) => Views;

/** In the order in which differences are told. */
const SUBJECTS: readonly (readonly [string, Describe])[] = [
  [
    "step",
    (state, options) =>
      viewsBy(
        state.steps.values(),
        (step) => step.id,
        (step) => describeStep(step, options),
      ),
  ],
  [
    "evaluation",
    (state) => viewsBy(state.evaluations, (entry) => `${entry.path}#${entry.iteration}`, describeEvaluation),
  ],
  ["decision", (state, options) => describeDecisions(state.decisions, options)],
  ["question", (state) => viewsBy(state.questions.values(), (question) => question.id, describeQuestion)],
  ["phase", (state) => viewsBy(state.phases.values(), (phase) => phase.path, describePhase)],
  ["channel", (state) => new Map([...state.channel].map(([key, value]) => [key, { fields: { value }, values: {} }]))],
  ["output", describeOutputs],
  [
    "deliverable",
    (state) =>
      viewsBy(
        state.deliverables.values(),
        (file) => file.file,
        (file) => ({ fields: {}, values: { content: file.content } }),
      ),
  ],
  ["task", describeTask],
  ["totals", describeTotals],
  [
    "checkpoint",
    (state) =>
      viewsBy(
        state.checkpoints,
        (entry) => String(entry.seq),
        (entry) => ({ fields: toJson(entry), values: {} }),
      ),
  ],
];

function viewsBy<T>(items: Iterable<T>, nameOf: (item: T) => string, describe: (item: T) => View): Views {
  const views = new Map<string, View>();
  for (const item of items) views.set(nameOf(item), describe(item));
  return views;
}

/** Entries are JSON but for undefined fields, which count as absent. */
function toJson(value: object): JsonObject {
  return value as JsonObject;
}

function describeStep(step: StepEntry, options: StateDiffOptions): View {
  const { work, output, partial, milestone, ...rest } = step;
  const values = { work, output, partial, milestone: milestone?.state };
  if (options.showsAll === true) return { fields: { ...toJson(rest), milestoneName: milestone?.name }, values };
  const { status, kind, attempt, effects, onUnknown, error, confidence, blockers, assumptions, usage, fallback } = step;
  const fields = {
    status,
    kind,
    attempt,
    effects,
    onUnknown,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(confidence === undefined ? {} : { confidence: toJson(confidence) }),
    ...(usage === undefined ? {} : { usage: toJson(usage) }),
    ...(fallback === undefined ? {} : { fallback: `${fallback.answered} instead of ${fallback.asked}` }),
    ...(milestone === undefined ? {} : { milestoneName: milestone.name }),
    blockers,
    assumptions,
  };
  return { fields, values };
}

function describeEvaluation(entry: EvaluationEntry): View {
  const { scores, score, verdict, best } = entry;
  return { fields: toJson({ score, verdict, best, scores }), values: {} };
}

/** Named by what they are about, so that another order is no difference; ids and times hidden. */
function describeDecisions(decisions: readonly Decision[], options: StateDiffOptions): Views {
  const counts = new Map<string, number>();
  const views = new Map<string, View>();
  for (const decision of decisions) {
    const { id, atMs, ...rest } = withoutRequestId(decision, options);
    const name = [decision.agent, decision.type, decision.subject ?? ""].filter((part) => part !== "").join(" ");
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const fields = options.showsAll === true ? { id, atMs, ...rest } : rest;
    views.set(count === 1 ? name : `${name} (${count})`, { fields: toJson(fields), values: {} });
  }
  return views;
}

/** What a person asked for or said is the same whenever it was left. */
function withoutRequestId(decision: Decision, { showsAll }: StateDiffOptions): Decision {
  if (showsAll === true || decision.effect === undefined) return decision;
  const { request: _request, saidAt: _saidAt, ...effect }: Partial<Record<string, unknown>> = decision.effect;
  return { ...decision, effect: effect as Decision["effect"] };
}

function describeQuestion(question: QuestionEntry): View {
  const { kind, text, status, answer, value } = question;
  return { fields: toJson({ kind, text, status, answer, value }), values: {} };
}

function describePhase(phase: PhaseEntry): View {
  const { status, iteration, confidence, feedback, spawned } = phase;
  return { fields: toJson({ status, iteration, confidence, feedback, spawned }), values: {} };
}

/** Of scopes only: a step's output is told with the step. */
function describeOutputs(state: TaskState): Views {
  const ofSteps = new Set<string>(state.steps.keys());
  const ofScopes = [...state.outputs].filter(([, output]) => !ofSteps.has(output.by));
  return new Map(ofScopes.map(([path, output]) => [path, { fields: {}, values: { value: output.value } }]));
}

function describeTask(state: TaskState, options: StateDiffOptions): Views {
  if (state.task === undefined) return new Map();
  const { definition, inputs, settings, status, reason, exitStatus, output, trackRecords } = state.task;
  const hidden =
    options.showsAll === true
      ? {
          id: state.task.id,
          name: state.task.name,
          startedAtMs: state.task.startedAtMs,
          epoch: state.epoch,
          position: state.position,
        }
      : {};
  const fields = toJson({
    workflow: definition.name,
    definition: definition.fingerprint,
    status,
    reason,
    exitStatus,
    inputs,
    settings,
    trackRecords,
    round: state.round,
    ...hidden,
  });
  return new Map([["task", { fields, values: { output } }]]);
}

function describeTotals(state: TaskState, options: StateDiffOptions): Views {
  const { elapsedMs, memoryPeakBytes, ...counts } = state.totals;
  const fields = options.showsAll === true ? { ...counts, elapsedMs, memoryPeakBytes } : counts;
  return new Map([["totals", { fields, values: {} }]]);
}
