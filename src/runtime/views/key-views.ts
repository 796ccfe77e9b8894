/** What the verbs that change keys take and answer: plain JSON, no key in it. */

export type KeyTarget = "all" | { readonly task: string };

export interface RotateOptions {
  readonly taskKey?: boolean;
  readonly dropAbsent?: boolean;
  /** With `taskKey`: everything is sealed again, and the older keys leave the keyring. */
  readonly reencrypt?: boolean;
}

export interface TaskKeyChange {
  readonly task: string;
  readonly changed: boolean;
  readonly revision?: number;
  /** The key that new files are sealed with. */
  readonly key?: string;
  readonly generation?: number;
  /** `type fingerprint (label)` of what opens it from now on, and of what does not any more. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly note?: string;
  /** What was sealed again, and what of the older keys was removed. */
  readonly reencrypted?: ReencryptedTask;
  /** Of several tasks: why this one was left as it is. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Counts; `left`: snapshot files that could not be taken along, and why. Their checkpoints are in the journal. */
export interface ReencryptedTask {
  readonly records: number;
  readonly snapshots: number;
  readonly blobs: number;
  readonly removed: {
    readonly segments: number;
    readonly snapshots: number;
    readonly blobs: number;
    readonly quarantined: number;
    /** Answers that were taken long ago. */
    readonly control: number;
  };
  readonly left: readonly string[];
}

export interface AcceptOptions {
  /** Asked with the plan before anything is remembered. */
  readonly confirm?: (plan: AcceptedKeys) => Promise<boolean>;
  /** Whoever signed the task's keys is trusted for other tasks too. */
  readonly origin?: boolean;
}

/** What stood against a keyring, and whether it counts now. */
export interface AcceptedKeys {
  readonly task: string;
  readonly accepted: boolean;
  readonly file: string;
  readonly revision: number;
  /** Public key of whoever signed the task's first key. */
  readonly origin?: string;
  readonly objection?: { readonly code: string; readonly message: string };
}

export interface KeyChangeView {
  readonly tasks: readonly TaskKeyChange[];
  /** The source that was added, as settings name it. */
  readonly source?: string;
  /** 3 when one of several tasks was left as it is. */
  readonly exit_status: number;
}
