import type { Usage } from "../events/events.js";
import type { StepEntry, TaskState } from "../state/state.js";
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
