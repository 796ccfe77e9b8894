/** What the verbs take and answer, but for those that have views of their own. Wire shapes: snake_case, JSON-safe. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { DefinitionFault } from "../../definition/faults/fault.js";
import type { OnUnknown } from "../../definition/model/values.js";
import type { EventView, QuestionView, RunView } from "./task-views.js";
import type { PlanView } from "./past-views.js";

/** How this process executes a task, whether it begins it or goes on with it. */
export interface ExecutionOptions {
  /** Stop before these steps, by path or name: a checkpoint is taken and the task is paused. */
  readonly breakAt?: readonly string[];
  /** How long a wait is slept through: true, all of it; false, none; else a minute. Longer ones end with status 75. */
  readonly wait?: boolean;
  /** What becomes of steps of unknown outcome; by identity, path or name of a step in `unknown`, which goes before. */
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Readonly<Record<string, string>>;
  /** Answers given ahead, by name of a gate or of a step with questions. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Gates take their `default`; one without stays open. */
  readonly skipGates?: boolean;
  readonly signal?: AbortSignal;
}

export interface RunOptions<Given extends string | object = string | object> extends ExecutionOptions {
  /** File of a workflow, or a loaded/defined one. */
  readonly workflow: Given;
  readonly task?: string;
  readonly inputs?: JsonObject;
  /** Command-line text, typed by the declared inputs. */
  readonly inputTexts?: Readonly<Record<string, string>>;
  /**
   * Name of the task, for a caller that names its tasks by what they are made of: where an unfinished one of the same workflow
   * and inputs stands under another name, nothing is started, and USAGE_INVALID names it.
   */
  readonly soleTask?: string | undefined;
  /** Begin another task even where an unfinished one of the same workflow and inputs stands. */
  readonly fresh?: boolean;
  /** How long ago a person asked for it, in milliseconds: one of the same that was begun since then is this one. */
  readonly askedMsAgo?: number;
  readonly provider?: string;
  readonly model?: string;
}

export interface ResumeOptions extends ExecutionOptions {
  readonly task?: string;
  readonly checkpointId?: string;
  /** Go back to this checkpoint first: the state returns, limits and spend do not, and nothing is deleted. */
  readonly from?: string;
  /** Answers the one open question. */
  readonly answer?: string;
  /** The value that goes with `answer`. */
  readonly value?: JsonValue;
  readonly extend?: Readonly<Record<string, string>>;
  readonly acceptChanges?: boolean;
  readonly acceptLoss?: boolean;
  readonly takeOver?: boolean;
  /** The task lives here from now on: a copy, or one in another task's place, whatever this machine remembers of it. */
  readonly here?: boolean;
  /** The workflow of this program, for a task that was started by another one: its functions are taken from here. */
  readonly workflow?: object;
  /** Compute and return the plan only. */
  readonly planOnly?: boolean;
  /** Told what will be done, before anything is. */
  readonly onPlan?: (plan: PlanView) => void;
}

export interface RecoverOptions extends Pick<ExecutionOptions, "wait" | "signal"> {
  /** Also tasks that this machine never ran. */
  readonly newHere?: boolean;
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
