import type { Usage } from "../model/events.js";
import type { StepEntry, TaskState } from "../model/state.js";
import type { ScopeUse, Totals } from "../model/totals.js";
import { hasNested, listWorkflowsAround } from "../model/lookup.js";

export function addUsage(before: Usage | undefined, usage: Usage | undefined): Usage | undefined {
  if (before === undefined || usage === undefined) return usage ?? before;
  const isPriced = before.costMicroUsd !== undefined && usage.costMicroUsd !== undefined;
  return Object.freeze({
    calls: before.calls + usage.calls,
    tokensIn: before.tokensIn + usage.tokensIn,
    tokensOut: before.tokensOut + usage.tokensOut,
    ...(isPriced ? { costMicroUsd: (before.costMicroUsd ?? 0) + (usage.costMicroUsd ?? 0) } : {}),
  });
}

/** Counts what a step has used for the task, and for each nested workflow that the step is part of. */
export function countUsage(state: TaskState, path: string, usage: Usage | undefined): void {
  if (usage === undefined) return;
  addTotals(state, usageTotals(state.totals, usage));
  if (!hasNested(state)) return;
  for (const around of listWorkflowsAround(state, path)) addUse(state, around.path, (used) => usageTotals(used, usage));
}

/** Counts a step, or a nested workflow as one, for the workflow that it is part of. */
export function countIteration(state: TaskState, path: string): void {
  const [inner] = hasNested(state) ? listWorkflowsAround(state, path) : [];
  if (inner === undefined) addTotals(state, { ownIterations: state.totals.ownIterations + 1 });
  else addUse(state, inner.path, (used) => ({ ownIterations: used.ownIterations + 1 }));
}

function addUse(state: TaskState, path: string, change: (used: ScopeUse) => Partial<ScopeUse>): void {
  const scope = state.scopes.get(path);
  if (scope?.data.scope !== "workflow") return;
  const { used } = scope.data;
  const data = Object.freeze({ ...scope.data, used: Object.freeze({ ...used, ...change(used) }) });
  state.scopes.set(path, Object.freeze({ ...scope, data }));
}

type Used = Omit<ScopeUse, "ownIterations">;

function usageTotals(totals: Used, usage: Usage): Used {
  return {
    calls: totals.calls + usage.calls,
    tokensIn: totals.tokensIn + usage.tokensIn,
    tokensOut: totals.tokensOut + usage.tokensOut,
    costMicroUsd: totals.costMicroUsd + (usage.costMicroUsd ?? 0),
    unpricedCalls: totals.unpricedCalls + (usage.costMicroUsd === undefined ? usage.calls : 0),
    uncountedCalls: totals.uncountedCalls + (usage.tokensIn + usage.tokensOut === 0 ? usage.calls : 0),
  };
}

/** What calls used that were cut off: they were made, and nobody knows more. */
export function usageOfCut({ callsBegun = 0 }: Pick<StepEntry, "callsBegun">): Usage | undefined {
  return callsBegun === 0 ? undefined : { calls: callsBegun, tokensIn: 0, tokensOut: 0 };
}

export function addTotals(state: TaskState, change: Partial<Totals>): void {
  state.totals = Object.freeze({ ...state.totals, ...change });
}
