/**
 * The state of a task: what folding its events gives, and all that a restart needs.
 *
 * Containers (maps, arrays) change in place; entries in them are frozen and replaced, never mutated. So a snapshot
 * captures references in one go and encodes them later (E4), and the cost of an event does not grow with the steps done
 * (E5).
 */
import type { CheckpointId, QuestionId, StepId, TaskId } from "../../base/ids.js";
import type { JsonObject, JsonValue } from "../../base/json.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import type { StepKind } from "../../definition/model/step.js";
import type { Effects, OnUnknown } from "../../definition/model/values.js";
import type { TrackRecords } from "./confidence.js";
import type { Decision, PhaseSettlement, PhaseVerdict } from "./decision.js";
import type { StepHistory } from "./step-history.js";
import type { ForkOrigin } from "./fork-origin.js";
import type {
  ConfidenceReport,
  EndOfWorkflow,
  ProcessRef,
  RecordedScore,
  ServerProcess,
  StepError,
  TaskEnd,
  Trigger,
  Usage,
} from "./events.js";
import type { BestGroup, ChildEnd } from "./child-end.js";
import type { ValueRef, SavedFile } from "./value-ref.js";
import type { Fallback } from "./turn-notes.js";
import type { Guidance } from "./guidance-given.js";
import type { Question } from "./question.js";
import type { DeferredEffects } from "./deferred-effects.js";
import { NO_TOTALS, type ScopeUse, type Totals } from "./totals.js";
import type { Wizard } from "./wizard.js";

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
  /** The wall when that was set. */
  readonly pausedAtMs?: number;
  readonly output?: ValueRef;
  /** A person asked for it while the task ran; it holds until the task has ended, or a person goes on with it. */
  readonly request?: "pause" | "stop";
  /** Records were lost: what has no record may have run all the same. */
  readonly uncertain?: boolean;
  /** What a flag of the present owner says of unknown outcomes; it beats step, workflow and settings. */
  readonly onUnknown?: OnUnknown;
  /** How the root scope ended. */
  readonly root?: {
    readonly outcome: "done" | "partial" | "failed";
    readonly routeOutput?: JsonObject;
    readonly ends?: EndOfWorkflow;
  };
  /** Where it comes from, when it began as a fork. */
  readonly forkedFrom?: ForkOrigin;
  /** First record that `prune --history` left; checkpoints before the oldest file after it cannot be reached any more. */
  readonly historyFrom?: number;
  /** Hooks that were reached: in which round, `on_error` under which owner. */
  readonly hooks?: Readonly<Record<string, number>>;
  /** How specialists' claims stood in earlier tasks; absent where nobody was measured often enough. */
  readonly trackRecords?: TrackRecords;
  /** What people added to the limits, by name of the limit. */
  readonly extended: Readonly<Record<string, number>>;
}

/**
 * `asked`: a person is asked, as the step itself wants it.
 * `cancelled`: ended before it acted, or failed and given another chance; it is intended again with the same visit.
 * `unknown` without a question: an external step that was ended from outside; a resume asks.
 */
export type StepStatus =
  "open" | "asked" | "waiting_retry" | "cancelled" | "completed" | "failed" | "skipped" | "unknown" | "parked";

export interface StepEntry {
  readonly id: StepId;
  readonly path: string;
  readonly name: string;
  readonly kind: StepKind;
  readonly round: number;
  readonly visit: number;
  readonly phase: number;
  readonly status: StepStatus;
  /** Number of intents so far; tells a late result from the current one. */
  readonly attempt: number;
  /** Failures that count against `retry`, since the last restart; a rate limit does not count. */
  readonly failures: number;
  /** Refusals for a rate limit in a row; absent: none since the last call that went well. */
  readonly refusals?: number;
  /** Restarts by the orchestrator beyond the retries. */
  readonly restarts: number;
  /** Of the definition it was rendered from. */
  readonly fingerprint?: string;
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
  /** The first file of `save_as` that it wrote, relative to the task's folder. */
  readonly savedAs?: string;
  readonly error?: StepError;
  readonly confidence?: ConfidenceReport;
  readonly confidenceHistory: readonly number[];
  readonly blockers: readonly string[];
  readonly assumptions: readonly string[];
  readonly usage?: Usage;
  /** Calls of models that began and of which nothing has come yet. */
  readonly callsBegun?: number;
  /** The latest turn that another model than the one asked first has answered. */
  readonly fallback?: Fallback;
  /** How much of its guidance it was told (people/guidance.ts). */
  readonly guided?: number;
  readonly progress?: { readonly fraction?: number; readonly message?: string };
  readonly partial?: ValueRef;
  readonly milestone?: { readonly name: string; readonly state: ValueRef; readonly wishes?: DeferredEffects };
  /** Crashed epochs that left it open without progress; reset by progress and by a person. */
  readonly crashes: number;
  readonly questionId?: QuestionId;
  /** A specialist that Atlas added. */
  readonly spawnedDefinition?: JsonObject;
  readonly retryAtMs?: number;
  /** The latest intent is not acted on: what follows says what becomes of the step. */
  readonly held?: true;
  /** Why it is skipped, where no person chose that. */
  readonly reason?: string;
  /** Its answer skips what depends on it. */
  readonly declined?: true;
}

