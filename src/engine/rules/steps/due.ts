/**
 * What falls due: retries, pauses, waits, expiring questions, the limit on working time, the interval trigger.
 *
 * Costs O(waiting things): steps that wait for a time are in `state.waiting`, questions in `state.unsettled`.
 */
import { earliest } from "./earliest.js";
import { isHeldByLimit } from "./limit-question.js";
import { markAtMs, timeLimitAtMs } from "./time-limits.js";
import { remindAtMs } from "../questions/questions.js";
import type { TaskState } from "../../model/state.js";
import { intervalAtMs } from "../triggers.js";

/** Times up to `atMs` were fed and nothing came of them; they count as `againAtMs`. */
export interface ToldInVain {
  readonly atMs: number;
  readonly againAtMs: number;
}

/** When `due` must be fed next. Units: milliseconds of wall time, possibly past. Errors: `undefined` when nothing waits. */
export function nextDueAtMs(state: TaskState, told?: ToldInVain): number | undefined {
  if (state.task?.status !== "running" || state.task.request !== undefined) return undefined;
  const times: (number | undefined)[] = [
    intervalAtMs(state),
    ...waitTimes(state),
    timeLimitAtMs(state),
    markAtMs(state),
  ];
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question?.status === "open" && question.onExpire !== undefined)
      times.push(question.expiresAtMs, remindAtMs(question));
  }
  if (told === undefined) return earliest(times);
  return earliest(times.map((atMs) => (atMs !== undefined && atMs <= told.atMs ? told.againAtMs : atMs)));
}

/** The next retry, pause or wait; none counts while a person is asked about a limit on it. */
export function earliestWaitAtMs(state: TaskState): number | undefined {
  return earliest(waitTimes(state));
}

function waitTimes(state: TaskState): readonly (number | undefined)[] {
  return [...state.waiting].map((id) => {
    const step = state.steps.get(id);
    if (step === undefined || isHeldByLimit(state, step.path)) return undefined;
    return step.status === "open" ? step.dueAtMs : step.retryAtMs;
  });
}

/** Clocks of machines may be apart by so much. */
const CLOCKS_APART_MS = 5_000;

/**
 * True when a time has come that was set by the wall at `setAtMs`. One that was set later than now was set by a clock that was
 * ahead: the task is gone on with, and waits out what is left.
 */
export function hasTimeCome(set: { readonly resumeAtMs: number; readonly setAtMs: number }, nowMs: number): boolean {
  return set.resumeAtMs <= nowMs || set.setAtMs > nowMs + CLOCKS_APART_MS;
}
