/** What faces see of tasks, their runs, steps, questions, events and checkpoints. Wire shapes: see contract.ts. */
import type { JsonObject, JsonValue } from "../../base/json.js";

/** How a task ended or paused in this process. */
/** How a run ended. `Output` is what its workflow gives, where that can be told from the program. */
export interface RunView<Output = JsonValue> {
  readonly task: string;
  readonly workflow_id: string;
  readonly workflow: string;
  /** done, partial, failed, stopped, paused, waiting. */
  readonly status: string;
  readonly reason: string;
  readonly exit_status: number;
  readonly output?: Output;
  readonly resumable: boolean;
  readonly resume_at?: string;
  /** The command, or the program, that goes on; absent where an answer is needed first, or nothing is left to do. */
  readonly next?: string;
  /** Those that nobody has answered. */
  readonly questions: readonly QuestionView[];
  readonly deliverables: readonly DeliverableView[];
  readonly folder: string;
  /** `started`, `taken_up` (a crashed task went on by `run` or `recover`), `resumed`, `finished_before` (nothing ran). */
  readonly how: "started" | "taken_up" | "resumed" | "finished_before";
  readonly steps: { readonly done: number; readonly failed: number; readonly skipped: number; readonly open: number };
  /** Steps that failed and stand so, in their order; the last ones where they are many. Absent where none did. */
  readonly failures?: readonly FailureView[];
  readonly metrics: MetricsView;
  readonly recovery?: JsonObject;
  readonly notices: readonly string[];
}

/** A failed step, with what its program said of it. */
export interface FailureView {
  readonly step: string;
  readonly code: string;
  readonly message: string;
  /** The lines of stderr around the error, without what a runtime adds. */
  readonly stderr?: string;
}

export interface MetricsView {
  readonly elapsed_time: number;
  readonly api_calls: number;
  readonly tokens_used: number;
  readonly cost_usd: number;
  readonly unpriced_calls: number;
  /** Calls that were cut off: nobody knows their tokens. */
  readonly uncounted_calls?: number;
  readonly memory_peak: number;
}

/** Model calls, tokens and cost. */
export interface SpentView {
  readonly calls: number;
  readonly tokens: number;
  readonly cost_usd: number;
  /** Calls whose price is unknown: not in `cost_usd`. */
  readonly unpriced_calls: number;
  /** Calls of which nobody told the tokens: not in `tokens`. */
  readonly uncounted_calls: number;
}

export interface DeliverableView {
  readonly file: string;
  readonly size: number;
  readonly sha256: string;
  /** Deliverables are written in the clear, after redaction, mode 0600. */
  readonly in_the_clear: boolean;
}

export interface QuestionView {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly options: readonly {
    readonly value: string;
    readonly label: string;
    readonly takes_value: boolean;
    /** Name of a text that may go with it. */
    readonly prompt_for?: string;
    readonly multiline?: boolean;
  }[];
  /** What a wizard asks, in order. */
  readonly items?: readonly WizardItemView[];
  /** The item that is asked now. */
  readonly at?: string;
  readonly step?: string;
  readonly opened_at: string;
  readonly expires_at?: string;
  /** What is answered when nobody did by then. */
  readonly on_expire?: string;
  readonly offered?: JsonValue;
  /** `answered`: recorded, and not acted on yet. */
  readonly status: "open" | "answered" | "consumed";
  readonly answer?: string;
  readonly answered_by?: string;
  readonly answered_at?: string;
  /** The command that answers it; of a task that its program goes on with, followed by a comment that says so. */
  readonly command: string;
}

export interface WizardItemView {
  readonly id: string;
  readonly text: string;
  readonly hint?: string;
  readonly choices: readonly string[];
  readonly allow_free_text: boolean;
  readonly default?: JsonValue;
  readonly required: boolean;
  readonly multiline: boolean;
  readonly status: "open" | "answered" | "skipped";
  readonly answer?: JsonValue;
}

