/**
 * What the engine needs of the world. The engine knows no time, files, network or randomness; the runner is its only
 * awaiting part and talks through these.
 */
import type { Clock } from "../../base/clock.js";
import type { RandomSource } from "../../base/random.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { AddedStep } from "../../definition/compile/added-step.js";
import type { Log } from "../../base/log.js";
import type { QuestionId } from "../../base/ids.js";
import type { TextPart } from "../../definition/faults/fault.js";
import type { SecretPlace } from "../../definition/templates/secret-marks.js";
import type { WrittenPlace } from "../../definition/templates/template-places.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { Effects } from "../../definition/model/values.js";
import type { Approval, ApprovalWish } from "./approval-wish.js";
import type { ConfidenceParts, EngineEvent, ProcessRef, StepError, Usage } from "./events.js";
import type { SubstepFailure } from "./call-events.js";
import type { BlobRef } from "./value-ref.js";
import type { TurnNotes } from "./turn-notes.js";
import type { StepEntry, TaskState } from "./state.js";

/** The journal as the engine sees it. */
export interface EventLog {
  /** Queues events in order; cheap and synchronous. They are folded by the caller, not by the log. */
  append(events: readonly EngineEvent[]): void;
  /** Resolves when everything appended before is durable. Errors: the STORE_* codes. */
  durable(): Promise<void>;
  /** The look for a higher epoch. Errors: OWNER_SUPERSEDED. */
  confirm(): Promise<void>;
}

/** Large values, sealed. */
export interface BlobShelf {
  /** Durable on return. */
  put(value: JsonValue): Promise<BlobRef>;
  /** Errors: BLOB_CORRUPT. */
  get(ref: BlobRef): Promise<JsonValue>;
}

export interface TaskFacts {
  readonly id: string;
  readonly name: string;
  /** Name of the workflow the step is part of, and what it says of itself. */
  readonly workflow?: string;
  readonly description?: string;
}

/** An empty name outside phases. */
export interface PhaseFacts {
  readonly name: string;
  readonly number: number;
  readonly iteration: number;
  readonly description?: string;
  /** What its results are judged by, in words. */
  readonly criteria?: string;
}

/** What a performer gets. Everything is rendered; large values are loaded. */
export interface StepWork {
  readonly task: TaskFacts;
  readonly step: StepEntry;
  readonly definition: StepDefinition;
  readonly workflowFolder: string;
  readonly phase: PhaseFacts;
  readonly inputs: JsonObject;
  /** The step's own input map, rendered. */
  readonly input: JsonObject;
  /** Kind-specific rendered fields: `command` (array), `environment`, `folder`, `stdin`, `prompt`, `system_prompt`, `model`, `value`, `rubric`, `score` … */
  readonly rendered: JsonObject;
  /** Where in `rendered`, `rendered.input` included, a secret is filled in when it is used: there and nowhere else. */
  readonly secretPlaces: readonly SecretPlace[];
  readonly outputs: JsonObject;
  readonly feedback: readonly string[];
  /** What a person said before the step began: part of its input, the same on every attempt. */
  readonly guidance: readonly string[];
  /** The same, and what was said since. */
  readonly guidanceNow: () => readonly string[];
  readonly uncertainties: readonly JsonValue[];
  /** Evaluations, decisions and phase confidences so far, snake_case; put together when asked, as it grows with the task. */
  readonly story: () => JsonObject;
  /** Where a part of a template of the step is written; `undefined` where nobody knows. */
  readonly locate: (part: TextPart) => WrittenPlace | undefined;
  readonly milestone?: { readonly name: string; readonly state: JsonValue };
  /** That of the visit before, for an agent that goes on in its session. */
  readonly earlierMilestone?: { readonly name: string; readonly state: JsonValue };
  readonly turns: readonly JsonValue[];
  /** Calls of tools by name of the call; one without a result may be made again. */
  readonly tools: ReadonlyMap<string, { readonly result?: JsonValue; readonly tool?: string }>;
  /** Those that ended, by their names. */
  readonly substeps: ReadonlyMap<string, EndedSubstep>;
  /** What a person said of a call of a tool. */
  readonly approvalOf: (wish: ApprovalWish) => Approval | undefined;
}

