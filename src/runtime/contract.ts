/**
 * What every face sees of Splashdown: verbs that take options and return plain JSON views.
 *
 * Views are wire shapes: snake_case, JSON-safe, the same object that `--json` prints. Acting verbs own the task they act
 * on; reading verbs need no claim and change nothing.
 */
import type { JsonObject } from "../base/json.js";
import type { OnUnknown } from "../definition/model/values.js";
import type { OutputOf } from "../definition/workflow-types.js";
import type { KeySourceSetting } from "../vault/key-source.js";
import type * as Faces from "./views/face-views.js";
import type {
  ExportOptions,
  ExportView,
  ImportOptions,
  ImportView,
  ShredOptions,
  ShredView,
} from "./views/bundle-views.js";
import type { AcceptedKeys, AcceptOptions, KeyChangeView, KeyTarget, RotateOptions } from "./views/key-views.js";
import type { StoreCopyOptions, StoreCopyView, TrashOptions, TrashView } from "./views/store-views.js";
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
} from "./views/past-views.js";
import type { CheckpointView, EventView, RunView, TaskSummaryView, TaskView } from "./views/task-views.js";
import type {
  AnswerOptions,
  AnswerView,
  CheckView,
  ConfigView,
  DoctorOptions,
  GuideOptions,
  GuideView,
  RecoverOptions,
  RecoverView,
  RequestView,
  ResumeOptions,
  RunOptions,
  SplashdownEvents,
  ValidateCheckpointOptions,
  ValidateCheckpointView,
  ValidateView,
} from "./views/verb-views.js";
import type { StepDetailView } from "./views/step-views.js";
import type { ProgramState, ProgramCheckpoints } from "./views/program-views.js";

export type * from "./views/bundle-views.js";
export type * from "./views/face-views.js";
export type * from "./views/key-views.js";
export type * from "./views/store-views.js";
export type * from "./views/trust-views.js";
export type * from "./views/step-views.js";
export type * from "./views/task-views.js";
export type * from "./views/verb-views.js";

export type { KeySourceSetting, OnUnknown };
export type * from "./views/past-views.js";
export type { ProgramCheckpoints, ProgramState };
export type { AgentReport, DecisionReport } from "../checkpoint/standalone.js";

export interface Splashdown {
  /** `output` has the type that `defineWorkflow` infers. */
  run<Given extends string | object>(options: RunOptions<Given>): Promise<RunView<OutputOf<Given>>>;
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
  /** Names alone, of all tasks; none is opened. */
  taskNames(): Promise<readonly string[]>;
  /** All tasks by name, or the one meant. */
  list(task?: string): Promise<readonly TaskSummaryView[]>;
  /** What is under way in this process; nothing is read. */
  running(): readonly Faces.RunningView[];
  /** `at`: as the task stood right after that event, by its number. */
  show(task: string, options?: { readonly at?: number }): Promise<TaskView>;
  /** One step by identity, path or name: what it was given, did and brought, with turns, calls, attempts and stderr. */
  showStep(task: string, step: string): Promise<StepDetailView>;
  /** Questions that nobody has answered, of one task or of all; the oldest first. */
  questions(task?: string): Promise<Faces.QuestionsView>;
  /** Events of a task; with `follow` it goes on until the task ends or the signal fires. */
  events(
    task: string,
    options?: { readonly from?: number; readonly follow?: boolean; readonly signal?: AbortSignal },
  ): AsyncIterable<EventView>;
  readonly checkpoints: {
    list(task?: string): Promise<readonly CheckpointView[]>;
    /** `values`: with inputs, outputs by path and the channel, as they stood there. */
    show(reference: string, options?: { readonly values?: boolean }): Promise<JsonObject>;
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
    /** A person's word that a keyring is meant, though it is older or nothing proves who locked it; the plan goes to `confirm`. */
    accept(task: string, options?: AcceptOptions): Promise<AcceptedKeys>;
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
  /** A workflow file as a drawing, or the definition that a task goes by. */
  graph(of: string | { readonly task: string }, format?: Faces.GraphFormat): Promise<Faces.GraphView>;
  /** Sizes, times and successes of checkpoints, with calls and cost, of one task or over all. */
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
