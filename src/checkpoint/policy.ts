/**
 * When a checkpoint gets a file, in numbers and nothing else.
 *
 * A small task has a file for every trigger; a large one pays for the change only, because what all files of a task may
 * take grows with its journal. Source: DESIGN section 7 (when a trigger fires).
 */
import { LIMITS } from "../base/limits.js";
import type { Trigger } from "../engine/model/events.js";

/** Triggers whose file is always written, and waited for. */
const ALWAYS_WRITTEN: ReadonlySet<Trigger> = new Set([
  "user_requested",
  "debug_breakpoint",
  "before_risky_operation",
  "shutdown",
]);

export function isAlwaysWritten(trigger: Trigger): boolean {
  return ALWAYS_WRITTEN.has(trigger);
}

/** All bytes that the snapshot files of a task may take in all, pruned ones included. */
export function computeBudgetBytes(journalBytes: number): number {
  return LIMITS.snapshotBudgetBaseBytes + LIMITS.snapshotBudgetJournalFactor * journalBytes;
}

/** Whether one more file fits. Shape: `nextBytes` is an estimate before the encoding and the true size after it. */
export function isWithinBudget(bytes: {
  readonly written: number;
  readonly next: number;
  readonly journal: number;
}): boolean {
  return bytes.written + bytes.next < computeBudgetBytes(bytes.journal);
}
