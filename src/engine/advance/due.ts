/**
 * What falls due: retries, pauses, waits, expiring questions, the limit on working time, the interval trigger.
 *
 * Costs O(waiting things): steps that wait for a time are in `state.waiting`, questions in `state.unsettled`.
 */
import { isLimitOpen, markAtMs, timeLimitAtMs } from "./limits.js";
import { remindAtMs } from "../people/questions.js";
import type { TaskState } from "../state/state.js";
import { intervalAtMs } from "../triggers.js";

/** Times up to `atMs` were fed and nothing came of them; they count as `againAtMs`. */
export interface ToldInVain {
  readonly atMs: number;
  readonly againAtMs: number;
}

/** When `due` must be fed next. Units: milliseconds of wall time, possibly past. Errors: `undefined` when nothing waits. */
export function nextDueAtMs(state: TaskState, told?: ToldInVain): number | undefined {
  if (state.task?.status !== "running" || state.task.request !== undefined) return undefined;
  const isLimited = isLimitOpen(state);
  const times: (number | undefined)[] = [intervalAtMs(state), ...waitTimes(state)];
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question?.status === "open" && question.onExpire !== undefined)
      times.push(question.expiresAtMs, remindAtMs(question));
  }
  if (!isLimited) times.push(timeLimitAtMs(state), markAtMs(state));
  if (told === undefined) return earliest(times);
  return earliest(times.map((atMs) => (atMs !== undefined && atMs <= told.atMs ? told.againAtMs : atMs)));
}

/** The next retry, pause or wait; a retry waits for nothing while a person is asked about a limit. */
export function earliestWaitAtMs(state: TaskState): number | undefined {
  return earliest(waitTimes(state));
}

function waitTimes(state: TaskState): readonly (number | undefined)[] {
  const isLimited = isLimitOpen(state);
  const times: (number | undefined)[] = [];
  for (const id of state.waiting) {
    const step = state.steps.get(id);
    if (step?.status === "open") times.push(step.dueAtMs);
    else if (!isLimited) times.push(step?.retryAtMs);
  }
  return times;
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

export function earliest(times: readonly (number | undefined)[]): number | undefined {
  let found: number | undefined;
  for (const atMs of times) if (atMs !== undefined && (found === undefined || atMs < found)) found = atMs;
  return found;
}
