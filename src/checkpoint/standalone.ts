/**
 * The checkpoint manager without the engine, with the calls of the seeds: for programs that run their own agents and want
 * sealed, verified, listed checkpoints of them.
 *
 * Owns: agents, decisions, phase and data of such a program as a task of its own. It is a real task: what is told here
 * becomes events in a journal, and every reading verb works on it. Agent states live in the channel under `agent:<name>`.
 * Opening store, vault and journal is runtime/'s.
 * Source: seed 003 (integration points), seed 001 (checkpoint manager), DESIGN section 10 (library).
 */
import type { Clock } from "../base/clock.js";
import { assert, isErrorCode, SplashdownError } from "../base/errors.js";
import { type CheckpointId, createUuid, type TaskId } from "../base/ids.js";
import type { JsonObject, JsonValue } from "../base/json.js";
import { decodeValue, encodeValue } from "../base/json-encoding.js";
import type { RandomSource } from "../base/random.js";
import type { Decision } from "../engine/model/decision.js";
import type { EngineEvent, EventOf, Trigger } from "../engine/model/events.js";
import { evolve } from "../engine/fold/evolve.js";
import type { EventLog } from "../engine/model/ports.js";
import type { CheckpointEntry, TaskState } from "../engine/model/state.js";
import type { TaskStore } from "../store/contract/contract.js";
import { AGENT_KEY_PREFIX } from "./format/capture.js";
import type { SnapshotSource } from "./contract.js";
import { type ListedCheckpoint, listCheckpoints, selectCheckpoint } from "./listing.js";
import type { CheckpointManager } from "./manager.js";
import { FILE_DAMAGE, type SnapshotRetention } from "./retention.js";

export interface AgentReport {
  readonly status: "launched" | "active" | "completed" | "failed" | "blocked";
  /** 0..1. */
  readonly confidence?: number;
  readonly blockers?: readonly string[];
  /** Anything that may be stored: plain JSON, dates, maps, sets, bytes. */
  readonly state?: unknown;
}

export interface DecisionReport {
  readonly agent: string;
  readonly type: string;
  readonly description: string;
  readonly rationale: string;
  readonly alternativesConsidered?: readonly string[];
  readonly confidence?: number;
}

/** What a checkpoint holds of such a program. */
export interface StandaloneState {
  readonly checkpointId: CheckpointId;
  readonly seq: number;
  readonly phase: number;
  /** As they were reported, dates, maps, sets and bytes too. */
  readonly agents: Readonly<Record<string, unknown>>;
  readonly decisions: readonly Decision[];
  readonly metadata: JsonObject;
}

export interface StandaloneOptions {
  readonly store: TaskStore;
  readonly journal: EventLog;
  readonly manager: CheckpointManager;
  readonly source: SnapshotSource;
  readonly retention: SnapshotRetention;
  /** Of the task as recovery folded it, or an empty one. */
  readonly state: TaskState;
  readonly taskId: TaskId;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Writes a further copy of a checkpoint file; absent: `createCheckpoint` takes no path. */
  readonly exportTo?: ((path: string, bytes: Uint8Array) => Promise<void>) | undefined;
}

export interface StandaloneCheckpoints {
  /** Saves now and waits. `path`: also a copy of the file there. Errors: CHECKPOINT_FAILED. */
  createCheckpoint(path?: string, metadata?: JsonObject): Promise<ListedCheckpoint>;
  /** Durable on return, as the next two. */
  updateAgentState(agent: string, report: AgentReport): Promise<void>;
  recordDecision(decision: DecisionReport): Promise<void>;
  /** Makes a checkpoint `phase_started`. Shape: phases count from 1. */
  startPhase(phase: number): Promise<void>;
  /** `undefined` when no file can be read; a damaged one is passed over. */
  loadLatest(): Promise<StandaloneState | undefined>;
  /** By id, sequence, `phaseN`, file or `latest`. Errors: CHECKPOINT_NOT_FOUND and those of `SnapshotSource.load`. */
  load(name: string): Promise<StandaloneState>;
  list(): Promise<readonly ListedCheckpoint[]>;
  /** Removes a checkpoint's file; the checkpoint stays listed. False when there is none. */
  delete(name: string): Promise<boolean>;
  /** Removes files by the rules of retention. */
  prune(): Promise<readonly string[]>;
  /** Goes back to the last checkpoint of a phase: its agents are the current ones again. */
  resumeFromPhase(phase: number): Promise<StandaloneState>;
}

