import type { Usage } from "../events/events.js";
import type { TaskState } from "../state/state.js";

/** What a task has used and done so far, over all its owners. */
export interface Totals {
  readonly steps: number;
  readonly iterations: number;
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costMicroUsd: number;
  readonly unpricedCalls: number;
  /** Working time over all owners, waiting for people not included. */
  readonly elapsedMs: number;
  readonly memoryPeakBytes: number;
}

/** Before the first event. */
export const NO_TOTALS: Totals = Object.freeze({
  steps: 0,
  iterations: 0,
  calls: 0,
  tokensIn: 0,
  tokensOut: 0,
  costMicroUsd: 0,
  unpricedCalls: 0,
  elapsedMs: 0,
  memoryPeakBytes: 0,
});

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