/** With its value, or with how it failed. */
export interface EndedSubstep {
  readonly value?: JsonValue;
  readonly failure?: SubstepFailure;
  /** The sub-step whose function asked for it. */
  readonly within?: string;
}

/** A call of a tool that is about to be made. */
export interface ToolIntent {
  readonly name: string;
  /** Which tool that is, whatever else bears the name later; none where there is no such tool. */
  readonly tool?: string;
  readonly input: JsonValue;
  readonly effects: Effects;
}

/** What a step, or a sub-step of it, wishes for: it counts when the step completes (E9). */
export interface EffectsSink {
  /** Reads give what its own changes would make of it. Errors: VALUE_TOO_LARGE, VALUE_TOO_DEEP, CANCELLED. */
  readonly channel: {
    get(key: string): JsonValue | undefined;
    set(key: string, value: JsonValue): void;
    append(key: string, value: JsonValue): void;
    add(key: string, amount: number): void;
  };
  requestCheckpoint(metadata: JsonObject): void;
  requestNextIteration(): void;
  /** Errors: VALUE_TOO_LARGE, CANCELLED. */
  addStep(step: AddedStep): void;
  /** Before the work of a sub-step. */
  openSubstep(name: string): Promise<SubstepSink>;
  /** A sub-step that an earlier attempt finished is not run again: what it wished for counts here. */
  recallSubstep(name: string): void;
}

export interface SubstepSink extends EffectsSink {
  /** Durable on return, with what it wished for. */
  complete(value: JsonValue): Promise<void>;
  /** Durable on return; what it wished for is dropped. */
  fail(failure: SubstepFailure): Promise<void>;
}

/** How a performer reports while it works. What returns a promise is durable, and the epoch was looked at, on return. */
export interface StepSink extends EffectsSink {
  /** Before the child may start. Errors: OWNER_SUPERSEDED, CANCELLED. */
  spawned(process: ProcessRef): Promise<void>;
  /** Content came that is no report: the limit on silence starts again. Cheap, and makes no event. */
  alive(this: void): void;
  /** Events are paced: of fraction and message the latest counts. */
  progress(report: {
    fraction?: number;
    message?: string;
    partial?: JsonValue;
    confidence?: number;
    blocker?: string;
  }): void;
  /** The next attempt goes on from here: what was wished for so far is kept with it. */
  milestone(name: string, state: JsonValue): Promise<void>;
  turn(value: JsonValue, usage?: Usage, notes?: TurnNotes): Promise<void>;
  /** A model is asked: from here on the call counts, whatever comes of it. Cheap; it is not waited for. */
  callBegun(this: void, asked: string): void;
  /**
   * Before every further call of a model in this step: looks at the limits. Where one is reached the attempt ends, a person
   * is asked, and after `extend` the step goes on at its next turn. Errors: CANCELLED.
   */
  beforeCall(): Promise<void>;
  /**
   * Asks a person about a call of a tool: the attempt ends, and after the answer the step goes on at this call. Comes back
   * only where an answer has come meanwhile. Errors: CANCELLED.
   */
  wantApproval(wish: ApprovalWish, input: JsonValue): Promise<void>;
  /** Before a tool is called. `call` names it within the step, on every attempt alike. */
  toolIntended(call: string, tool: ToolIntent): Promise<void>;
  toolCompleted(call: string, value: JsonValue): Promise<void>;
}

export type StepOutcome =
  | {
      readonly status: "completed";
      readonly output: JsonValue;
      readonly confidence?: number | ConfidenceParts;
      readonly factors?: readonly string[];
      readonly uncertainties?: readonly JsonValue[];
      readonly blockers?: readonly string[];
      readonly assumptions?: readonly string[];
      readonly usage?: Usage;
      /** The end of the program's stderr. */
      readonly stderr?: string;
    }
  | { readonly status: "failed"; readonly error: StepError; readonly usage?: Usage }
  /** `acted: false`: it provably did nothing, so it may run again whatever its effects. */
  | { readonly status: "cancelled"; readonly acted?: boolean };

