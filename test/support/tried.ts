/** How many cases a test tries in a loop of its own; `scripts/prove` adds them up from the report. */
import type { TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Absent: one. */
    tried?: number;
  }
}

export function noteTried({ task }: TestContext, count: number): void {
  task.meta.tried = (task.meta.tried ?? 0) + count;
}

/** More than one where a longer proof is asked for than every commit needs. */
const FACTOR = Number(process.env["SPLASHDOWN_PROOF_FACTOR"] ?? "1");

/** Runs of a property. */
export function runsOf(usual: number): number {
  return usual * FACTOR;
}

/** Of cases that stand in a row: all of them, or every so many-th of them. */
export function strideOf(usual: number): number {
  return FACTOR > 1 ? 1 : usual;
}

/** Of cases by name: all of them, or the few that stand for the others. */
export function selectCases<T>(all: readonly T[], few: (one: T) => boolean): readonly T[] {
  return FACTOR > 1 ? all : all.filter(few);
}
