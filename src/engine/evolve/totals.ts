import type { Usage } from "../events/events.js";
import type { TaskState } from "../state/state.js";
import type { Totals } from "../state/totals.js";

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

export function usageTotals(totals: Totals, usage: Usage | undefined): Partial<Totals> {
  if (usage === undefined) return {};
  return {
    calls: totals.calls + usage.calls,
    tokensIn: totals.tokensIn + usage.tokensIn,
    tokensOut: totals.tokensOut + usage.tokensOut,
    costMicroUsd: totals.costMicroUsd + (usage.costMicroUsd ?? 0),
    unpricedCalls: totals.unpricedCalls + (usage.costMicroUsd === undefined ? usage.calls : 0),
  };
}

export function addTotals(state: TaskState, change: Partial<Totals>): void {
  state.totals = Object.freeze({ ...state.totals, ...change });
}
