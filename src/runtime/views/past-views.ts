/**
 * What the verbs about a task's past take and show: going back, forking, replaying, removing and keeping checkpoints.
 * Snake_case, JSON-safe: also what `--json` prints.
 */
import type { JsonObject } from "../../base/json.js";
import type { EventView, RunView } from "./task-views.js";

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
  /** `trash`: the whole task, to the trash; `remove`: it for good; `prune`: some files; `keep`: nothing. */
  readonly action: "prune" | "trash" | "remove" | "keep";
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

export interface ForkOptions {
  /** A checkpoint of the task: sequence, id, `phaseN`, file, `latest`; with or without a file. */
  readonly from: string;
  /** Values to change, by path: `inputs.n`, `channel.key`, `outputs.STEP.field`. */
  readonly set?: JsonObject;
  /** Name of the new task; default: the old one's with `-fork`. */
  readonly task?: string;
}

/** A new task that is paused at an old point of another one; `next` goes on with it. */
export interface ForkView {
  readonly task: string;
  readonly workflow_id: string;
  readonly folder: string;
  readonly from: {
    readonly task: string;
    readonly workflow_id: string;
    readonly checkpoint_id: string;
    readonly seq: number;
    readonly phase: number;
  };
  readonly set: readonly string[];
  /** External steps that the other task did since; the fork will do them too. */
  readonly acted_since: readonly string[];
  readonly next: string;
}

export interface PlanView {
  readonly task: string;
  readonly done: readonly string[];
  readonly to_run: readonly string[];
  /** Only if something chooses so. */
  readonly may_run: readonly { readonly step: string; readonly when: string }[];
  readonly to_rerun: readonly { readonly step: string; readonly why: string }[];
  readonly unknown: readonly string[];
  readonly changed: readonly { readonly path: string; readonly how: string }[];
  /** Going back: to where, and which external steps were done, or may have acted, since; they are asked about. */
  readonly back_to?: { readonly checkpoint_id: string; readonly seq: number; readonly phase: number };
  readonly acted_since?: readonly string[];
}

export interface ReplayView {
  readonly task: string;
  readonly checkpoint_id?: string;
  readonly from: number;
  readonly to: number;
  /** With `until`: the step that the story ends with. */
  readonly until?: string;
  readonly story: readonly EventView[];
  /** Where today's engine would choose otherwise. */
  readonly differences: readonly JsonObject[];
  /** With `live`: the fork that was run instead, and how it ended. */
  readonly live?: { readonly fork: ForkView; readonly result: RunView };
}

export interface ReplayOptions {
  /** End where this step, by path or name, ended last up to the checkpoint, else first after it; with `live` stop before it. */
  readonly until?: string;
  /** A fork from the checkpoint, which runs. */
  readonly live?: boolean;
  /** Answers given ahead to the gates and questions of that fork. */
  readonly answers?: Readonly<Record<string, string>>;
  readonly skipGates?: boolean;
  readonly signal?: AbortSignal;
}
