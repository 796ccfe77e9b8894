/** How many cases a test tries in a loop of its own; `scripts/prove` adds them up from the report. */
import type { TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Absent: one. */
    tried?: number;
    /** Cases that need what is not here, in words. */
    untried?: string;
  }
}

export function noteTried({ task }: TestContext, count: number): void {
  task.meta.tried = (task.meta.tried ?? 0) + count;
}

export function noteUntried({ task }: TestContext, what: string): void {
  task.meta.untried = what;
}

/** More than one where a longer proof is asked for than every commit needs; less where tests run over and over. */
const FACTOR = Number(process.env["SPLASHDOWN_PROOF_FACTOR"] ?? "1");

/** Runs of a property. */
export function runsOf(usual: number): number {
  return Math.ceil(usual * FACTOR);
}

/** Of cases that stand in a row: all of them, or every so many-th of them. */
export function strideOf(usual: number): number {
  return FACTOR > 1 ? 1 : usual;
}

/** Of cases by name: all of them, or the few that stand for the others. */
export function selectCases<T>(all: readonly T[], few: (one: T) => boolean): readonly T[] {
  return FACTOR > 1 ? all : all.filter(few);
}

const BITS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128];

/** What is turned over in a byte: one bit after the other, or every other value it may have. */
export const BYTE_CHANGES = FACTOR > 1 ? Array.from({ length: 255 }, (_, at) => at + 1) : BITS.slice(0, 8 * FACTOR + 1);
