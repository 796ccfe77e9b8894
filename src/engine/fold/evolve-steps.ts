/**
 * Folds what happens to steps.
 *
 * A step is `open` from its intent to its end. It ends completed, skipped or failed; it may go to `waiting_retry` (a time
 * is set), `cancelled` (to be intended again), `unknown` or `parked` (a person is asked) and from there back to open.
 * What it says meanwhile is folded in evolve-reports.ts.
 */
import type { StepId } from "../../base/ids.js";
import type { SavedFile } from "../model/value-ref.js";
import type { EndOfWorkflow, EventOf, FailureDisposition, StepError } from "../model/events.js";
import type { Question, QuestionKind } from "../model/question.js";
import type { ChildMove, ChildPlace } from "./evolve-groups.js";
import { moveChild, replaceData, storeOutput } from "./evolve-scopes.js";
import { definitionPathOf, nameOfPath } from "../model/identity.js";
import { currentStepId, findPlace, findWorkflow, isPerformed, isHook, requireTask } from "../model/lookup.js";
import { noteStep } from "../model/output-history.js";
import type { ChildEnd } from "../model/child-end.js";
import type { StepEntry, StepStatus, TaskState } from "../model/state.js";
import { addSteps } from "./add-steps.js";
import { forgetFailures, forgetOpenTools } from "./evolve-reports.js";
import { freezeEntry, grow, updateStep } from "./step-entry.js";
import { addTotals, addUsage, countIteration, countUsage, usageOfCut } from "./add-totals.js";
import { changeChannel } from "../model/deferred-effects.js";

/** `step_cancelled` because a sibling failed: an external step that was ended midway may have acted. */
export const CANCELLED_BY_SIBLING = "sibling_failed";
/** `step_cancelled` of a step of unknown outcome: it may run again, and so may its open tool call. */
export const CANCELLED_TO_RERUN = "rerun";
/** `step_cancelled` of a failed step: a person gives it another chance. */
export const CANCELLED_TO_RESUME = "resumed";

/** Target of an answer that skips what depends on its step. */
export const SKIP = "$skip";

const NOTHING: readonly never[] = Object.freeze([]);

export function intendStep(state: TaskState, event: EventOf<"step_intended">): void {
  const before = state.steps.get(event.step);
  const entry = before === undefined ? firstEntry(event) : nextAttempt(before, event);
  if (before === undefined) {
    state.visits.set(event.path, event.visit);
    state.rounds.delete(event.path);
    addTotals(state, { iterations: state.totals.iterations + 1 });
    countIteration(state, event.path);
    if (isHook(event.path)) markHook(state, nameOfPath(event.path), findWorkflow(state, event.path)?.path);
  }
  if (event.permittedBy !== undefined) {
    consumeQuestion(state, event.permittedBy);
    forgetOpenTools(state, event.step);
  }
  replaceStep(state, entry);
}

function nextAttempt(before: StepEntry, event: EventOf<"step_intended">): StepEntry {
  return {
    ...before,
    status: "open",
    reason: undefined,
    attempt: event.attempt,
    work: event.work,
    inputHash: event.inputHash,
    idempotencyKey: event.idempotencyKey,
    effects: event.effects,
    onUnknown: event.onUnknown,
    intendedAtMs: event.atMs,
    fingerprint: event.fingerprint,
    guided: event.guided ?? before.guided,
    held: event.held,
    dueAtMs: event.dueAtMs,
    retryAtMs: undefined,
    process: undefined,
    questionId: undefined,
    endedAtMs: undefined,
    error: undefined,
  };
}

/** Every entry of a literal has one shape; spreading parts into it costs five times as much. */
function firstEntry(event: EventOf<"step_intended">): StepEntry {
  return {
    id: event.step,
    path: event.path,
    name: nameOfPath(definitionPathOf(event.path)),
    kind: event.kind,
    round: event.round,
    visit: event.visit,
    phase: event.phase,
    status: "open",
    attempt: event.attempt,
    failures: 0,
    restarts: 0,
    work: event.work,
    inputHash: event.inputHash,
    idempotencyKey: event.idempotencyKey,
    effects: event.effects,
    onUnknown: event.onUnknown,
    intendedAtMs: event.atMs,
    fingerprint: event.fingerprint,
    guided: event.guided,
    held: event.held,
    dueAtMs: event.dueAtMs,
    confidenceHistory: NOTHING,
    blockers: NOTHING,
    assumptions: NOTHING,
    crashes: 0,
    spawnedDefinition: event.spawnedDefinition,
  };
}

export function spawnStep(state: TaskState, event: EventOf<"step_spawned">): void {
  updateStep(state, event.step, () => ({ process: event.process }));
}

