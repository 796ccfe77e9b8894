/**
 * What a task that has ended says of its specialists' claims, and what several such tasks come to.
 *
 * Where it is kept between tasks is the runtime's (calibration.ts); what follows for a claim is confidence.ts. Records come
 * in with `task_started`, so a replay counts as the task did.
 * Units: confidences 0..1. Source: DESIGN section 5.
 */
import { RECORD_TASKS_MIN, roundShare, type TrackRecords } from "../../model/confidence.js";
import { describeTaskConfidence } from "../../reports/confidence-report.js";
import type { TaskState } from "../../model/state.js";

/** One specialist's claim in one task, and the score of its phase. */
export interface MeasuredClaim {
  readonly path: string;
  readonly claimed: number;
  readonly measured: number;
}

/** Adds up the claims of several tasks. Shape: only specialists that were measured often enough to be judged. */
export function computeRecords(tasks: readonly (readonly MeasuredClaim[])[]): TrackRecords {
  const sums = new Map<string, { tasks: number; claimed: number; measured: number }>();
  for (const { path, claimed, measured } of tasks.flat()) {
    const sum = sums.get(path) ?? { tasks: 0, claimed: 0, measured: 0 };
    sums.set(path, { tasks: sum.tasks + 1, claimed: sum.claimed + claimed, measured: sum.measured + measured });
  }
  return Object.fromEntries(
    [...sums]
      .filter(([, { tasks: count }]) => count >= RECORD_TASKS_MIN)
      .map(([path, { tasks: count, claimed, measured }]) => [
        path,
        { tasks: count, claimed: roundShare(claimed / count), measured: roundShare(measured / count) },
      ]),
  );
}

/** What the task says of its specialists. Shape: each path once; empty where nothing was scored or nobody claimed anything. */
export function listMeasuredClaims(state: TaskState): readonly MeasuredClaim[] {
  return describeTaskConfidence(state).phases.flatMap(({ evaluation, specialists }) =>
    evaluation === undefined
      ? []
      : specialists.flatMap(({ path, status, claimed }) =>
          status === "done" && claimed !== undefined
            ? [{ path, claimed, measured: roundShare(evaluation.score / 100) }]
            : [],
        ),
  );
}
