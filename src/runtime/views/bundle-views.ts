/** What `checkpoints export|import` take and show. */
import type { KeySourceSetting } from "../../vault/key-source.js";

export interface ExportOptions {
  /** Path of the new zip file. */
  readonly file: string;
  /** Who can open it; absent: whoever can open the task now. */
  readonly recipients?: readonly KeySourceSetting[];
  /** Instead of the task a report for others: what happened, without what it was about, in the clear. */
  readonly redacted?: boolean;
  /** Leaves out what programs wrote into the task's folder by themselves; its deliverables are in its history. */
  readonly withoutFiles?: boolean;
}

export interface ExportView {
  readonly task: string;
  readonly workflow_id: string;
  readonly file: string;
  /** Bytes. */
  readonly size: number;
  readonly records: number;
  /** Deliverables that its history holds and an import writes again. */
  readonly deliverables: number;
  /** Files of the task's folder beside them, sealed: of programs, or changed since they were written. */
  readonly carried: number;
  /** What of the folder cannot come along. */
  readonly left_out: readonly { readonly file: string; readonly reason: string }[];
  /** `type fingerprint (label)` of what opens it; empty where the task is not encrypted. */
  readonly opened_by: readonly string[];
  /** Present on a report, which cannot be imported. */
  readonly redacted?: true;
  readonly next: string;
}

export interface ImportOptions {
  /** Name of the task here; default: the one it had. */
  readonly task?: string;
}

export interface ImportView {
  readonly task: string;
  readonly workflow_id: string;
  readonly folder: string;
  readonly exported_at: string;
  readonly records: number;
  readonly checkpoints: number;
  readonly files: number;
  /** Files that were written into its folder beside its checkpoints. */
  readonly deliverables: number;
  /** What would run as programs when a person resumes it: commands, functions, tool servers. */
  readonly programs: readonly string[];
  readonly next: string;
}

/** Asked with the plan; `false` leaves everything as it is. */
export interface ShredOptions {
  readonly confirm?: (plan: ShredView) => Promise<boolean>;
}

export interface ShredView {
  readonly task: string;
  /** False: it was so before, or the answer was no. */
  readonly shredded: boolean;
  /** Keyring files that were written over and removed. */
  readonly keyrings: readonly string[];
  /** Places of the store that may hold bytes of them all the same, a sentence each. */
  readonly may_remain?: readonly string[];
  /** Deliverables, which are in the clear and stay. */
  readonly folder: string;
}