export function completeStep(state: TaskState, event: EventOf<"step_completed">): void {
  const before = state.steps.get(event.step);
  if (before === undefined) return;
  const entry = completedEntry(before, event);
  storeOutput(state, before.path, { value: event.output, by: before.id });
  noteStep(state, before.path);
  changeChannel(state.channel, event.wishes?.channel);
  addSteps(state, before.path, event.wishes?.add);
  state.histories.delete(before.id);
  saveFiles(state, event.saved ?? []);
  if (before.questionId !== undefined) consumeQuestion(state, before.questionId);
  const used = event.usage ?? usageOfCut(before);
  addTotals(state, { steps: state.totals.steps + 1 });
  countUsage(state, before.path, used);
  const end: ChildEnd = entry.status === "skipped" ? "skipped" : entry.declined === true ? "declined" : "done";
  if (event.ends !== undefined) endAround(state, before.path, event.ends);
  const again =
    event.wishes?.again === true
      ? ({ to: "ready" } as const)
      : { end, next: event.next, routeOutput: event.routeOutput, ends: event.ends };
  replaceStep(state, entry, again);
}

function completedEntry(before: StepEntry, event: EventOf<"step_completed">): StepEntry {
  const { confidence } = event;
  const claimed = confidence?.value;
  return {
    ...before,
    status: event.by === "skip" ? "skipped" : "completed",
    held: undefined,
    endedAtMs: event.atMs,
    output: event.output,
    savedAs: event.saved?.[0]?.file,
    error: undefined,
    refusals: undefined,
    retryAtMs: undefined,
    confidence,
    confidenceHistory: claimed === undefined ? before.confidenceHistory : grow(before.confidenceHistory, claimed),
    blockers: event.blockers ?? before.blockers,
    assumptions: event.assumptions ?? before.assumptions,
    milestone: withoutWishes(before.milestone),
    usage: addUsage(before.usage, event.usage ?? usageOfCut(before)),
    callsBegun: undefined,
    questionId: undefined,
    declined: event.next === SKIP ? true : undefined,
  };
}

/** The workflow around a step has ended: the open scopes up to its border know. A machine is told with its child. */
function endAround(state: TaskState, path: string, ends: EndOfWorkflow): void {
  let at = findPlace(state, path)?.parent;
  while (at !== undefined) {
    const scope = state.scopes.get(at);
    if (scope === undefined || scope.data.scope === "workflow") return;
    replaceData(state, scope, { ...scope.data, ends });
    at = scope.parent;
  }
}

export function failStep(state: TaskState, event: EventOf<"step_failed">): void {
  const before = state.steps.get(event.step);
  if (before === undefined) return;
  const { disposition } = event;
  // A provider that refused has used nothing; what a limit in time cut off is unknown.
  const used = event.usage ?? (event.error.code === "STEP_TIMEOUT" ? usageOfCut(before) : undefined);
  const entry: StepEntry = {
    ...before,
    status: statusAfterFailure(disposition),
    error: event.error,
    endedAtMs: event.atMs,
    ...countFailure(before, event),
    retryAtMs: "atMs" in disposition ? disposition.atMs : undefined,
    usage: addUsage(before.usage, used),
    callsBegun: undefined,
    questionId: undefined,
  };
  if (before.questionId !== undefined) consumeQuestion(state, before.questionId);
  forgetFailures(state, before.id);
  countUsage(state, before.path, used);
  replaceStep(state, entry, { end: "failed", next: disposition.action === "route" ? disposition.to : undefined });
  if (disposition.action === "fail") state.blocked.add(before.id);
}

/** How often the step has failed, was refused and began anew, with this failure. */
function countFailure(
  before: StepEntry,
  { disposition, error }: EventOf<"step_failed">,
): Pick<StepEntry, "failures" | "refusals" | "restarts"> {
  const isPause = disposition.action === "pause_until";
  const isRestart = disposition.action === "restart";
  const isAsked = disposition.action === "ask";
  return {
    failures: isRestart ? 0 : before.failures + (isPause || isAsked ? 0 : 1),
    refusals: isPause ? (before.refusals ?? 0) + (isHeldBack(error) ? 0 : 1) : undefined,
    restarts: before.restarts + (isRestart ? 1 : 0),
  };
}

/** Nobody was asked: an earlier refusal of the same limit holds this call back. */
export function isHeldBack({ details }: StepError): boolean {
  return details?.["held_back"] === true;
}

function statusAfterFailure(disposition: FailureDisposition): StepStatus {
  if (disposition.action === "retry" || disposition.action === "pause_until") return "waiting_retry";
  if (disposition.action === "ask") return "unknown";
  return disposition.action === "restart" ? "cancelled" : "failed";
}

