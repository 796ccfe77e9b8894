/**
 * What every face sees of Splashdown: verbs that take options and return plain JSON views.
 *
 * Views are wire shapes: snake_case, JSON-safe, the same object that `--json` prints. Acting verbs own the task they act
 * on; reading verbs need no claim and change nothing.
 */
import type { JsonObject, JsonValue } from "../base/json.js";
import type { DefinitionFault } from "../definition/fault.js";
import type { OnUnknown } from "../definition/workflow.js";
import type { KeySourceSetting } from "../vault/key-source.js";
import type * as Faces from "./faces/face-views.js";
import type { ProgramCheckpoints } from "./retention/program-checkpoints.js";
import type {
  ExportOptions,
  ExportView,
  ImportOptions,
  ImportView,
  ShredOptions,
  ShredView,
} from "./transfer/bundle-views.js";
import type { KeyChangeView, KeyTarget, RotateOptions } from "./keys/key-views.js";
import type { StoreCopyOptions, StoreCopyView, TrashOptions, TrashView } from "./transfer/store-views.js";
import type {
  ClearOptions,
  ForkOptions,
  ForkView,
  PinView,
  PlanView,
  PruneOptions,
  PruneView,
  ReplayOptions,
  ReplayView,
} from "./past/past-views.js";
import type { CheckpointView, EventView, QuestionView, RunView, TaskSummaryView, TaskView } from "./task-views.js";

export type * from "./transfer/bundle-views.js";
export type * from "./faces/face-views.js";
export type * from "./keys/key-views.js";
export type * from "./transfer/store-views.js";
export type * from "./task-views.js";

export type { KeySourceSetting, OnUnknown };
export type * from "./past/past-views.js";
export type { ProgramCheckpoints };
export type { AgentReport, DecisionReport, StandaloneState } from "../checkpoint/standalone.js";

export interface RunOptions {
  /** File of a workflow, or a loaded/defined one. */
  readonly workflow: string | object;
  readonly task?: string;
  readonly inputs?: JsonObject;
  /** Command-line text, typed by the declared inputs. */
  readonly inputTexts?: Readonly<Record<string, string>>;
  readonly fresh?: boolean;
  /** Stop before these steps, by path or name: a checkpoint is taken and the task is paused. */
  readonly breakAt?: readonly string[];
  /** How long a wait is slept through: true, all of it; false, none; else a minute. Longer ones end with status 75. */
  readonly wait?: boolean;
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Readonly<Record<string, string>>;
  /** Answers given ahead, by name of a gate or of a step with questions. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Gates take their `default`; one without stays open. */
  readonly skipGates?: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly signal?: AbortSignal;
}

export interface ResumeOptions {
  readonly task?: string;
  readonly checkpointId?: string;
  /** Go back to this checkpoint first: the state returns, limits and spend do not, and nothing is deleted. */
  readonly from?: string;
  /** Answers the one open question. */
  readonly answer?: string;
  /** The value that goes with `answer`. */
  readonly value?: JsonValue;
  /** Answers given ahead, by name of a gate or of a step with questions. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Gates take their `default`; one without stays open. */
  readonly skipGates?: boolean;
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Readonly<Record<string, string>>;
  readonly extend?: Readonly<Record<string, string>>;
  readonly acceptChanges?: boolean;
  readonly acceptLoss?: boolean;
  readonly takeOver?: boolean;
  /** As for `run`. */
  readonly breakAt?: readonly string[];
  /** As for `run`. */
  readonly wait?: boolean;
  /** The workflow of this program, for a task that was started by another one: its functions are taken from here. */
  readonly workflow?: object;
  /** Compute and return the plan only. */
  readonly planOnly?: boolean;
  /** Told what will be done, before anything is. */
  readonly onPlan?: (plan: PlanView) => void;
  readonly signal?: AbortSignal;
}

export interface RecoverOptions {
  /** As for `run`. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
  /** Workflows of this program: functions of tasks that another process started are taken from here. */
  readonly workflows?: readonly object[];
}

export interface RecoverView {
  readonly tasks: readonly {
    readonly task: string;
    readonly action: "taken_up" | "left" | "failed";
    readonly why: string;
    /** Why it could not be taken up, as a code of the error table. */
    readonly code?: string;
    readonly hint?: string;
    readonly result?: RunView;
  }[];
  /** 0 when nothing that was under way had to be left lying; the status of its reason, 4 where there are several. */
  readonly exit_status: number;
}

export interface AnswerOptions {
  readonly task: string;
  readonly question?: string;
  readonly answer: string;
  readonly value?: JsonValue;
  /** The text that goes with the choice of a gate; or the answer to the question of a wizard that `answer` names. */
  readonly more?: string;
  readonly by?: string;
}

