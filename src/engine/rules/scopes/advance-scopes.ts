/**
 * What may start now in machines, parallel groups, dags and lists of phases, and when they are left.
 *
 * machine: starts `next`; `$end` leaves it; a failed child without a route stops it.
 * group: starts what is ready as long as fewer than `maxConcurrent` run (a sliding window); when nothing runs, waits or is
 *   blocked it is left. `fail_fast` ends the siblings of the first failure; `all_or_nothing` fails after all have run;
 *   `continue_on_error` fails only when all failed.
 * A scope that failed is left only where an outer one deals with it (see failure.ts); otherwise it stays open for a resume.
 * No scope is left while it is unknown what a step in it has done.
 */
import type { JsonValue } from "../../../base/json.js";
import type { DagScope, ForEachScope, MachineScope, ParallelScope } from "../../../definition/model/workflow.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { CANCELLED_BY_SIBLING } from "../../fold/evolve-steps.js";
import { isAbsorbed } from "../steps/failure.js";
import { isFailingFast, listBlocked } from "./blocked-members.js";
import { describeGroup, leave, leaveFailed } from "./leaving.js";
import { childPath } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { END } from "../steps/routes.js";
import { startChild } from "../steps/start.js";
import type { GroupCounts, ScopeData, ScopeFrontier, StepEntry, TaskState } from "../../model/state.js";
import { followPolicy } from "../answers/unknown-outcome.js";

type FailingScope = ParallelScope | DagScope | ForEachScope;
type DataOf<K extends ScopeData["scope"]> = Extract<ScopeData, { scope: K }>;

export function advanceMachine(choice: Choice, open: OpenScope<MachineScope>): readonly EngineEvent[] {
  const { scope, budget } = open;
  const data = scope.data as DataOf<"machine">;
  if (data.failed === true || data.stuck !== undefined) return leaveFailed(choice, open);
  if (data.next === undefined) return [];
  if (data.next !== END && data.ends === undefined) return startChild(choice, childPath(scope.path, data.next), budget);
  const output =
    data.last === undefined ? undefined : choice.state.outputs.get(childPath(scope.path, data.last))?.value;
  const { ends, routeOutput } = data;
  const outcome = ends?.status === "failed" ? "failed" : data.imperfect ? "partial" : "done";
  return [leave(choice, open, { outcome, output, routeOutput, ends })];
}

export function advanceGroup(choice: Choice, open: OpenScope<ParallelScope | DagScope>): readonly EngineEvent[] {
  const { scope, node } = open;
  const data = scope.data as DataOf<"parallel" | "dag">;
  const frontier = choice.state.frontier.get(scope.path);
  if (frontier === undefined) return [];
  const held = listBlocked(choice, scope.path).size;
  const isFailing = data.failing || (held > 0 && node.failureMode === "fail_fast");
  if (!isFailing && frontier.ready.length > 0)
    return startReady(choice, open, node.maxConcurrent - (data.running - held));
  return endGroup(choice, open, () => describeGroup(choice, open));
}

/** Ends a group in which nothing more is to start, when nothing in it runs or is in question. */
export function endGroup(
  choice: Choice,
  open: OpenScope<FailingScope>,
  describe: () => JsonValue,
): readonly EngineEvent[] {
  const { scope, node } = open;
  const data = scope.data as GroupCounts;
  const frontier = choice.state.frontier.get(scope.path);
  if (frontier === undefined) return [];
  if (data.failing || isFailingFast(choice, scope.path)) {
    const cancelled = cancelBelow(choice, scope.path);
    return cancelled.length > 0 ? cancelled : leaveFailing(choice, open, describe);
  }
  if (data.running > 0 || data.blocked > 0) return [];
  if (hasFailed(data, node, frontier)) return leaveFailed(choice, open, describe);
  const isPartial = data.failed > 0 || data.imperfect > 0 || frontier.waiting.size > 0;
  return [leave(choice, open, { outcome: isPartial ? "partial" : "done", output: { inline: describe() } })];
}

/** What a member may have done is settled first, where the group is to be left; else a resume asks about it. */
function leaveFailing(
  choice: Choice,
  open: OpenScope<FailingScope>,
  describe: () => JsonValue,
): readonly EngineEvent[] {
  const { path } = open.scope;
  const unsettled = isAbsorbed(choice, path) ? unknownBelow(choice.state, path) : [];
  if (unsettled.length === 0) return leaveFailed(choice, open, describe);
  return unsettled
    .filter((step) => step.questionId === undefined)
    .flatMap((step) => followPolicy(choice, step, { policy: choice.state.task?.onUnknown ?? step.onUnknown }));
}

function unknownBelow(state: TaskState, path: string): readonly StepEntry[] {
  return [...state.blocked].flatMap((id) => {
    const step = state.steps.get(id);
    const isUnsettled = step?.status === "unknown" || step?.status === "parked";
    return isUnsettled && step.path.startsWith(`${path}/`) ? [step] : [];
  });
}

/** A group that tolerates failures fails when nothing but failures is left. */
function hasFailed(data: GroupCounts, node: FailingScope, frontier: ScopeFrontier): boolean {
  if (data.failed === 0) return false;
  return node.failureMode !== "continue_on_error" || data.failed === countTried(frontier);
}

/** Members that ended, those left out that were not to be done. */
export function countTried({ ended }: ScopeFrontier): number {
  let count = 0;
  for (const end of ended.values()) if (end !== "omitted") count += 1;
  return count;
}

/** Starts what is ready within the window. */
export function startReady(choice: Choice, open: OpenScope, room: number): readonly EngineEvent[] {
  const { scope, budget } = open;
  const ready = choice.state.frontier.get(scope.path)?.ready ?? [];
  const events: EngineEvent[] = [];
  for (const name of ready.slice(0, Math.max(0, room))) {
    const started = startChild(choice, childPath(scope.path, name), budget);
    events.push(...started);
    if (budget.isExhausted) break;
  }
  return events;
}

function cancelBelow(choice: Choice, path: string): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const events: EngineEvent[] = [];
  for (const id of new Set([...state.open, ...state.waiting, ...state.blocked])) {
    const step = state.steps.get(id);
    if (step?.path.startsWith(`${path}/`) !== true) continue;
    if (state.blocked.has(id) && step.status !== "asked") continue;
    events.push({ type: "step_cancelled", atMs: nowMs, step: id, attempt: step.attempt, reason: CANCELLED_BY_SIBLING });
  }
  return events;
}
