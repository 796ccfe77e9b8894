/**
 * The facts of a task, in the order they happened. Folding them never decides anything: every choice is inside one.
 *
 * E1: an event is durable before anything acts on it. E2: `evolve` over the same events gives the same state, byte for
 * byte, in every version. E3: every prefix of what one `decide` returns is a legal state.
 * Every event carries `schema` on the wire (see event-codec.ts); older ones are lifted by pure functions.
 * Units: `atMs` is wall time in ms, never going back within a task (max of clock and the event before).
 */
import type { CheckpointId, QuestionId, StepId, TaskId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { Place } from "../../base/place.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { StepKind } from "../../definition/model/step.js";
import type { Effects, OnUnknown } from "../../definition/model/values.js";
import type { HookName } from "../../definition/model/hooks.js";
import type { TrackRecords } from "./confidence.js";
import type { Decision, NoteEffect } from "./decision.js";
import type { SavedFile, ValueRef } from "./value-ref.js";
import type { ForkOrigin } from "./fork-origin.js";
import type { Fallback } from "./turn-notes.js";
import type { CallEvent } from "./call-events.js";
import type { QuestionEvent } from "./question.js";
import type { ChannelChange, DeferredEffects } from "./deferred-effects.js";

export interface Usage {
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** Whole micro-dollars; `undefined`: unknown, which is not zero. */
  readonly costMicroUsd?: number;
}

/** Four parts, each 0..1. Source: DESIGN section 5. */
export interface ConfidenceParts {
  readonly knowledge: number;
  readonly information: number;
  readonly implementation: number;
  readonly validation: number;
}
export interface ConfidenceReport {
  /** 0..1, as claimed; `undefined` when only uncertainties were named. */
  readonly value?: number;
  readonly parts?: ConfidenceParts;
  readonly factors: readonly string[];
  readonly uncertainties: readonly JsonValue[];
}

export interface StepError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** What the world asked for, e.g. Retry-After. */
  readonly retryAtMs?: number;
  readonly details?: JsonObject;
}

/** What the engine decided to do about a failure; inside the failure event. */
export type FailureDisposition =
  | { readonly action: "retry"; readonly atMs: number; readonly attempt: number }
  | { readonly action: "pause_until"; readonly atMs: number }
  | { readonly action: "route"; readonly to: string }
  | { readonly action: "restart"; readonly attempt: number }
  | { readonly action: "continue" }
  /** It may have acted: a person is asked. */
  | { readonly action: "ask" }
  | { readonly action: "fail" };

/** A process: its number and start, and the place where they mean something. */
export interface ProcessRef extends Place {
  readonly pid: number;
  readonly startTicks: number;
  /** In the environment of all that descends from it. */
  readonly mark?: string;
}

/** A tool server that runs as a program, by its name in the workflow. */
export interface ServerProcess {
  readonly server: string;
  readonly process: ProcessRef;
}

export type Trigger =
  | "phase_started"
  | "phase_completed"
  | "specialist_finished"
  | "evaluation_completed"
  | "confidence_threshold_crossed"
  | "error_encountered"
  | "memory_pressure_high"
  | "question_opened"
  | "interval"
  | "shutdown"
  | "user_requested"
  | "debug_breakpoint"
  | "before_risky_operation";
export type TaskEnd = "done" | "partial" | "failed" | "stopped" | "paused" | "waiting";

/** How a terminate step ended its workflow. */
export interface EndOfWorkflow {
  readonly status: "success" | "failed";
  readonly reason: string;
  /** The step's output takes the place of the workflow's. */
  readonly replacesOutput: boolean;
}