export interface AnswerView {
  readonly task: string;
  readonly question: string;
  readonly answer: string;
  readonly by: string;
  readonly at: string;
  /** `false`: no living owner; `command` says how to go on. */
  readonly owner_alive: boolean;
  readonly command?: string;
  /** A wizard that asks on. */
  readonly question_open?: QuestionView;
}

export interface RequestView {
  readonly task: string;
  readonly request: "checkpoint" | "pause" | "stop";
  readonly owner: JsonObject;
  /** The checkpoint that was taken, when it was waited for. */
  readonly checkpoint_id?: string;
}

/** What is looked into beside the place itself. */
export interface DoctorOptions {
  /** Whether the model providers answer. */
  readonly models?: boolean;
  /** Every file of every task, read wholly. */
  readonly tasks?: boolean;
}

export interface GuideOptions {
  readonly task: string;
  /** At most 8,000 characters; control characters are made visible. */
  readonly text: string;
  /** Path or name of a step or scope; else it is for the whole task. */
  readonly step?: string;
  readonly by?: string;
}

export interface GuideView {
  readonly task: string;
  /** Its id. */
  readonly guidance: string;
  /** As it is told. */
  readonly text: string;
  readonly by: string;
  readonly at: string;
  readonly step?: string;
  /** `false`: nobody runs the task, or its owner has not come to it yet; `command` goes on with it. */
  readonly taken: boolean;
  readonly command?: string;
}

export interface CheckView {
  readonly name: string;
  readonly ok: boolean;
  /** The damaged file, below the checkpoints of the task that `name` names; or a deliverable, below its folder. */
  readonly file?: string;
  /** Not looked at, for want of a key or because of what failed before. */
  readonly skipped?: boolean;
  readonly text: string;
  readonly hint?: string;
}

export interface ValidateView {
  readonly file: string;
  readonly valid: boolean;
  readonly exit_status: number;
  readonly workflow?: string;
  readonly steps?: number;
  readonly fingerprint?: string;
  readonly inputs?: readonly JsonObject[];
  /** Every fault, with its kind, line and column. */
  readonly faults: readonly DefinitionFault[];
  /** What the file asks for and this version does not do. */
  readonly notes?: readonly string[];
  readonly text: string;
}

export interface ValidateCheckpointOptions {
  /** Where the file is looked for by its name; absent: its path, or its name in any task. */
  readonly task?: string;
}

export interface ValidateCheckpointView {
  readonly file: string;
  readonly valid: boolean;
  readonly exit_status: number;
  readonly checks: readonly CheckView[];
  readonly header?: JsonObject;
}

export interface ConfigView {
  readonly settings: readonly {
    readonly key: string;
    readonly value: JsonValue;
    readonly origin: string;
    readonly note?: string;
  }[];
}

/** Typed events of the library. */
export interface SplashdownEvents {
  readonly event: (event: EventView & { readonly task: string }) => void;
  readonly checkpoint_saved: (event: {
    readonly task: string;
    readonly checkpoint_id: string;
    readonly timestamp: string;
    readonly file: string;
  }) => void;
  readonly checkpoint_failed: (event: { readonly task: string; readonly error: JsonObject }) => void;
  readonly step_started: (event: { readonly task: string; readonly step: string; readonly attempt: number }) => void;
  readonly step_finished: (event: { readonly task: string; readonly step: string; readonly status: string }) => void;
  readonly decision_made: (event: { readonly task: string; readonly decision: JsonObject }) => void;
  readonly question_opened: (event: { readonly task: string; readonly question: QuestionView }) => void;
  readonly progress: (event: {
    readonly task: string;
    readonly step: string;
    readonly fraction?: number;
    readonly message?: string;
  }) => void;
  readonly notice: (event: { readonly level: "info" | "warn"; readonly message: string }) => void;
}