export interface QuestionEntry extends Question {
  readonly status: "open" | "answered" | "consumed";
  readonly answer?: string;
  readonly value?: JsonValue;
  readonly answeredBy?: string;
  readonly answeredAtMs?: number;
  readonly remindedAtMs?: number;
  /** Of a wizard. */
  readonly wizard?: Wizard;
}

export interface PhaseEntry {
  readonly path: string;
  readonly name: string;
  readonly number: number;
  readonly status: "running" | "done" | "partial" | "failed" | "skipped";
  readonly iteration: number;
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly confidence?: number;
  readonly feedback: readonly string[];
  readonly spawned: number;
  /** Names of the added specialists of the iteration at hand, also after the phase was left. */
  readonly added?: readonly string[];
  /** Times the task rolled back to before its end. */
  readonly rollbacks?: number;
}

export interface EvaluationEntry {
  readonly path: string;
  readonly iteration: number;
  /** By dimension. */
  readonly scores: Readonly<Record<string, RecordedScore>>;
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
  /** Names the message that asked for it. */
  readonly request?: string;
  readonly metadata?: JsonObject;
  readonly snapshot?: { readonly file: string; readonly sha256: string; readonly sizeBytes: number };
}

/** Counts over the children of a group (parallel, dag, for_each, phase); all O(1) in size. */
export interface GroupCounts {
  readonly running: number;
  readonly blocked: number;
  readonly failed: number;
  /** Ended partial or skipped. */
  readonly imperfect: number;
  /** A member failed in a group that fails fast: nothing new starts. */
  readonly failing: boolean;
}
/** What every scope may have come to. */
export interface ScopeEnds {
  /** Why it cannot begin. */
  readonly fault?: StepError;
  /** The workflow that it is part of has ended; of a nested workflow: its own. */
  readonly ends?: EndOfWorkflow;
}
export type ScopeData =
  | (ScopeEnds & {
      readonly scope: "machine";
      /** The child to start, or `$end`. */
      readonly next?: string;
      readonly current?: string;
      /** The child that ended last: its output is the machine's. */
      readonly last?: string;
      readonly failed?: boolean;
      /** Why no route could be chosen. */
      readonly stuck?: string;
      readonly imperfect: boolean;
      readonly routeOutput?: JsonObject;
      /** Why the scope it stands at failed. */
      readonly cause?: StepError;
    })
  | ({
      readonly scope: "parallel" | "dag";
      /** Steps that its members added, by name; absent while there are none. */
      readonly spawned?: JsonObject;
    } & GroupCounts &
      ScopeEnds)
  | ({
      readonly scope: "for_each";
      readonly items: ValueRef;
      readonly count: number;
      /** Absent: items are known by their index. */
      readonly keys?: ValueRef;
      /** Index of the first item that was never started: those before it are told of by name elsewhere. */
      readonly next: number;
    } & GroupCounts &
      ScopeEnds)
  | (ScopeEnds & {
      readonly scope: "workflow";
      readonly inputs: ValueRef;
      /** As of the task: see `TaskEntry.hooks`. */
      readonly hooks?: Readonly<Record<string, number>>;
      /** What counts for its own limits. */
      readonly used: ScopeUse;
      /** What the task had worked when it was entered. */
      readonly enteredElapsedMs: number;
      /** What people added to its limits, by name of the limit. */
      readonly extended?: Readonly<Record<string, number>>;
      /** Where its root stands. */
      readonly root: "ready" | "running" | ChildEnd;
      readonly routeOutput?: JsonObject;
      readonly cause?: StepError;
    })
  | (ScopeEnds & {
      readonly scope: "phases";
      readonly next: number;
      /** Of a goal: how often it was planned, and before which phase last. */
      readonly planned?: { readonly times: number; readonly before?: number };
      readonly current?: string;
      readonly failed?: boolean;
      readonly imperfect: boolean;
    })
  | ({
      readonly scope: "phase";
      readonly iteration: number;
      /** Specialists that the orchestrator or others of them added, by name. */
      readonly spawned: JsonObject;
      /** Steps of the best iteration, by child name; absent while there is none. */
      readonly best?: {
        readonly iteration: number;
        readonly score: number;
        readonly steps: Readonly<Record<string, string>>;
        /** As its specialists wrote them; a later iteration may have overwritten them. */
        readonly files: readonly SavedFile[];
        /** Members that are groups, by child name; absent where there are none. */
        readonly groups?: Readonly<Record<string, BestGroup>>;
      };
      /** Failed steps that the orchestrator decided to do without. */
      readonly without?: readonly string[];
      /** Iterations in a row that brought no gain. */
      readonly withoutGain: number;
      /** The evaluation is over: no more iterations. */
      readonly judged?: PhaseVerdict;
      /** What the orchestrator made of the confidence; `below`: goes on although it stays under the minimum. */
      readonly settled?: PhaseSettlement;
    } & GroupCounts &
      ScopeEnds);

