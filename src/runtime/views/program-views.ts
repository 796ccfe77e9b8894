/** Checkpoints of a program that runs its own agents, as its caller sees them. */
import type { JsonObject } from "../../base/json.js";
import type { StandaloneCheckpoints } from "../../checkpoint/standalone.js";
import type { CheckpointView } from "./task-views.js";

/** What a checkpoint holds of such a program. */
export interface ProgramState {
  readonly checkpoint_id: string;
  readonly seq: number;
  readonly phase: number;
  /** As they were reported, dates, maps, sets and bytes too. */
  readonly agents: Readonly<Record<string, unknown>>;
  readonly decisions: readonly JsonObject[];
  readonly metadata: JsonObject;
}

/** The calls of `StandaloneCheckpoints`, with the views of every other verb. */
export interface ProgramCheckpoints extends Pick<
  StandaloneCheckpoints,
  "updateAgentState" | "recordDecision" | "startPhase" | "delete" | "prune"
> {
  /** Saves now and waits. `path`: also a copy of the file there. Errors: CHECKPOINT_FAILED. */
  createCheckpoint(path?: string, metadata?: JsonObject): Promise<CheckpointView>;
  loadLatest(): Promise<ProgramState | undefined>;
  /** By id, sequence, `phaseN`, file or `latest`. Errors: CHECKPOINT_NOT_FOUND, USAGE_INVALID and those of reading. */
  load(name: string): Promise<ProgramState>;
  list(): Promise<readonly CheckpointView[]>;
  resumeFromPhase(phase: number): Promise<ProgramState>;
  /** Leaves the task paused; another process may open it then. */
  close(): Promise<void>;
}