export interface Splashdown {
  run(options: RunOptions): Promise<RunView>;
  resume(options: ResumeOptions): Promise<RunView | PlanView>;
  resumeFromCheckpoint(
    checkpointId: string,
    options?: Omit<ResumeOptions, "checkpointId">,
  ): Promise<RunView | PlanView>;
  /** `workflows`: those of this program, whose functions are nowhere else. */
  recover(options?: RecoverOptions): Promise<RecoverView>;
  /** A new task from an old point of another one, which is only read. It runs when it is resumed. */
  fork(task: string, options: ForkOptions): Promise<ForkView>;
  answer(options: AnswerOptions): Promise<AnswerView>;
  request(
    task: string,
    request: "checkpoint" | "pause" | "stop",
    options?: { readonly note?: string; readonly by?: string },
  ): Promise<RequestView>;
  /** Says something to a task, for what begins after it; one that nobody runs is told when it goes on. */
  guide(options: GuideOptions): Promise<GuideView>;
  /** All tasks by name, or the one meant. */
  list(task?: string): Promise<readonly TaskSummaryView[]>;
  /** What is under way in this process; nothing is read. */
  running(): readonly Faces.RunningView[];
  show(task: string): Promise<TaskView>;
  /** Events of a task; with `follow` it goes on until the task ends or the signal fires. */
  events(
    task: string,
    options?: { readonly from?: number; readonly follow?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<EventView>;
  readonly checkpoints: {
    list(task?: string): Promise<readonly CheckpointView[]>;
    show(reference: string): Promise<JsonObject>;
    /** Removes snapshot files by the rules; see `PruneOptions`. Without `confirm` nobody is asked. */
    prune(options?: PruneOptions): Promise<PruneView>;
    clear(task: string, options?: ClearOptions): Promise<PruneView>;
    pin(reference: string, options?: { readonly note?: string }): Promise<PinView>;
    unpin(reference: string): Promise<PinView>;
    /** A task in one file, sealed as it is, for those who can open it now or for named recipients only. */
    export(task: string, options: ExportOptions): Promise<ExportView>;
    /** The task of a bundle, checked through and through before anything is written. */
    import(file: string, options?: ImportOptions): Promise<ImportView>;
    /** The checkpoints of a program that runs its own agents, in a task of that name, which this process owns until `close`. */
    open(task: string): Promise<ProgramCheckpoints>;
  };
  readonly debug: {
    listCheckpoints(task: string): Promise<readonly CheckpointView[]>;
    validateCheckpoint(file: string, options?: ValidateCheckpointOptions): Promise<ValidateCheckpointView>;
    /** Tells the story up to a checkpoint and runs nothing; with `live` it forks there and runs the fork. */
    replay(checkpoint: string, options?: ReplayOptions): Promise<ReplayView>;
    /** Views of both sides and the differences, first difference first. */
    diffCheckpoints(
      from: string,
      to: string,
      options?: { readonly all?: boolean; readonly task?: string },
    ): Promise<JsonObject>;
  };
  readonly keys: {
    init(options: { readonly keyFile?: string; readonly ifMissing?: boolean }): Promise<JsonObject>;
    show(task?: string): Promise<JsonObject>;
    ack(): Promise<JsonObject>;
    verify(task?: string): Promise<JsonObject>;
    /** Another source that opens a task, or all. Fingerprints and names in the answer, never a key. */
    add(target: KeyTarget, source: KeySourceSetting): Promise<KeyChangeView>;
    /** Takes a source away, by fingerprint, label or type. */
    remove(target: KeyTarget, name: string): Promise<KeyChangeView>;
    /** Fresh wraps; with `taskKey` the next generation of the task's own key, with `reencrypt` everything sealed by it. */
    rotate(target: KeyTarget, options?: RotateOptions): Promise<KeyChangeView>;
    /** Destroys every copy of a task's key in the store; the plan goes to `confirm` first. Nothing brings it back. */
    shred(task: string, options?: ShredOptions): Promise<ShredView>;
  };
  readonly store: {
    /** Tasks from one store to another, proved byte by byte; the origin is only read. */
    copy(options: StoreCopyOptions): Promise<StoreCopyView>;
    /** What is in the trash. */
    trash(): Promise<TrashView>;
    /** Whole tasks to the trash, whatever their status; the plan goes to `confirm` first. */
    remove(tasks: readonly string[], options?: TrashOptions): Promise<TrashView>;
    /** Back from the trash, as they were. */
    restore(tasks: readonly string[]): Promise<TrashView>;
    /** Out of the trash for good: the named ones, or all. */
    purge(tasks?: readonly string[], options?: TrashOptions): Promise<TrashView>;
  };
  validate(file: string): Promise<ValidateView>;
  /** What `run` would do with the same options. Nothing is made. */
  dryRun(options: RunOptions): Promise<Faces.DryRunView>;
  /** A workflow file as a drawing. */
  graph(file: string, format?: Faces.GraphFormat): Promise<Faces.GraphView>;
  /** The figures of seed 003, of one task or over all. */
  metrics(task?: string): Promise<Faces.MetricsReport>;
  timeline(task: string): Promise<Faces.TimelineView>;
  /** How sure a task is of what it found, by phase and specialist. */
  confidence(task: string): Promise<Faces.ConfidenceView>;
  /** Who did what to a task, or to all. */
  readonly audit: {
    show(task?: string): Promise<Faces.AuditShowView>;
    verify(task?: string): Promise<Faces.AuditVerifyView>;
  };
  /** `models`: asks the providers that are set up here, too. */
  doctor(options?: DoctorOptions): Promise<{ readonly checks: readonly CheckView[] }>;
  config(): Promise<ConfigView>;
  on<E extends keyof SplashdownEvents>(event: E, listener: SplashdownEvents[E]): () => void;
  close(): Promise<void>;
}
