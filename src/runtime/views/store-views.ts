/** What `store copy`, `trash`, `remove`, `restore` and `purge` take and answer. */

export interface TrashOptions {
  readonly dryRun?: boolean;
  /** Sees the plan; false changes nothing. */
  readonly confirm?: (plan: TrashView) => Promise<boolean>;
}

export interface TrashView {
  readonly action: "list" | "remove" | "restore" | "purge";
  /** Nothing was changed: a dry run, or the plan was refused. */
  readonly dry_run: boolean;
  readonly tasks: readonly TrashedTaskView[];
}

export interface TrashedTaskView {
  readonly task: string;
  /** Bytes in the store. */
  readonly size: number;
  /** Absent while it is no more than planned. */
  readonly trashed_at?: string;
  /** From then on `checkpoints prune` removes it for good. */
  readonly purged_after?: string;
  /** The folder of its deliverables, which stay. */
  readonly deliverables?: string;
}

export interface StoreCopyOptions {
  /** Addresses, as in settings. */
  readonly from: string;
  readonly to: string;
  /** Names; absent: all tasks of the store. */
  readonly tasks?: readonly string[];
}

export interface StoreCopyView {
  /** Addresses without passwords. */
  readonly from: string;
  readonly to: string;
  readonly tasks: readonly {
    readonly task: string;
    /** Files that were copied, and read again on both sides. */
    readonly files: number;
    /** Bytes. */
    readonly size: number;
    /** The folder of its deliverables in the new place. */
    readonly deliverables: string;
    /** Files copied there; none where both stores keep them in one folder. */
    readonly deliverables_copied: number;
    readonly next: string;
  }[];
}
