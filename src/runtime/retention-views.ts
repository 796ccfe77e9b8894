/** What the verbs that remove checkpoints, or keep them, take and show. Snake_case, JSON-safe: also what `--json` prints. */

export interface PruneOptions {
  /** Only this task; all when absent. */
  readonly task?: string;
  /** Files of checkpoints older than this: `7d`, `12h`, `30m`. */
  readonly olderThan?: string;
  /** Files kept per task; two verified ones stay in any case. */
  readonly keep?: number;
  /** Shorten the journal too, as far as the oldest file that stays covers it. */
  readonly history?: boolean;
  /** Plan only: nothing is changed. */
  readonly dryRun?: boolean;
  /** Asked with the plan before anything is removed; false leaves everything. Absent: nobody is asked. */
  readonly confirm?: (plan: PruneView) => Promise<boolean>;
}

export type ClearOptions = Pick<PruneOptions, "dryRun" | "confirm">;

export interface PrunedFileView {
  readonly file: string;
  readonly seq: number;
  readonly phase: number;
  readonly size: number;
  readonly reason: string;
}

export interface PrunedHistoryView {
  /** The first record that stays. */
  readonly before: number;
  readonly segments: number;
  readonly segments_size: number;
  readonly blobs: number;
  readonly blobs_size: number;
  /** Checkpoints that nothing leads to any more. */
  readonly unreachable: readonly { readonly checkpoint_id: string; readonly seq: number; readonly phase: number }[];
}

export interface PrunedTaskView {
  readonly task: string;
  readonly status: string;
  /** `remove`: the whole task; `prune`: some files; `keep`: nothing. */
  readonly action: "prune" | "remove" | "keep";
  readonly why: string;
  /** Bytes on disk before, and what goes of them. */
  readonly size: number;
  readonly freed: number;
  readonly files: readonly PrunedFileView[];
  readonly history?: PrunedHistoryView;
}

export interface PruneView {
  /** Nothing was changed: a dry run, or the plan was refused. */
  readonly dry_run: boolean;
  readonly freed: number;
  readonly tasks: readonly PrunedTaskView[];
}

export interface PinView {
  readonly task: string;
  readonly checkpoint_id: string;
  readonly seq: number;
  readonly phase: number;
  readonly pinned: boolean;
  /** False: it was so before. */
  readonly changed: boolean;
  readonly by?: string;
  readonly at?: string;
  readonly note?: string;
  /** Its snapshot file, when one is there. */
  readonly file?: string;
}
