/**
 * The workflows whose limits count at a place: the task's own, and each nested one around the place.
 *
 * A nested workflow has the limits of its file, from nothing each time it is entered. What it uses of money, tokens, calls
 * and time counts for the workflows around it too; its iterations do not: there it is one step.
 */
import type { LimitsDefinition } from "../../../definition/model/workflow.js";
import { findScopeDefinition, hasNested, listWorkflowsAround, requireTask } from "../../model/lookup.js";
import type { LimitName } from "../../model/question.js";
import type { ScopeEntry, TaskState } from "../../model/state.js";
import type { ScopeUse } from "../../model/totals.js";

export interface LimitedScope {
  /** Instance path of a nested workflow; absent for the task's own. */
  readonly path?: string;
  readonly limits: LimitsDefinition;
  readonly used: ScopeUse;
  /** What the task had worked when it began. */
  readonly enteredElapsedMs: number;
  readonly extended: Readonly<Record<string, number>>;
}

/** Those around a place, the innermost first, the task's own last. */
export function limitedScopesAround(state: TaskState, path: string): readonly LimitedScope[] {
  if (!hasNested(state)) return [scopeOfTask(state)];
  const nested = listWorkflowsAround(state, path).flatMap((around) => {
    const scope = state.scopes.get(around.path);
    return scope === undefined ? [] : scopeOf(scope, around.node.limits);
  });
  return [...nested, scopeOfTask(state)];
}

/** Those that are open and limited in time. */
export function limitedInTime(state: TaskState): readonly LimitedScope[] {
  const task = scopeOfTask(state);
  const own = task.limits.timeoutMs === undefined ? [] : [task];
  if (!hasNested(state)) return own;
  const nested = [...state.scopes.values()].flatMap((scope) => {
    if (scope.data.scope !== "workflow") return [];
    const node = findScopeDefinition(state, scope.path);
    return node.scope !== "workflow" || node.limits.timeoutMs === undefined ? [] : scopeOf(scope, node.limits);
  });
  return [...own, ...nested];
}

function scopeOfTask(state: TaskState): LimitedScope {
  const { definition, extended } = requireTask(state);
  return { limits: definition.limits, used: state.totals, enteredElapsedMs: 0, extended };
}

function scopeOf({ path, data }: ScopeEntry, limits: LimitsDefinition): readonly LimitedScope[] {
  if (data.scope !== "workflow") return [];
  const { used, enteredElapsedMs, extended = {} } = data;
  return [{ path, limits, used, enteredElapsedMs, extended }];
}

/** How much there may be at most, by name of the limit; Infinity where nothing is said. */
export function computeMaxima({ limits, extended }: LimitedScope): Readonly<Record<LimitName, number>> {
  const add = (name: LimitName, max: number | undefined) =>
    max === undefined ? Infinity : max + (extended[name] ?? 0);
  return {
    iterations: add("iterations", limits.maxIterations),
    seconds: add("seconds", limits.timeoutMs === undefined ? undefined : limits.timeoutMs / 1_000),
    tokens: add("tokens", limits.tokensMax),
    calls: add("calls", limits.callsMax),
    cost_micro_usd: add("cost_micro_usd", limits.costMicroUsdMax),
  };
}

/** True for a node in the scope. */
export function isWithin(path: string, scope: Pick<LimitedScope, "path">): boolean {
  return scope.path === undefined || path.startsWith(`${scope.path}/`);
}
