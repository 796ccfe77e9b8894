/** What a task has used and done so far, over all its owners. */
export interface Totals {
  readonly steps: number;
  readonly iterations: number;
  /** Of these, the steps of the task's own workflow: what its limit counts. A nested workflow counts as one. */
  readonly ownIterations: number;
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
  ownIterations: 0,
  calls: 0,
  tokensIn: 0,
  tokensOut: 0,
  costMicroUsd: 0,
  unpricedCalls: 0,
  uncountedCalls: 0,
  elapsedMs: 0,
  memoryPeakBytes: 0,
});

/** What a nested workflow has used since it was entered, those within it included; its own iterations alone. */
export type ScopeUse = Pick<
  Totals,
  "ownIterations" | "calls" | "tokensIn" | "tokensOut" | "costMicroUsd" | "unpricedCalls" | "uncountedCalls"
>;

export const NO_USE: ScopeUse = Object.freeze({
  ownIterations: 0,
  calls: 0,
  tokensIn: 0,
  tokensOut: 0,
  costMicroUsd: 0,
  unpricedCalls: 0,
  uncountedCalls: 0,
});
