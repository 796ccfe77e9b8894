/** Views of the verbs that draw, measure and account (`graph`, `metrics`, `show --timeline`, `audit`), and of what runs. Plain JSON. */
import type { JsonObject } from "../../base/json.js";
import type { ConfidenceReportView } from "../../engine/reports/confidence-report.js";
import type { MetricsView, QuestionView, SpentView } from "./task-views.js";
import type { CheckView } from "./verb-views.js";

export type GraphFormat = "mermaid" | "dot";

/** Of a workflow file, or of the definition that a task was started with. */
export interface GraphView {
  readonly file?: string;
  readonly task?: string;
  readonly workflow: string;
  readonly format: GraphFormat;
  readonly text: string;
  /** The same drawing as data. */
  readonly root: GraphFrame;
}

/** A scope: boxes and scopes inside it, and the arrows between them. */
export interface GraphFrame {
  readonly id: string;
  /** The scope's path in the definition; absent for what is drawn beside the workflow. */
  readonly path?: string;
  readonly label: string;
  readonly boxes: readonly GraphBox[];
  readonly frames: readonly GraphFrame[];
  /** Between boxes and frames directly or indirectly inside. */
  readonly arrows: readonly GraphArrow[];
}

export type GraphShape = "step" | "model" | "choice" | "start" | "end";

export interface GraphBox {
  readonly id: string;
  /** The step's path in the definition: its attempts have it, with keys of items in brackets. Absent where no step stands behind the box. */
  readonly path?: string;
  readonly label: string;
  readonly shape: GraphShape;
}

export interface GraphArrow {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  /** The way of a failure. */
  readonly dashed?: boolean;
}