/** Opens the checkpoints of a program; a new task gets its first event. */
export async function openStandaloneCheckpoints(
  options: StandaloneOptions & { readonly name: string },
): Promise<StandaloneCheckpoints> {
  const room = new ProgramCheckpoints(options);
  if (options.state.task === undefined) await room.start(options.name);
  return room;
}

class ProgramCheckpoints implements StandaloneCheckpoints {
  readonly #options: StandaloneOptions;
  readonly #state: TaskState;
  #phase: number;

  constructor(options: StandaloneOptions) {
    this.#options = options;
    this.#state = options.state;
    this.#phase = options.state.checkpoints.at(-1)?.phase ?? 0;
  }

  start(name: string): Promise<void> {
    const { taskId, store } = this.#options;
    return this.#record([
      {
        type: "task_started",
        atMs: this.#nowMs(),
        taskId,
        name: store.name,
        definition: createDefinition(name),
        folder: "",
        inputs: {},
        settings: {},
      },
    ]);
  }

  async createCheckpoint(path?: string, metadata: JsonObject = {}): Promise<ListedCheckpoint> {
    const { exportTo } = this.#options;
    if (path !== undefined && exportTo === undefined) {
      throw new SplashdownError(
        "USAGE_INVALID",
        `no copy of a checkpoint can be written to ${JSON.stringify(path)} here`,
      );
    }
    const entry = await this.#checkpoint("user_requested", metadata);
    const listed = selectCheckpoint(await this.list(), entry.checkpointId);
    const bytes =
      listed.file === undefined || path === undefined ? undefined : await this.#options.store.get(listed.file.name);
    if (bytes !== undefined && path !== undefined) await exportTo?.(path, bytes);
    return listed;
  }

  updateAgentState(agent: string, report: AgentReport): Promise<void> {
    requireConfidence(report.confidence);
    const value = encodeValue(report);
    return this.#record([
      { type: "channel_changed", atMs: this.#nowMs(), op: "set", key: `${AGENT_KEY_PREFIX}${agent}`, value },
    ]);
  }

  recordDecision(report: DecisionReport): Promise<void> {
    requireConfidence(report.confidence);
    const { agent, type, description, rationale, alternativesConsidered = [], confidence } = report;
    const atMs = this.#nowMs();
    const decision: Decision = {
      id: createUuid(this.#options.random),
      atMs,
      agent,
      type,
      description,
      rationale,
      alternativesConsidered,
      ...(confidence === undefined ? {} : { confidence }),
    };
    return this.#record([{ type: "decision_made", atMs, decision }]);
  }

  async startPhase(phase: number): Promise<void> {
    requirePhase(phase);
    this.#phase = phase;
    await this.#checkpoint("phase_started", {});
  }

  async loadLatest(): Promise<StandaloneState | undefined> {
    for (const listed of (await this.list()).toReversed()) {
      if (listed.file === undefined) continue;
      try {
        return showStored(await this.#load(listed));
      } catch (error) {
        if (!isErrorCode(error, ...FILE_DAMAGE)) throw error;
      }
    }
    return undefined;
  }

  async load(name: string): Promise<StandaloneState> {
    return showStored(await this.#loadNamed(name));
  }

  async #loadNamed(name: string): Promise<StoredState> {
    requireName(name);
    return this.#load(selectCheckpoint(await this.list(), name));
  }

  async list(): Promise<readonly ListedCheckpoint[]> {
    return (await listCheckpoints(this.#state.checkpoints, this.#options.store)).checkpoints;
  }

  async delete(name: string): Promise<boolean> {
    requireName(name);
    const { file } = selectCheckpoint(await this.list(), name);
    if (file === undefined) return false;
    await this.#record([{ type: "pruned", atMs: this.#nowMs(), files: [file.name], reason: "deleted on request" }]);
    await this.#options.journal.confirm();
    await this.#options.store.remove(file.name);
    return true;
  }

  prune(): Promise<readonly string[]> {
    return this.#options.retention.run({ checkpoints: this.#state.checkpoints });
  }

  async resumeFromPhase(phase: number): Promise<StandaloneState> {
    requirePhase(phase);
    const loaded = await this.#loadNamed(`phase${phase}`);
    this.#phase = phase;
    const atMs = this.#nowMs();
    const restored = Object.entries(loaded.agents).map(([agent, value]): EngineEvent => ({
      type: "channel_changed",
      atMs,
      op: "set",
      key: `${AGENT_KEY_PREFIX}${agent}`,
      value,
    }));
    const text = `went back to checkpoint ${loaded.seq} of phase ${phase}`;
    await this.#record([...restored, { type: "noted", atMs, text, facts: { checkpoint_id: loaded.checkpointId } }]);
    return showStored(loaded);
  }

  #nowMs(): number {
    return Math.max(this.#options.clock.nowMs(), this.#state.atMs);
  }

  /** Folded, appended, durable. */
  #record(events: readonly EngineEvent[]): Promise<void> {
    for (const event of events) evolve(this.#state, event);
    this.#options.journal.append(events);
    return this.#options.journal.durable();
  }

  async #checkpoint(trigger: Trigger, metadata: JsonObject): Promise<CheckpointEntry> {
    const seq = (this.#state.checkpoints.at(-1)?.seq ?? 0) + 1;
    const checkpointId = createUuid(this.#options.random) as CheckpointId;
    const event = {
      type: "checkpoint_recorded",
      atMs: this.#nowMs(),
      checkpointId,
      seq,
      phase: this.#phase,
      trigger,
      status: "in_progress",
      metadata,
    } as const;
    evolve(this.#state, event);
    this.#options.journal.append([event]);
    await this.#options.manager.captured(this.#state, event).written;
    const entry = this.#state.checkpoints.find((candidate) => candidate.checkpointId === checkpointId);
    assert(entry !== undefined, "a recorded checkpoint is not in the state");
    return entry;
  }

  async #load({ entry, file }: ListedCheckpoint): Promise<StoredState> {
    if (file === undefined) {
      throw new SplashdownError("CHECKPOINT_NOT_FOUND", `the file of checkpoint ${entry.seq} was removed`, {
        details: { task: this.#options.store.name },
      });
    }
    const { state } = await this.#options.source.load(file.name);
    const agents = [...state.channel].filter(([key]) => key.startsWith(AGENT_KEY_PREFIX));
    return {
      checkpointId: entry.checkpointId,
      seq: entry.seq,
      phase: entry.phase,
      agents: Object.fromEntries(agents.map(([key, value]) => [key.slice(AGENT_KEY_PREFIX.length), value])),
      decisions: state.decisions,
      metadata: entry.metadata ?? {},
    };
  }
}

/** With the values of agents as they are stored. */
type StoredState = Omit<StandaloneState, "agents"> & { readonly agents: Readonly<Record<string, JsonValue>> };

function showStored({ agents, ...rest }: StoredState): StandaloneState {
  return {
    ...rest,
    agents: Object.fromEntries(Object.entries(agents).map(([agent, value]) => [agent, decodeValue(value)])),
  };
}

function requireName(name: unknown): asserts name is string {
  if (typeof name === "string" && name !== "") return;
  throw new SplashdownError("USAGE_INVALID", "name a checkpoint: id, sequence, phaseN, file or latest");
}

function requirePhase(phase: unknown): void {
  if (typeof phase === "number" && Number.isSafeInteger(phase) && phase >= 1) return;
  throw new SplashdownError("USAGE_INVALID", `phases count from 1, not ${String(phase)}`);
}

function requireConfidence(confidence: number | undefined): void {
  if (confidence === undefined || (confidence >= 0 && confidence <= 1)) return;
  const hint = confidence > 1 && confidence <= 100 ? `; ${confidence / 100} was meant?` : "";
  throw new SplashdownError("USAGE_INVALID", `a confidence is from 0 to 1, not ${confidence}${hint}`);
}

/** True for the task of a program: nothing of it can be run here. */
export function isOfProgram({ task }: TaskState): boolean {
  return task?.definition.fingerprint === "" && task.definition.root.children.length === 0;
}

/** A workflow without steps: the program itself decides what runs. */
function createDefinition(name: string): EventOf<"task_started">["definition"] {
  const root = {
    node: "scope",
    scope: "machine",
    name,
    path: name,
    dependsOn: [],
    routes: [],
    entry: "$end",
    children: [],
  } as const;
  return {
    schema: 1,
    name,
    inputs: {},
    root,
    output: {},
    limits: { maxIterations: 0 },
    onFailure: "pause",
    context: { mode: "accumulate", trim: "drop_oldest" },
    atlas: { mode: "rules" },
    metadata: {},
    settings: {},
    fingerprint: "",
  };
}