export type ScorerIssue = { readonly text: string; readonly severity?: string; readonly where?: string };
/** The score of one dimension. */
export interface RecordedScore {
  /** 0–100. */
  readonly score: number;
  readonly issues: readonly ScorerIssue[];
  readonly feedback?: string;
  readonly evidence?: string;
  /** Of several judges: how far they are apart in points, and what each said. */
  readonly spread?: number;
  readonly judges?: Readonly<Record<string, number>>;
}
/** `decision`: the choice that is one with the event, e.g. a person's with an answer; it is folded after it. */
export type EngineEvent = { readonly atMs: number; readonly decision?: Decision } & (
  | {
      readonly type: "task_started";
      readonly taskId: TaskId;
      readonly name: string;
      readonly definition: WorkflowDefinition;
      readonly definitionFile?: string;
      readonly folder: string;
      readonly inputs: JsonObject;
      readonly settings: JsonObject;
      readonly traceparent?: string;
      readonly onUnknown?: OnUnknown;
      /** Of specialists whose claims were measured in earlier tasks. */
      readonly trackRecords?: TrackRecords;
    }
  /** A new owner goes on. `crashed`: the one before ended without `task_closed`. `byPerson`: crash counters start afresh. */
  | {
      readonly type: "task_resumed";
      readonly epoch: number;
      readonly by: "run" | "resume" | "recover" | "library";
      readonly crashed: boolean;
      /** What recovery found: base used, records replayed, tail, quarantined files, unknown steps. */
      readonly report: JsonObject;
      readonly definition?: WorkflowDefinition;
      readonly byPerson?: boolean;
      /** Records are missing: what is open may have gone further than it looks. */
      readonly uncertain?: boolean;
      readonly onUnknown?: OnUnknown;
    }
  | {
      readonly type: "task_closed";
      readonly end: TaskEnd;
      readonly reason: string;
      readonly exitStatus: number;
      readonly resumable: boolean;
      /** By the wall, as `wallAtMs`, which says when that was written. */
      readonly resumeAtMs?: number;
      readonly wallAtMs?: number;
      readonly output?: ValueRef;
    }
  /** On a resume also for a scope that is open: what it is entered with was at fault and is chosen again. */
  | {
      readonly type: "scope_entered";
      readonly path: string;
      readonly visit: number;
      readonly phase?: number;
      /** Of a for_each: the list of items. */
      readonly items?: ValueRef;
      readonly count?: number;
      /** With `key_by`: the list of their keys, each once. */
      readonly keys?: ValueRef;
      /** Of a nested workflow. */
      readonly inputs?: ValueRef;
      /** Why it cannot go on: its source is no list, its inputs are not valid. */
      readonly error?: StepError;
    }
  /** `saved`: files of a phase's best iteration that a later one had overwritten, written after this record. */
  | {
      readonly type: "scope_left";
      readonly path: string;
      readonly visit: number;
      readonly outcome: "done" | "partial" | "failed";
      readonly phase?: number;
      readonly confidence?: number;
      readonly output?: ValueRef;
      readonly saved?: readonly SavedFile[];
      readonly next?: string;
      readonly routeOutput?: JsonObject;
      /** Of a workflow that a terminate step ended. */
      readonly ends?: EndOfWorkflow;
      /** What made it fail. */
      readonly error?: StepError;
    }
  /**
   * A step or scope is not done at all, for its condition, for what it depends on, or because its workflow has ended.
   * On a resume also for a scope that is open: its condition could not be judged before.
   */
  | {
      readonly type: "node_skipped";
      readonly path: string;
      readonly visit: number;
      readonly phase: number;
      readonly kind?: StepKind;
      readonly reason: string;
      /** Where a machine goes on. */
      readonly next?: string;
    }
  | {
      readonly type: "iteration_started";
      readonly path: string;
      readonly iteration: number;
      readonly feedback: readonly string[];
    }
  | {
      readonly type: "step_intended";
      readonly step: StepId;
      readonly path: string;
      readonly round: number;
      readonly visit: number;
      readonly attempt: number;
      readonly kind: StepKind;
      readonly phase: number;
      /** Everything rendered that the performer needs: argv, prompt, values, input map. */
      readonly work: ValueRef;
      readonly inputHash: string;
      readonly idempotencyKey: string;
      readonly effects: Effects;
      readonly onUnknown: OnUnknown;
      /** For `wait`: when it is over. */
      readonly dueAtMs?: number;
      /** A specialist that Atlas added: its definition. */
      readonly spawnedDefinition?: JsonObject;
      readonly permittedBy?: QuestionId;
      /** A question or a failure follows at once: this intent is never acted on. */
      readonly held?: true;
      /** Of the definition it was rendered from. */
      readonly fingerprint?: string;
      /** How much of its guidance it begins with. */
      readonly guided?: number;
    }
  | { readonly type: "step_spawned"; readonly step: StepId; readonly attempt: number; readonly process: ProcessRef }
  | {
      readonly type: "step_completed";
      readonly step: StepId;
      readonly attempt: number;
      readonly output: ValueRef;
      readonly confidence?: ConfidenceReport;
      readonly blockers?: readonly string[];
      readonly assumptions?: readonly string[];
      readonly usage?: Usage;
      readonly durationMs: number;
      /** Deliverables whose content is durable here and is written after this record. */
      readonly saved?: readonly SavedFile[];
      readonly next?: string;
      readonly routeOutput?: JsonObject;
      readonly wishes?: DeferredEffects;
      /** `rerun`-free ways to complete: by a person's answer, a probe, or a skip. */
      readonly by?: "answer" | "probe" | "skip";
      /** A terminate step: its workflow is over. */
      readonly ends?: EndOfWorkflow;
      /** The end of the program's stderr, for people; no rule reads it. */
      readonly stderr?: string;
    }
  | {
      readonly type: "step_failed";
      readonly step: StepId;
      readonly attempt: number;
      readonly error: StepError;
      readonly durationMs: number;
      readonly usage?: Usage;
      readonly disposition: FailureDisposition;
    }
  /** Ended by cancellation before it acted or with a known-harmless state; it will be intended again. */
  | { readonly type: "step_cancelled"; readonly step: StepId; readonly attempt: number; readonly reason: string }
  /** A model is asked; what ends the call says what it used. Where nothing does, that is unknown. */
  | { readonly type: "call_begun"; readonly step: StepId; readonly attempt: number; readonly asked: string }
  | {
      readonly type: "turn_recorded";
      readonly step: StepId;
      readonly attempt: number;
      readonly turn: number;
      readonly value: ValueRef;
      readonly usage?: Usage;
      readonly fallback?: Fallback;
      readonly guided?: number;
    }
  | CallEvent
  | {
      readonly type: "milestone_reached";
      readonly step: StepId;
      readonly attempt: number;
      readonly name: string;
      readonly state: ValueRef;
      readonly wishes?: DeferredEffects;
    }
  | {
      readonly type: "progress_reported";
      readonly step: StepId;
      readonly attempt: number;
      readonly fraction?: number;
      readonly message?: string;
      readonly partial?: ValueRef;
      readonly confidence?: number;
      readonly blocker?: string;
    }
  | { readonly type: "decision_made"; readonly decision: Decision }
  | QuestionEvent
  /** A text that the workflow wanted told. */
  | { readonly type: "hook_told"; readonly hook: HookName; readonly text: string; readonly path?: string }
  /** By a program that works on the task without the engine. */
  | ({ readonly type: "channel_changed" } & ChannelChange)
  /** A goal has its phases, those before `next` as they were; without `phases` the plan stays. `again`: a person wants another. */
  | {
      readonly type: "plan_settled";
      readonly path: string;
      readonly phases?: readonly JsonObject[];
      readonly again?: boolean;
      /** The answer that it follows. */
      readonly consumes?: QuestionId;
    }
  | ({
      readonly type: "score_recorded";
      readonly path: string;
      readonly iteration: number;
      readonly dimension: string;
    } & RecordedScore)
  | {
      readonly type: "evaluation_completed";
      readonly path: string;
      readonly iteration: number;
      readonly score: number;
      readonly verdict: "approve" | "iterate" | "reject";
      readonly best: boolean;
    }
  | {
      readonly type: "checkpoint_recorded";
      readonly checkpointId: CheckpointId;
      readonly seq: number;
      readonly phase: number;
      readonly trigger: Trigger;
      readonly status: "in_progress" | "paused" | "failed" | "completed";
      readonly note?: string;
      readonly request?: string;
      readonly metadata?: JsonObject;
    }
  | {
      readonly type: "snapshot_written";
      readonly checkpointId: CheckpointId;
      readonly seq: number;
      readonly file: string;
      readonly sha256: string;
      readonly sizeBytes: number;
      readonly rawBytes: number;
      readonly durationMs: number;
    }
  | {
      readonly type: "snapshot_failed";
      readonly checkpointId: CheckpointId;
      readonly seq: number;
      readonly error: StepError;
    }
  | {
      readonly type: "rolled_back";
      readonly to: CheckpointId;
      readonly seq: number;
      readonly round: number;
      readonly reason: string;
      /** To the start of this phase (`to` is the checkpoint nearest to it), or to the earlier state, encoded. */
      readonly phase?: number;
      readonly state?: ValueRef;
    }
  /** The first record of a task that begins where another one stood. It is paused until somebody goes on with it. */
  | {
      readonly type: "task_forked";
      readonly taskId: TaskId;
      readonly name: string;
      readonly origin: ForkOrigin;
      readonly by: string;
      /** What was changed in the state, by path. */
      readonly set?: JsonObject;
      /** The state of the other task there, encoded, with what was changed. */
      readonly state: ValueRef;
    }
  /** Snapshot files that go, and how far `prune --history` shortens the journal: `before` is the first record that stays. */
  | {
      readonly type: "pruned";
      readonly files: readonly string[];
      readonly reason: string;
      readonly history?: { readonly before: number };
    }
  /** A tool server of the task is about to run, as a program; several steps may use it. */
  | ({ readonly type: "server_spawned" } & ServerProcess)
  /** Nothing of it runs any more. */
  | ({ readonly type: "server_ended" } & ServerProcess)
  /** Work goes on: the time so far is on record, should this process be killed. In tasks with a limit in time. */
  | { readonly type: "time_counted" }
  | { readonly type: "delivered"; readonly saved: readonly SavedFile[] }
  | { readonly type: "noted"; readonly text: string; readonly effect?: NoteEffect; readonly facts?: JsonObject }
);

export type EngineEventType = EngineEvent["type"];
export type EventOf<T extends EngineEventType> = Extract<EngineEvent, { readonly type: T }>;