export function cancelStep(state: TaskState, event: EventOf<"step_cancelled">): void {
  const before = state.steps.get(event.step);
  if (before === undefined) return;
  const mayHaveActed =
    event.reason === CANCELLED_BY_SIBLING && before.effects === "external" && before.status === "open";
  const isFreshChance = event.reason === CANCELLED_TO_RESUME;
  if (before.questionId !== undefined) consumeQuestion(state, before.questionId);
  if (event.reason === CANCELLED_TO_RERUN) forgetOpenTools(state, before.id);
  replaceStep(state, {
    ...countCut(state, before),
    status: mayHaveActed ? "unknown" : "cancelled",
    endedAtMs: event.atMs,
    retryAtMs: undefined,
    questionId: undefined,
    ...(isFreshChance ? { failures: 0, refusals: undefined, restarts: 0, crashes: 0 } : {}),
  });
}

/** The step without its calls under way: those were cut off, and count. */
function countCut(state: TaskState, before: StepEntry): StepEntry {
  const cut = usageOfCut(before);
  if (cut === undefined) return before;
  countUsage(state, before.path, cut);
  return { ...before, usage: addUsage(before.usage, cut), callsBegun: undefined };
}

const STATUS_IN_QUESTION: Partial<Record<QuestionKind, StepStatus>> = {
  parked_step: "parked",
  gate: "asked",
  tool_approval: "asked",
  questions: "asked",
};

/** A hook of the task, or of a nested workflow, was reached: it is not reached again on the same occasion. */
export function markHook(state: TaskState, hook: string, nested?: string): void {
  const reached = { [hook]: hook === "on_error" ? state.epoch : state.round };
  const scope = nested === undefined ? undefined : state.scopes.get(nested);
  if (scope?.data.scope === "workflow") {
    replaceData(state, scope, { ...scope.data, hooks: Object.freeze({ ...scope.data.hooks, ...reached }) });
  } else if (nested === undefined) {
    const task = requireTask(state);
    state.task = Object.freeze({ ...task, hooks: Object.freeze({ ...task.hooks, ...reached }) });
  }
}

/** A question about a step takes it aside until it is answered. */
export function askAboutStep(state: TaskState, question: Question): void {
  if (question.step === undefined) return;
  const before = state.steps.get(question.step);
  if (before === undefined) return;
  const status = STATUS_IN_QUESTION[question.kind] ?? "unknown";
  replaceStep(state, { ...countCut(state, before), status, questionId: question.id, held: undefined });
}

/** They have become true. */
function withoutWishes(milestone: StepEntry["milestone"]): StepEntry["milestone"] {
  if (milestone?.wishes === undefined) return milestone;
  const { wishes: _kept, ...rest } = milestone;
  return Object.freeze(rest);
}

/** Marks an answered question as used up. */
export function consumeQuestion(state: TaskState, id: NonNullable<StepEntry["questionId"]>): void {
  const question = state.questions.get(id);
  if (question === undefined) return;
  state.questions.set(id, Object.freeze({ ...question, status: "consumed" }));
  state.unsettled.delete(id);
}

/** Replaces an entry and moves the step between the sets and within its scope as its status says. */
export function replaceStep(state: TaskState, entry: StepEntry, move: Partial<ChildMove> = {}): void {
  const before = state.steps.get(entry.id);
  state.steps.set(entry.id, freezeEntry(entry));
  keepIn(state.open, entry.id, entry.status === "open");
  keepIn(
    state.waiting,
    entry.id,
    entry.status === "waiting_retry" || (entry.status === "open" && !isPerformed(entry.kind)),
  );
  keepIn(state.blocked, entry.id, placeOf(entry.status) === "blocked");
  const from = before === undefined ? undefined : placeOf(before.status);
  const to = move.to ?? placeOf(entry.status);
  if (from === to) return;
  if (isOfThisVisit(state, entry)) moveChild(state, entry.path, { ...move, from, to });
}

/** Steps of earlier visits and rounds have no place in their scope any more. */
function isOfThisVisit(state: TaskState, entry: StepEntry): boolean {
  return entry.id === currentStepId(state, entry.path) && findPlace(state, entry.path) !== undefined;
}

function placeOf(status: StepStatus): ChildPlace {
  switch (status) {
    case "open":
    case "waiting_retry":
      return "running";
    case "cancelled":
      return "ready";
    case "asked":
    case "unknown":
    case "parked":
      return "blocked";
    default:
      return "ended";
  }
}

function keepIn(set: Set<StepId>, id: StepId, belongs: boolean): void {
  if (belongs) set.add(id);
  else set.delete(id);
}

/** Of several contents of one file the newest counts. */
export function saveFiles(state: TaskState, files: readonly SavedFile[]): void {
  for (const file of files) state.deliverables.set(file.file, Object.freeze(file));
}