export interface TaskSummaryView {
  readonly task: string;
  readonly workflow_id?: string;
  readonly workflow?: string;
  readonly status: string;
  readonly phase?: number;
  readonly started_at?: string;
  readonly last_event_at?: string;
  readonly steps_done?: number;
  /** The task's model calls, tokens and cost; absent without calls. */
  readonly spent?: SpentView;
  readonly open_questions?: number;
  /** The oldest open question: what the task waits for. */
  readonly waits_for?: { readonly question: string; readonly text: string };
  readonly resume_at?: string;
  readonly size: number;
  /** This machine never ran it: nobody goes on with it until a person resumes it. */
  readonly new_here?: true;
  /** Where this machine knows the task to be, when that is not here. */
  readonly lives_as?: { readonly task: string; readonly store: string };
  /** What there is to say of that, in a sentence. */
  readonly residence?: string;
  /** Its functions are in the program that defined its workflow, which alone goes on with it: what to do, in a sentence. */
  readonly by_program?: string;
  /** Damaged places of the journal that cost nothing, as a snapshot or the rest of the file makes up for them. */
  readonly damaged?: readonly string[];
  /** Why the task cannot be read, when it cannot. */
  readonly problem?: { readonly code: string; readonly message: string; readonly hint: string };
}

export interface StepView {
  readonly step: string;
  readonly path: string;
  readonly kind: string;
  readonly status: string;
  readonly attempt: number;
  readonly phase: number;
  readonly started_at: string;
  readonly duration?: number;
  readonly confidence?: number;
  readonly error?: JsonObject;
  /** Why it is skipped. */
  readonly reason?: string;
  readonly progress?: JsonObject;
  /** Another model answered than the one that was asked first; names as `provider/model`. */
  readonly fallback?: { readonly asked: string; readonly answered: string; readonly why: string };
  readonly next?: string;
}

export interface GuidanceView {
  readonly text: string;
  readonly by: string;
  /** When it was taken; when it was given, as long as it is not. */
  readonly at: string;
  /** The step or scope it is for; absent: the whole task. */
  readonly step?: string;
  readonly taken: boolean;
  /** Identities of the steps that were told of it so far. */
  readonly told: readonly string[];
}

export interface TaskView extends TaskSummaryView {
  /** Where it began, when it is a fork. */
  readonly forked_from?: {
    readonly task: string;
    readonly workflow_id: string;
    readonly checkpoint_id: string;
    readonly seq: number;
  };
  /** The task as it stood right after this event; `of` is the number of its last event. Absent: as it stands now. */
  readonly as_of?: { readonly event: number; readonly of: number };
  /** The number of the last event that the view tells of; 0 before the first. */
  readonly last_event: number;
  readonly folder: string;
  readonly owner?: JsonObject;
  /** The command, or the program, that goes on; absent where an answer is needed first, or nothing is left to do. */
  readonly next?: string;
  readonly inputs: JsonObject;
  readonly reason?: string;
  readonly output?: JsonValue;
  readonly phases: readonly JsonObject[];
  readonly steps: readonly StepView[];
  readonly decisions: readonly JsonObject[];
  readonly questions: readonly QuestionView[];
  /** What people said, as it was taken; then what waits to be. */
  readonly guidance: readonly GuidanceView[];
  /** Messages that this version cannot take, one sentence each. */
  readonly unread: readonly string[];
  readonly checkpoints: number;
  readonly deliverables: readonly DeliverableView[];
  readonly metrics: MetricsView;
  /** What was lost or repaired, by name. */
  readonly damage: readonly string[];
  readonly encrypted: boolean;
  /** What would run as programs when it goes on; told of what is new here. */
  readonly programs?: readonly string[];
}

export interface EventView {
  readonly n: number;
  readonly at: string;
  readonly type: string;
  readonly text: string;
  readonly event: JsonObject;
}

export interface CheckpointView {
  readonly task: string;
  readonly checkpoint_id: string;
  readonly seq: number;
  readonly phase: number;
  readonly trigger: string;
  readonly status: string;
  readonly timestamp: string;
  readonly position: number;
  readonly note?: string;
  readonly metadata?: JsonObject;
  /** Absent when there is no snapshot file; the checkpoint can still be replayed and forked. */
  readonly file?: string;
  readonly size?: number;
  /** A person pinned it: its file, and the history that leads to it, stay. */
  readonly pinned?: true;
  /** The history was shortened: nothing leads to it any more. */
  readonly reachable?: false;
}