/** Of a set of measurements; all zero when there was none. */
export interface Distribution {
  readonly unit: "ms" | "bytes";
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Source: seed 003, metrics_to_track. */
export interface CheckpointMetrics {
  readonly checkpoint_write_duration: Distribution;
  readonly checkpoint_size: Distribution;
  /** How many takings-up after a crash came to their first record; `rate` is null where there was none. */
  readonly recovery_success_rate: {
    readonly attempts: number;
    readonly succeeded: number;
    readonly rate: number | null;
  };
  /** Over working time; null where nothing was measured yet. */
  readonly checkpoint_frequency: {
    readonly checkpoints: number;
    readonly files: number;
    readonly failed: number;
    readonly per_hour: number | null;
    readonly mean_interval_seconds: number | null;
  };
  readonly storage_usage: {
    readonly total: number;
    readonly journal: number;
    readonly snapshots: number;
    readonly blobs: number;
    readonly other: number;
    readonly deliverables: number;
  };
  readonly spent: SpentMetrics;
}

/** Model calls, tokens and cost over all tasks that were read. */
export interface SpentMetrics {
  readonly total: SpentView;
  /** From the question to the answer of each call that was answered. */
  readonly call_duration: Distribution;
  /** One entry for each day on which calls were made, in the time zone of this machine, oldest first. */
  readonly by_day: readonly (SpentView & { readonly day: string })[];
}

export interface MetricsReport extends CheckpointMetrics {
  readonly tasks: readonly (CheckpointMetrics & { readonly task: string })[];
  /** Tasks that could not be read, and why. */
  readonly passed_over: readonly { readonly task: string; readonly why: string }[];
}

/** A question of a task that nobody has answered. */
export interface OpenQuestionView {
  readonly task: string;
  readonly workflow?: string;
  readonly question: QuestionView;
}

export interface QuestionsView {
  /** The oldest first. */
  readonly questions: readonly OpenQuestionView[];
  /** Tasks that could not be read, and why. */
  readonly passed_over: readonly { readonly task: string; readonly why: string }[];
}

export interface TimelineSpan {
  readonly from: string;
  readonly to: string;
  readonly attempt: number;
  /** completed, failed, cancelled, crashed (its owner died), open. */
  readonly status: string;
}

export interface TimelineLane {
  readonly step: string;
  readonly path: string;
  readonly phase: number;
  readonly spans: readonly TimelineSpan[];
}

export type TimelineMarkKind = "checkpoint" | "decision" | "question" | "resumed" | "rolled_back";

export interface TimelineMark {
  readonly at: string;
  readonly kind: TimelineMarkKind;
  readonly text: string;
}

export interface TimelineView {
  readonly task: string;
  readonly workflow: string;
  readonly from: string;
  readonly to: string;
  /** Stretches in which a process worked on the task. */
  readonly working: readonly { readonly from: string; readonly to: string }[];
  readonly phases: readonly {
    readonly name: string;
    readonly number: number;
    readonly from: string;
    readonly to: string;
    readonly confidence?: number;
  }[];
  readonly lanes: readonly TimelineLane[];
  readonly marks: readonly TimelineMark[];
}

export interface AuditEntryView {
  readonly task: string;
  /** Number of its file; 0 for what is kept on this machine and in no file yet. */
  readonly n: number;
  readonly at: string;
  readonly event: string;
  readonly verb: string;
  readonly by: string;
  readonly host: string;
  readonly pid: number;
  /** Absent where no key opens it. */
  readonly details?: JsonObject;
}

export interface AuditShowView {
  readonly entries: readonly AuditEntryView[];
  /** Files that could not be read as audit files; `audit verify` says more. */
  readonly problems: readonly string[];
}

export interface AuditVerifyView {
  readonly intact: boolean;
  readonly exit_status: number;
  readonly files: number;
  readonly entries: number;
  readonly checks: readonly CheckView[];
}

/** A task that runs in this process, as it stands right now. */
export interface RunningView {
  readonly task: string;
  readonly workflow: string;
  /** `elapsed_time` up to now. */
  readonly metrics: MetricsView;
  readonly phases: readonly RunningPhaseView[];
  /** Phases of the workflow that have not begun, in their order. */
  readonly phases_to_come: readonly string[];
  /** What is open, in the order it was begun. */
  readonly steps: readonly RunningStepView[];
  /** Steps that are tried again when their time has come. */
  readonly retries: readonly RunningRetryView[];
  /** Loops over lists that are open. */
  readonly loops: readonly RunningLoopView[];
  readonly steps_done: number;
  /** Steps that hold up others: failed, unknown or parked. */
  readonly blocked: number;
  /** The last one recorded. */
  readonly checkpoint?: { readonly seq: number; readonly trigger: string; readonly at: string };
  readonly open_questions: number;
}

export interface RunningPhaseView {
  readonly name: string;
  readonly number: number;
  readonly status: "running" | "done" | "partial" | "failed" | "skipped";
  readonly iteration: number;
  readonly confidence?: number;
  /** 0–100, of the last evaluation. */
  readonly score?: number;
}

export interface RunningRetryView {
  readonly step: string;
  readonly name: string;
  readonly phase: number;
  /** The one that comes. */
  readonly attempt: number;
  readonly at: string;
  readonly error?: string;
}

export interface RunningLoopView {
  readonly path: string;
  readonly name: string;
  /** The phase it is part of; 0 for none. */
  readonly phase: number;
  readonly count: number;
  /** Ended, whatever came of it. */
  readonly done: number;
  readonly failed: number;
  readonly under_way: number;
}

export interface RunningStepView {
  readonly step: string;
  readonly name: string;
  readonly phase: number;
  readonly attempt: number;
  readonly started_at: string;
  readonly fraction?: number;
  readonly message?: string;
  readonly confidence?: number;
  /** The question that it waits for. */
  readonly asks?: string;
}

/** What a run would do; nothing was made for it. */
export interface DryRunView {
  readonly dry_run: true;
  readonly workflow: string;
  readonly fingerprint: string;
  readonly inputs: JsonObject;
  readonly steps: readonly DryRunStepView[];
  /** Phases are planned when the task runs, within these bounds. */
  readonly goal?: DryRunGoalView;
  /** Steps that wait for a person. */
  readonly gates: readonly string[];
  readonly limits: JsonObject;
  readonly notes: readonly string[];
  readonly text: string;
}

export interface DryRunGoalView {
  readonly text: string;
  /** Whom it is asked of, and who carries out what is planned; after `provider_map`. */
  readonly planner: DryRunModelView;
  readonly specialists: DryRunModelView;
  /** Who chooses what follows from a phase; absent: the rules. */
  readonly atlas?: DryRunModelView;
  readonly max_phases: number;
  readonly max_specialists: number;
  /** A person agrees first. */
  readonly approve: boolean;
  /** Looked at again between phases. */
  readonly replan: boolean;
}

export interface DryRunModelView {
  readonly provider: string;
  readonly model?: string;
}

export interface DryRunStepView {
  readonly step: string;
  readonly kind: string;
  readonly effects: string;
  readonly after?: readonly string[];
  readonly provider?: string;
  readonly model?: string;
  /** What must happen for it to run, in words. */
  readonly when?: string;
}

/** Confidences 0..1, scores 0–100; phases and specialists in the order of the definition. */
export interface ConfidenceView extends ConfidenceReportView {
  readonly task: string;
  /** The report as a person reads it. */
  readonly text: string;
}
