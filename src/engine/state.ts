/**
 * The state of a task: what folding its events gives, and all that a restart needs.
 *
 * Containers (maps, arrays) change in place; entries in them are frozen and replaced, never mutated. So a snapshot
 * captures references in one go and encodes them later (E4), and the cost of an event does not grow with the steps done
 * (E5).
 */
import type { CheckpointId, QuestionId, StepId, TaskId } from "../base/ids.js";
import type { JsonObject, JsonValue } from "../base/json.js";
import type { Effects, OnUnknown, StepKind, WorkflowDefinition } from "../definition/workflow.js";
import type { ConfidenceReport, Decision, ProcessRef, Question, SavedFile, ScorerIssue, StepError, TaskEnd, Trigger, Usage, ValueRef } from "./events.js";

export interface TaskEntry {
  readonly id: TaskId;
  readonly name: string;
  readonly definition: WorkflowDefinition;
  readonly definitionFile?: string;
  readonly folder: string;
  readonly inputs: JsonObject;
  readonly settings: JsonObject;
  readonly startedAtMs: number;
  /** Last event's time; time never goes back within a task. */
  readonly status: "running" | TaskEnd;
  readonly reason?: string;
  readonly exitStatus?: number;
  readonly resumable: boolean;
  readonly resumeAtMs?: number;
  readonly output?: ValueRef;
}

export type StepStatus = "open" | "waiting_retry" | "completed" | "failed" | "skipped" | "unknown" | "parked";

export interface StepEntry {
  readonly id: StepId;
  readonly path: string;
  readonly name: string;
  readonly kind: StepKind;
  readonly round: number;
  readonly visit: number;
  readonly itemKey?: string;
  readonly phase: number;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly work: ValueRef;
  readonly inputHash: string;
  readonly idempotencyKey: string;
  readonly effects: Effects;
  readonly onUnknown: OnUnknown;
  readonly intendedAtMs: number;
  readonly endedAtMs?: number;
  readonly dueAtMs?: number;
  readonly process?: ProcessRef;
  readonly output?: ValueRef;
  readonly error?: StepError;
  readonly confidence?: ConfidenceReport;
  readonly confidenceHistory: readonly number[];
  readonly blockers: readonly string[];
  readonly assumptions: readonly string[];
  readonly usage?: Usage;
  readonly progress?: { readonly fraction?: number; readonly message?: string };
  readonly partial?: ValueRef;
  readonly milestone?: { readonly name: string; readonly state: ValueRef };
  /** Crashed epochs that left it open without progress; reset by progress and by a person. */
  readonly crashes: number;
  readonly questionId?: QuestionId;
  /** A specialist that Atlas added. */
  readonly spawnedDefinition?: JsonObject;
  readonly retryAtMs?: number;
}

/** One step's turns, tool calls and sub-steps: containers of their own, so that adding one is cheap. */
export interface StepHistory {
  readonly turns: ValueRef[];
  readonly tools: Map<string, { readonly name: string; readonly value: ValueRef; readonly result?: ValueRef }>;
  readonly substeps: Map<string, { readonly value?: ValueRef; readonly done: boolean }>;
}

export interface QuestionEntry extends Question {
  readonly status: "open" | "answered" | "consumed";
  readonly answer?: string;
  readonly value?: JsonValue;
  readonly answeredBy?: string;
  readonly answeredAtMs?: number;
}

export interface PhaseEntry {
  readonly path: string;
  readonly name: string;
  readonly number: number;
  readonly status: "running" | "done" | "partial" | "failed";
  readonly iteration: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly confidence?: number;
  readonly feedback: readonly string[];
  readonly spawned: number;
}

export interface EvaluationEntry {
  readonly path: string;
  readonly iteration: number;
  readonly scores: Readonly<Record<string, { readonly score: number; readonly issues: readonly ScorerIssue[]; readonly feedback?: string; readonly evidence?: string }>>;
  readonly score?: number;
  readonly verdict?: "approve" | "iterate" | "reject";
  readonly best?: boolean;
}

export interface CheckpointEntry {
  readonly checkpointId: CheckpointId;
  readonly seq: number;
  readonly phase: number;
  readonly trigger: Trigger;
  readonly status: "in_progress" | "paused" | "failed" | "completed";
  readonly atMs: number;
  /** Journal record number of its `checkpoint_recorded` event; set by whoever folds from the journal. */
  readonly position: number;
  readonly note?: string;
  readonly metadata?: JsonObject;
  readonly snapshot?: { readonly file: string; readonly sha256: string; readonly sizeBytes: number };
}

export interface Totals {
  readonly steps: number;
  readonly iterations: number;
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costMicroUsd: number;
  readonly unpricedCalls: number;
  /** Working time over all owners, waiting for people not included. */
  readonly elapsedMs: number;
  readonly memoryPeakBytes: number;
}

/** Where control stands in one open scope. Owned by the scope rules in this folder; plain JSON in snapshots. */
export interface ScopeEntry {
  readonly path: string;
  readonly visit: number;
  readonly parent?: string;
  /** Frozen, replaced on each change; O(1) in size whatever the number of finished children. */
  readonly data: JsonObject;
}

export interface TaskState {
  /** Number of the last folded journal record; 0 before the first. */
  position: number;
  /** Time of the last folded event. */
  atMs: number;
  epoch: number;
  round: number;
  /** Undefined before `task_started`. */
  task: TaskEntry | undefined;
  totals: Totals;
  readonly steps: Map<StepId, StepEntry>;
  /** Steps with an intent and no end: the open work of a restart. */
  readonly open: Set<StepId>;
  readonly histories: Map<StepId, StepHistory>;
  readonly scopes: Map<string, ScopeEntry>;
  /** Times a node was entered in this round, by path. */
  readonly visits: Map<string, number>;
  /** The latest step or scope output by path: what templates see. */
  readonly outputs: Map<string, { readonly value: ValueRef; readonly by: string }>;
  readonly channel: Map<string, JsonValue>;
  readonly decisions: Decision[];
  readonly questions: Map<QuestionId, QuestionEntry>;
  readonly phases: Map<string, PhaseEntry>;
  readonly evaluations: EvaluationEntry[];
  readonly checkpoints: CheckpointEntry[];
  /** By file name; the newest content wins. */
  readonly deliverables: Map<string, SavedFile>;
  /** Ready-to-run queues, counters of dag children and the like, by scope path; only what O(1) advance needs. */
  readonly frontier: Map<string, JsonValue[]>;
}
