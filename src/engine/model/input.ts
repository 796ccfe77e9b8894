/**
 * What `decide` is asked, and what it is given to choose with.
 *
 * The runner feeds inputs one at a time: decide → large values to blobs → evolve and append, event by event → `advance`
 * until it answers nothing → durable → look for a higher epoch → act on what was intended and is still open. `decide`
 * reads the state and changes nothing. Steps of kind `wait` are not performed: `due` ends them.
 */
import type { ApprovalWish } from "./approval-wish.js";
import type { QuestionId, StepId, TaskId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { RandomSource } from "../../base/random.js";
import type { TemplateScope } from "../../definition/templates/templates.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { Condition, Template, TemplateValue } from "../../definition/model/values.js";
import type { TrackRecords } from "./confidence.js";
import type { EngineEvent, EventOf, ServerProcess, TaskEnd } from "./events.js";
import type { BlobRef, ValueRef } from "./value-ref.js";
import type { QuestionKind } from "./question.js";
import type { QuestionOption } from "./question-option.js";
import type { ControlMessage, StepOutcome } from "./ports.js";
import type { CheckpointEntry } from "./state.js";
import type { DeferredEffects } from "./deferred-effects.js";

/** What a superseded owner wrote too late. */
export interface OrphanCompletion {
  readonly step: StepId;
  readonly attempt: number;
  /** Whose owner wrote it, and as which record of that epoch. */
  readonly epoch: number;
  readonly n: number;
  /** Absent where it cannot be the answer to anything any more, or cannot be read. */
  readonly output?: JsonValue;
}

/**
 * The template language as the engine sees it; definition/templates/templates.ts satisfies it. A scope is asked only for the names
 * that the template uses, so nothing else is put together or loaded.
 *
 * Errors: TEMPLATE_FAILED.
 */
export interface TemplateEngine {
  renderValue(value: TemplateValue, scope: TemplateScope): JsonValue;
  /** Always text, whatever the expression gives. */
  renderText(template: Template, scope: TemplateScope): string;
  /** `random` is what `rand()` and `randint(n)` draw from; without it they are refused. */
  evaluateCondition(condition: Condition, scope: TemplateScope, options?: { readonly random?: () => number }): boolean;
}

/** What the owner of a task has said of its run: the same at every choice. */
export interface RunLimits {
  /** True for a step that a person wants to stop before. */
  readonly isBreakpoint?: ((path: string) => boolean) | undefined;
  /** A picture of the task is among its deliverables when it has ended. */
  readonly drawsPicture?: boolean;
  /** Longest wait that is slept out in this process; a longer one ends it with status 75. Infinity with `--wait`. */
  readonly sleepMsMax: number;
}

export interface DecideContext extends RunLimits {
  readonly templates: TemplateEngine;
  /** Already clamped: never before `state.atMs`. */
  readonly nowMs: number;
  /** How far the task's clock is ahead of the wall: times that come in are moved by it, those that go out back. */
  readonly aheadMs?: number;
  readonly random: RandomSource;
  /** Large values loaded so far; what is missing is asked for with `needs`. */
  readonly blob: (ref: BlobRef) => JsonValue | undefined;
  readonly memoryFraction: number;
  readonly memoryBytes: number;
}

export interface Rollback {
  readonly to: CheckpointEntry;
  readonly state: JsonValue;
  /** Steps that were done there. */
  readonly done: ReadonlySet<StepId>;
  readonly by: string;
}

/** A process as people look for it. */
export interface ProcessPlace {
  readonly pid: number;
  readonly host: string;
}

export type EngineInput =
  | {
      readonly kind: "start";
      readonly taskId: TaskId;
      readonly name: string;
      readonly definition: WorkflowDefinition;
      readonly definitionFile?: string;
      readonly folder: string;
      readonly inputs: JsonObject;
      readonly settings: JsonObject;
      readonly traceparent?: string;
      /** Flag `--on-unknown`: a member that is ended because another one failed may have acted. */
      readonly onUnknown?: "ask" | "rerun" | "skip" | "fail" | undefined;
      readonly trackRecords?: TrackRecords;
    }
  /** A new owner: `task_resumed`, then one choice per open step (rerun, unknown, parked, orphan offered). */
  | {
      readonly kind: "resumed";
      readonly epoch: number;
      readonly by: "run" | "resume" | "recover" | "library";
      readonly crashed: boolean;
      readonly report: JsonObject;
      /** What was recorded last, but for owners that only began: its checkpoint may be missing, and is caught up on. */
      readonly last?: EngineEvent | undefined;
      readonly definition?: WorkflowDefinition;
      /** Completions found off the chain, oldest first: told, and offered as answers where they can be. */
      readonly orphans: readonly OrphanCompletion[];
      /** Every step that may have begun at or after unrecovered damage is unknown. */
      readonly uncertain: boolean;
      /** Flag `--on-unknown`; beats step, workflow and settings. */
      readonly onUnknown?: "ask" | "rerun" | "skip" | "fail";
      /** Flag `--unknown`, by identity, path or name of a step; beats `onUnknown`. */
      readonly onUnknownOf?: Readonly<Record<string, "ask" | "rerun" | "skip" | "fail">>;
      /** A person resumed by hand: crash counters start afresh. */
      readonly byPerson: boolean;
      /** A person goes back: to this checkpoint, whose state comes encoded for return. */
      readonly goBack?: Rollback;
      readonly maxRecoveryAttempts: number;
      /** Of which open steps something may still run where the new owner can neither see nor end it. */
      readonly mayRun?: ReadonlyMap<StepId, ProcessPlace>;
      /** Tool servers of earlier owners that may still run, by `processKeyOf`; the others have ended. */
      readonly serversLeft?: ReadonlySet<string>;
      /** What probes said, by step, asked before this input by the runner. */
      readonly probed: ReadonlyMap<StepId, { readonly done: boolean; readonly output?: JsonValue }>;
    }
  /**
   * Choose what may start now: intents, scopes, questions, decisions. One call chooses for one scope: the runner folds
   * the answer and asks again until the answer is empty.
   */
  | { readonly kind: "advance" }
  | {
      readonly kind: "outcome";
      readonly step: StepId;
      readonly attempt: number;
      /** Sanitised; `output` as a reference when it is large. */
      readonly outcome: StepOutcome;
      readonly output?: ValueRef;
      readonly durationMs: number;
      readonly wishes?: DeferredEffects;
    }
  | ({ readonly kind: "server_spawned" | "server_ended" } & ServerProcess)
  | { readonly kind: "report"; readonly report: StepReport }
  /** A further call inside a step is about to begin. */
  | { readonly kind: "before_call"; readonly step: StepId; readonly attempt: number }
  /** A call of a tool waits for a person. */
  | {
      readonly kind: "approval_wanted";
      readonly step: StepId;
      readonly attempt: number;
      readonly wish: ApprovalWish;
      readonly input: JsonValue;
    }
  | { readonly kind: "message"; readonly message: ControlMessage }
  /** The time returned by `nextDueAtMs` has come: retries, waits, expired questions, intervals, limits in time. */
  | { readonly kind: "due" }
  /**
   * Nothing runs in this process. Closes the task when nothing more can happen here: done, partial, failed, waiting
   * (questions open), paused until a time. Empty when a due time within `sleepMsMax` is worth waiting for.
   */
  | { readonly kind: "quiescent" }
  /** Leave now: a shutdown checkpoint and `task_closed`. Open external steps stay open and are unknown later. */
  | {
      readonly kind: "close";
      /** `crashed`: nothing of the workflow has failed, the storage has; the task stays open for the next owner. */
      readonly end: TaskEnd | "crashed";
      readonly reason: string;
      readonly exitStatus: number;
      readonly signal?: string;
    }
  | {
      readonly kind: "snapshot_written";
      readonly event: Extract<EngineEvent, { type: "snapshot_written" | "snapshot_failed" | "pruned" }>;
    }
  /** A question from outside the steps: a changed definition, a loss. While it is open nothing starts. */
  | {
      readonly kind: "ask";
      readonly questionKind: QuestionKind;
      readonly subject: string;
      readonly text: string;
      /** The first one means going on; any other ends the task here. */
      readonly options: readonly QuestionOption[];
      readonly facts?: JsonObject;
      readonly expiresAtMs?: number;
      readonly onExpire?: string;
    }
  | {
      readonly kind: "answered_before";
      readonly question: QuestionId;
      readonly answer: string;
      readonly value?: JsonValue;
      readonly by: string;
    };

type ReportType =
  | "step_spawned"
  | "progress_reported"
  | "milestone_reached"
  | "substep_intended"
  | "substep_completed"
  | "substep_failed"
  | "call_begun"
  | "tool_intended"
  | "tool_completed";
type Untimed<E> = E extends unknown ? Omit<E, "atMs" | "decision"> : never;

/** What an attempt says while it runs: the event it becomes, if it is still the current one. Turns are numbered then. */
export type StepReport = Untimed<EventOf<ReportType>> | Omit<EventOf<"turn_recorded">, "atMs" | "decision" | "turn">;

/** Events to fold in order, or blobs that must be loaded first (then `decide` is asked the same again). */
export type Decided = { readonly events: readonly EngineEvent[] } | { readonly needs: readonly BlobRef[] };
