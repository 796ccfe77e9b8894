/** A call that waits for a person. */
export interface ApprovalWish {
  /** Names the call within its step, on every attempt alike. */
  readonly call: string;
  /** The tool itself: an approval holds for it and for no other of its name. */
  readonly tool: string;
  /** What a person is shown of it. */
  readonly label: string;
  /** One yes is enough for all calls of this tool in the task. */
  readonly isForAll: boolean;
}

/** What a person said. */
export type Approval = { readonly isGiven: true } | { readonly isGiven: false; readonly reason?: string };