/** Where control stands in one open scope. Frozen, replaced on each change; plain JSON in snapshots. */
export interface ScopeEntry {
  readonly path: string;
  readonly visit: number;
  readonly parent?: string;
  readonly data: ScopeData;
}

/** Containers beside a group's counts, changed in place; names of children in all of them. */
export interface ScopeFrontier {
  /** May start, in order. */
  readonly ready: string[];
  /** Unmet dependencies of the others. */
  readonly waiting: Map<string, number>;
  readonly ended: Map<string, ChildEnd>;
  /** Why children that are scopes failed; a step tells it itself. */
  readonly causes: Map<string, StepError>;
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
  /** Steps that wait for a time (retries, pauses, `wait`), and open ones that nobody performs, until `advance` sees to them. */
  readonly waiting: Set<StepId>;
  /** Steps that hold up their scope: failed and not absorbed, unknown, parked, asked. */
  readonly blocked: Set<StepId>;
  readonly histories: Map<StepId, StepHistory>;
  readonly scopes: Map<string, ScopeEntry>;
  /** Times a node was entered in this round, by path. */
  readonly visits: Map<string, number>;
  /** Round of a path's latest visit where it is an earlier one: made before a roll-back and still valid. */
  readonly rounds: Map<string, number>;
  /** The latest step or scope output by path, the newest last: what templates see. */
  readonly outputs: Map<string, { readonly value: ValueRef; readonly by: string }>;
  /** Paths of what each open workflow has stored, by its path, the newest last (see stored.ts). */
  readonly stored: Map<string, string[]>;
  readonly channel: Map<string, JsonValue>;
  readonly decisions: Decision[];
  /** What people said, in the order it was taken; see people/guidance.ts. */
  readonly guidance: Guidance[];
  readonly questions: Map<QuestionId, QuestionEntry>;
  /** Questions that are open, or answered and not consumed. */
  readonly unsettled: Set<QuestionId>;
  readonly phases: Map<string, PhaseEntry>;
  readonly evaluations: EvaluationEntry[];
  readonly checkpoints: CheckpointEntry[];
  /** By file name; the newest content wins. */
  readonly deliverables: Map<string, SavedFile>;
  /** Of open groups, by scope path; only what O(1) advance needs. */
  readonly frontier: Map<string, ScopeFrontier>;
  /** When each trigger last made a checkpoint. */
  readonly triggered: Map<Trigger, number>;
  /** Tool servers that run as programs, by `processKeyOf`; those of an earlier owner until it is known that they have ended. */
  readonly servers: Map<string, ServerProcess>;
}

/** The state before the first event. */
export function createState(): TaskState {
  return {
    position: 0,
    atMs: 0,
    epoch: 0,
    round: 1,
    task: undefined,
    totals: NO_TOTALS,
    steps: new Map(),
    open: new Set(),
    waiting: new Set(),
    blocked: new Set(),
    histories: new Map(),
    scopes: new Map(),
    visits: new Map(),
    rounds: new Map(),
    outputs: new Map(),
    stored: new Map(),
    channel: new Map(),
    decisions: [],
    guidance: [],
    questions: new Map(),
    unsettled: new Set(),
    phases: new Map(),
    evaluations: [],
    checkpoints: [],
    deliverables: new Map(),
    frontier: new Map(),
    triggered: new Map(),
    servers: new Map(),
  };
}
