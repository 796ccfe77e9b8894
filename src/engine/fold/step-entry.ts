/** Entries of steps as a fold changes them: replaced whole, frozen, and with what belongs to a step beside them. */
import type { StepId } from "../../base/ids.js";
import type { StepEntry, TaskState } from "../model/state.js";
import type { StepHistory } from "../model/step-history.js";

/** Of what a step says again and again the newest is kept. */
export const REPORTS_KEPT_MAX = 100;

/** With every field, whatever is known of it. */
type WholeEntry = { readonly [F in keyof Required<StepEntry>]: StepEntry[F] };

export function updateStep(state: TaskState, id: StepId, change: (step: StepEntry) => Partial<StepEntry>): void {
  const step = state.steps.get(id);
  if (step !== undefined) state.steps.set(id, freezeEntry({ ...step, ...change(step) }));
}

/**
 * The entry as it is kept.
 *
 * Every field is named, also those that nothing is known of: what a literal makes is copied and frozen at once, while an
 * object that was put together field by field costs twenty times as much, in time and in memory.
 */
export function freezeEntry(entry: StepEntry): StepEntry {
  const whole: WholeEntry = {
    id: entry.id,
    path: entry.path,
    name: entry.name,
    kind: entry.kind,
    round: entry.round,
    visit: entry.visit,
    phase: entry.phase,
    status: entry.status,
    attempt: entry.attempt,
    failures: entry.failures,
    refusals: entry.refusals,
    restarts: entry.restarts,
    fingerprint: entry.fingerprint,
    work: entry.work,
    inputHash: entry.inputHash,
    idempotencyKey: entry.idempotencyKey,
    effects: entry.effects,
    onUnknown: entry.onUnknown,
    intendedAtMs: entry.intendedAtMs,
    endedAtMs: entry.endedAtMs,
    dueAtMs: entry.dueAtMs,
    process: entry.process,
    output: entry.output,
    savedAs: entry.savedAs,
    error: entry.error,
    confidence: entry.confidence,
    confidenceHistory: entry.confidenceHistory,
    blockers: entry.blockers,
    assumptions: entry.assumptions,
    usage: entry.usage,
    callsBegun: entry.callsBegun,
    fallback: entry.fallback,
    guided: entry.guided,
    progress: entry.progress,
    partial: entry.partial,
    milestone: entry.milestone,
    crashes: entry.crashes,
    questionId: entry.questionId,
    spawnedDefinition: entry.spawnedDefinition,
    retryAtMs: entry.retryAtMs,
    held: entry.held,
    reason: entry.reason,
    declined: entry.declined,
  };
  return Object.freeze(whole);
}

export function historyOf(state: TaskState, id: StepId): StepHistory {
  const known = state.histories.get(id);
  if (known !== undefined) return known;
  const history: StepHistory = { turns: [], tools: new Map(), substeps: new Map() };
  state.histories.set(id, history);
  return history;
}

export function grow(history: readonly number[], value: number): readonly number[] {
  return Object.freeze([...history, value].slice(-REPORTS_KEPT_MAX));
}
