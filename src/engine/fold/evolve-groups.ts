/**
 * Folds where the members of a group stand: what a member's end means for the counts of the group and for those that depend
 * on it. The picture of the places is in evolve-scopes.ts.
 */
import { assert, unreachable } from "../../base/errors.js";
import type { JsonObject } from "../../base/json.js";
import { definitionPathOf } from "../model/identity.js";
import type { EndOfWorkflow, StepError } from "../model/events.js";
import {
  childPath,
  findScopeDefinition,
  indexDefinition,
  isHandledFailure,
  isOwnStep,
  listHandlers,
  requireTask,
} from "../model/lookup.js";
import type { ChildEnd } from "../model/child-end.js";
import type { GroupCounts, ScopeData, ScopeFrontier, TaskState } from "../model/state.js";

export type ChildPlace = "ready" | "running" | "blocked" | "ended";

/** A child's move within its scope. `from` is undefined for a child that was never started. */
export interface ChildMove {
  readonly from: ChildPlace | undefined;
  readonly to: ChildPlace;
  readonly end?: ChildEnd;
  /** For machines: the chosen target. */
  readonly next?: string;
  readonly routeOutput?: JsonObject;
  /** The child ends the workflow. */
  readonly ends?: EndOfWorkflow;
  /** Why a scope failed. */
  readonly cause?: StepError;
}

export type GroupData = Extract<ScopeData, GroupCounts>;

/** An end that leaves something missing. */
export function isShort(end: ChildEnd | undefined): boolean {
  return end === "partial" || end === "skipped" || end === "failed";
}

/** What is missing in a group that stands still, from the ends of its members. */
export function countShort(state: TaskState, path: string): Pick<GroupCounts, "failed" | "imperfect"> {
  const short = [...(state.frontier.get(path)?.ended ?? [])].filter(([, end]) => isShort(end));
  const isFailed = ([name, end]: readonly [string, ChildEnd]): boolean =>
    end === "failed" && !isHandledFailure(state, childPath(path, name));
  const failed = short.filter(isFailed).length;
  return { failed, imperfect: short.length - failed };
}

export interface GroupMove {
  /** Path of the group. */
  readonly path: string;
  readonly data: GroupData;
  readonly name: string;
  readonly move: ChildMove;
}

export function moveInGroup(state: TaskState, group: GroupMove): GroupData {
  const { path, name, move } = group;
  const frontier = state.frontier.get(path);
  assert(frontier !== undefined, `no frontier of ${path}`);
  const data = takeOut(state, frontier, group);
  switch (move.to) {
    case "ready":
      frontier.ready.push(name);
      return data;
    case "running":
      return { ...data, running: data.running + 1 };
    case "blocked":
      return { ...data, blocked: data.blocked + 1 };
    case "ended":
      // No specialist: what became of it is said by the decision that follows.
      if (isOwnStep(name)) return data;
      return endInGroup(state, frontier, { ...group, data });
    default:
      return unreachable(move.to);
  }
}

function takeOut(state: TaskState, frontier: ScopeFrontier, { path, data, name, move }: GroupMove): GroupData {
  switch (move.from) {
    case "running":
      return { ...data, running: data.running - 1 };
    case "blocked":
      return { ...data, blocked: data.blocked - 1 };
    case "ended": {
      const end = frontier.ended.get(name);
      frontier.ended.delete(name);
      frontier.causes.delete(name);
      if (end !== "failed" || isHandledFailure(state, childPath(path, name)))
        return isShort(end) ? { ...data, imperfect: data.imperfect - 1 } : data;
      return { ...data, failed: data.failed - 1, failing: data.failing && data.failed > 1 };
    }
    default: {
      const at = frontier.ready.indexOf(name);
      if (at === 0) frontier.ready.shift();
      else if (at > 0) frontier.ready.splice(at, 1);
      else if (data.scope === "for_each") return { ...data, next: data.next + 1 };
      return data;
    }
  }
}

function endInGroup(state: TaskState, frontier: ScopeFrontier, { path, data, name, move }: GroupMove): GroupData {
  const end = move.end ?? "done";
  frontier.ended.set(name, end);
  if (end === "failed" && !isHandledFailure(state, childPath(path, name))) {
    if (move.cause !== undefined) frontier.causes.set(name, move.cause);
    const node = findScopeDefinition(state, path);
    const failsFast = "failureMode" in node && node.failureMode === "fail_fast";
    return { ...data, failed: data.failed + 1, failing: data.failing || failsFast };
  }
  if (end === "failed" && move.cause !== undefined) frontier.causes.set(name, move.cause);
  freeDependants(state, frontier, { path: childPath(path, name), end });
  return isShort(end) ? { ...data, imperfect: data.imperfect + 1 } : data;
}

interface Ended {
  readonly path: string;
  readonly end: ChildEnd;
}

function freeDependants(state: TaskState, frontier: ScopeFrontier, { path, end }: Ended): void {
  const { dependants } = indexDefinition(requireTask(state).definition);
  const handlers = end === "failed" ? listHandlers(state, path) : undefined;
  for (const dependant of dependants.get(definitionPathOf(path)) ?? []) {
    if (handlers?.includes(dependant) === false) continue;
    const unmet = frontier.waiting.get(dependant);
    if (unmet === undefined) continue;
    if (unmet > 1) frontier.waiting.set(dependant, unmet - 1);
    else {
      frontier.waiting.delete(dependant);
      frontier.ready.push(dependant);
    }
  }
}
