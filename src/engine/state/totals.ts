/** What a task has used and done so far, over all its owners. */
export interface Totals {
  readonly steps: number;
  readonly iterations: number;
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costMicroUsd: number;
  readonly unpricedCalls: number;
  /** Of which nobody told the tokens, as they were cut off. */
  readonly uncountedCalls: number;
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
  uncountedCalls: 0,
  elapsedMs: 0,
  memoryPeakBytes: 0,
});