/** Carries out one attempt of one step. Never throws for failures of the step; a throw is our mistake or a lost ownership. */
export interface Performer {
  perform(work: StepWork, sink: StepSink, signal: AbortSignal): Promise<StepOutcome>;
  /** Asks the step's probe what happened. `undefined`: it does not know. */
  probe(
    work: StepWork,
    signal: AbortSignal,
  ): Promise<{ readonly done: boolean; readonly output?: JsonValue } | undefined>;
}

/** Cleans outcomes of secrets once, before they become events. */
export interface Sanitiser {
  clean(value: JsonValue): JsonValue;
  cleanText(text: string): string;
}

/** Writes deliverables below the task's folder; idempotent: an equal file is left alone. */
export interface DeliverableWriter {
  write(file: string, content: string): Promise<void>;
}

/** What comes in from people and other processes while the task runs. */
export type ControlMessage =
  | {
      readonly kind: "answer";
      readonly question: QuestionId;
      readonly answer: string;
      readonly value?: JsonValue;
      readonly by: string;
      /** Digest of what was asked; absent: whatever stands open under this name. */
      readonly asked?: string;
      /** Of a wizard: which move it is, from 1. */
      readonly move?: number;
    }
  | (Request & { readonly kind: "checkpoint" })
  | (Request & { readonly kind: "pause" | "stop" })
  | (Request & {
      readonly kind: "guidance";
      readonly text: string;
      /** Of the step or scope it is for. */
      readonly path?: string;
      /** When it was given; a task may take it much later. ISO-8601. */
      readonly at: string;
    });

/** What a process asks of the owner. */
interface Request {
  readonly note?: string;
  readonly by: string;
  /** Names it, so that one that is read twice counts once; none where it cannot be read again. */
  readonly id?: string;
}

export interface ControlInbox {
  /**
   * Calls back for every message in order, each once; the answer stops listening. What was received is durable when the
   * call resolves with true; with false it may come again.
   */
  listen(receive: (message: ControlMessage) => Promise<boolean>): () => void;
  /**
   * Answers for a person who did not in time, in the way of every other answer: the first one counts, and comes in as a
   * message before this resolves. Never rejects.
   */
  answer(message: Extract<ControlMessage, { kind: "answer" }>): Promise<void>;
}

/** Told after the `checkpoint_recorded` event was folded and appended; writes the snapshot file when policy says so. */
export interface CheckpointHook {
  /** Captures at once (synchronously) and writes later. `required`: the runner waits for it and a failure is an error. */
  captured(
    state: TaskState,
    event: Extract<EngineEvent, { type: "checkpoint_recorded" }>,
  ): { readonly required: boolean; readonly written: Promise<void> };
  /** Resolves when no file is being written or waits to be, and what was written is recorded. */
  idle(): Promise<void>;
}

/** Reads of memory pressure, 0..1 of what the process may use. */
export type MemoryGauge = () => { readonly fraction: number; readonly residentBytes: number };

export interface EnginePorts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly events: EventLog;
  readonly blobs: BlobShelf;
  readonly performer: Performer;
  readonly sanitiser: Sanitiser;
  readonly deliverables: DeliverableWriter;
  readonly inbox: ControlInbox;
  readonly checkpoints: CheckpointHook;
  readonly memory: MemoryGauge;
  /** Every event after it is durable, with its journal number. */
  readonly observe: (event: EngineEvent, state: TaskState, n: number) => void;
  /**
   * Every event, in order, once the fencing check allows what follows from it: for progress, metrics and typed events of
   * the library. What was not allowed to begin is never shown as begun.
   */
  readonly announce?: (event: EngineEvent, state: TaskState, n: number) => void;
}
