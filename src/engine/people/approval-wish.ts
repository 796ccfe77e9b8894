/** A call that waits for a person. */
export interface ApprovalWish {
  /** Names the call within its step, on every attempt alike. */
  readonly call: string;
  readonly tool: string;
  /** One yes is enough for all calls of this tool in the task. */
  readonly isForAll: boolean;
}

/** What a person said. */
export type Approval = { readonly isGiven: true } | { readonly isGiven: false; readonly reason?: string };
