/**
 * Limits in working time: how much was worked, when a limit is reached, and what that ends.
 *
 * A limit that is reached ends what runs where it counts: a step without effects, or that has not acted, begins anew when
 * the limit is extended, from its last turn or milestone; of an external step that was in the midst it is unknown what it
 * has done, and a person is asked as soon as the task goes on there. Waits are not waited out meanwhile.
 */
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { isPerformed, mayHaveBegun, computeElapsedMs } from "../../model/lookup.js";
import type { StepEntry, TaskState } from "../../model/state.js";
import { earliest } from "./earliest.js";
import { computeMaxima, isWithin, limitedInTime, type LimitedScope } from "./limited-scopes.js";
import { isHeldByLimit, openLimitQuestion, type ReachedLimit } from "./limit-question.js";

/** `step_cancelled` of a step that a limit in time has ended and that may begin again. */
const CANCELLED_BY_TIME = "time_limit";

/** Same, since the workflow began. */
export function elapsedMsOf(state: TaskState, { enteredElapsedMs }: LimitedScope, nowMs: number): number {
  return computeElapsedMs(state, nowMs) - enteredElapsedMs;
}

/** When the next limit is reached if work goes on; `undefined` without one or when nothing works. */
export function timeLimitAtMs(state: TaskState): number | undefined {
  return earliest(ticking(state).map((scope) => state.atMs + Math.max(0, leftMs(state, scope))));
}

/** Limits that time brings nearer: of those whose question is open none. */
function ticking(state: TaskState): readonly LimitedScope[] {
  if (state.open.size === 0 && state.waiting.size === 0) return [];
  return limitedInTime(state).filter(({ path = "" }) => !isHeldByLimit(state, path));
}

function leftMs(state: TaskState, scope: LimitedScope): number {
  return computeMaxima(scope).seconds * 1_000 - (state.totals.elapsedMs - scope.enteredElapsedMs);
}

const MARK_MS_MIN = 250;
const MARK_MS_MAX = 60_000;
/** Of the limit: what a kill may take away. */
const MARK_SHARE = 1 / 20;

/**
 * When the time worked so far is to be recorded, in a task that is limited in time: a kill takes away what came after.
 *
 * Units: the twentieth part of the shortest limit, from a quarter of a second to a minute, after the last event.
 */
export function markAtMs(state: TaskState): number | undefined {
  const shortest = earliest(ticking(state).map((scope) => computeMaxima(scope).seconds));
  if (shortest === undefined) return undefined;
  return state.atMs + Math.min(Math.max(shortest * 1_000 * MARK_SHARE, MARK_MS_MIN), MARK_MS_MAX);
}

/** The time so far, where it is due. */
export function countTime(choice: Choice): readonly EngineEvent[] {
  const dueAtMs = markAtMs(choice.state);
  return dueAtMs !== undefined && dueAtMs <= choice.nowMs ? [{ type: "time_counted", atMs: choice.nowMs }] : [];
}

/** Asks about each limit in time that is reached by now, and ends what runs where it counts. */
export function reachTimeLimits(choice: Choice): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  return ticking(state).flatMap((scope) => {
    const used = elapsedMsOf(state, scope, nowMs) / 1_000;
    const max = computeMaxima(scope).seconds;
    return used < max ? [] : stopAtLimit(choice, { name: "seconds", used, max, total: scope.used, ...pathOf(scope) });
  });
}

function pathOf({ path }: LimitedScope): { readonly path?: string } {
  return path === undefined ? {} : { path };
}

/** Asks about a limit that is reached, and ends what runs where time is what it limits. */
export function stopAtLimit(choice: Choice, limit: ReachedLimit): readonly EngineEvent[] {
  const asked = openLimitQuestion(choice, limit);
  if (asked.length === 0 || limit.name !== "seconds") return asked;
  return [...asked, ...[...choice.state.open].flatMap((id) => endOpen(choice, choice.state.steps.get(id), limit))];
}

function endOpen(choice: Choice, step: StepEntry | undefined, limit: ReachedLimit): readonly EngineEvent[] {
  if (step === undefined || !isPerformed(step.kind) || !isWithin(step.path, limit)) return [];
  const { id, attempt, effects } = step;
  const ended = { atMs: choice.nowMs, step: id, attempt };
  if (effects !== "external" || !mayHaveBegun(step))
    return [{ type: "step_cancelled", ...ended, reason: CANCELLED_BY_TIME }];
  const message = `the limit of ${limit.max} seconds was reached while the step ran, and the step was ended`;
  return [
    {
      type: "step_failed",
      ...ended,
      error: { code: "STEP_TIMEOUT", message, retryable: true, details: { acted: "maybe" } },
      durationMs: Math.max(0, choice.nowMs - step.intendedAtMs),
      disposition: { action: "ask" },
    },
  ];
}

/** External steps that a limit in time ended and about which nobody was asked yet. */
export function listCutSteps(state: TaskState): readonly StepEntry[] {
  return [...state.blocked].flatMap((id) => {
    const step = state.steps.get(id);
    const isCut = step?.status === "unknown" && step.questionId === undefined && step.error?.code === "STEP_TIMEOUT";
    return isCut && !isHeldByLimit(state, step.path) ? [step] : [];
  });
}
