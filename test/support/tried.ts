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

/** Runs of a property: so many for every commit, more where a longer proof is asked for. */
export function runsOf(usual: number): number {
  return usual * Number(process.env["SPLASHDOWN_PROOF_FACTOR"] ?? "1");
}
