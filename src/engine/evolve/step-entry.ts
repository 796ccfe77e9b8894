/** Entries of steps as a fold changes them: replaced whole, frozen, and with what belongs to a step beside them. */
import type { StepId } from "../../base/ids.js";
import type { StepEntry, StepHistory, TaskState } from "../state/state.js";

/** Of what a step says again and again the newest is kept. */
export const REPORTS_KEPT_MAX = 100;

export function updateStep(state: TaskState, id: StepId, change: (step: StepEntry) => Partial<StepEntry>): void {
  const step = state.steps.get(id);
  if (step !== undefined) state.steps.set(id, freezeEntry({ ...step, ...change(step) }));
}

/** Frozen and without undefined fields, so that it equals itself after a round trip through JSON. */
export function freezeEntry(entry: StepEntry): StepEntry {
  const bare: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entry)) if (value !== undefined) bare[key] = value;
  return Object.freeze(bare) as unknown as StepEntry;
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
