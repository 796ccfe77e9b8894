/**
 * What checkpoint/ gives to its neighbours: snapshot files as recovery reads them, and what the manager needs.
 *
 * A checkpoint is a named position in the journal (an event); its snapshot file holds the sealed state there, so that
 * nothing has to be replayed. The journal is the truth: a snapshot may be lost, damaged or removed and nothing is lost.
 * Who picks a snapshot and folds the rest is recovery/; who decides that a checkpoint is due is engine/.
 *
 * C1: no byte of a snapshot file is free: any change is a coded error, never other data.
 * C2: a snapshot names a position only when the journal is durable up to it.
 * C3: a file counts as written only after it was unsealed again and its length and digest compared.
 * C4: a file is removed only after its `pruned` event is durable and a higher epoch was looked for.
 * C5: two verified files always stay.
 * C6: capturing takes references only; no slice of the work after it blocks the loop for long (LIMITS.snapshotSliceMs).
 * Source: DESIGN section 7, STORAGE sections 1.3, 1.6, 1.12.
 */
import type { CheckpointId } from "../base/ids.js";
import type { EventOf } from "../engine/model/events.js";
import type { TaskState } from "../engine/model/state.js";
import type { JournalPosition } from "../journal/position.js";
import type { CheckpointHeader } from "../schema/generated/checkpoint-header.js";

/** A snapshot file as its name tells, nothing opened. */
export interface SnapshotEntry {
  /** Object key: the file's name directly below the task's checkpoints. */
  readonly file: string;
  readonly seq: number;
  readonly phase: number;
  readonly atMs: number;
  readonly sizeBytes: number;
}

/** A snapshot file that was opened, verified and decoded. */
export interface LoadedSnapshot {
  readonly file: string;
  readonly checkpointId: CheckpointId;
  readonly seq: number;
  readonly epoch: number;
  readonly position: JournalPosition;
  readonly prev: { readonly checkpointId: CheckpointId; readonly sha256: string } | undefined;
  /** Of this file: what the `snapshot_written` event states. */
  readonly sha256: string;
  readonly state: TaskState;
  readonly header: CheckpointHeader;
}

/** The snapshot files of one task, for recovery and for reading verbs. Reading changes no byte. */
export interface SnapshotSource {
  /**
   * Newest first, by sequence; the clock never orders. Of several with one sequence the epoch decides, and their heads
   * alone are read for it. Files with other names are left out.
   */
  list(): Promise<SnapshotEntry[]>;
  /**
   * Opens, verifies and decodes one file.
   *
   * Errors: CHECKPOINT_TRUNCATED, CHECKPOINT_CORRUPT, FORMAT_NOT_OURS, FORMAT_VERSION, KEY_MISSING, KEY_WRONG,
   * CHECKPOINT_TAMPERED, TASK_SWAPPED, SEAL_MISSING, VALUE_TOO_LARGE; CHECKPOINT_NOT_FOUND when there is no such file.
   */
  load(file: string): Promise<LoadedSnapshot>;
  /** Moves a bad file to `quarantine/` with its reason; the answer is its new key. Only the epoch's owner may. */
  quarantine(file: string, reason: string): Promise<string>;
}

/** The journal as the manager needs it. */
export interface CheckpointJournal {
  /** Resolves when everything appended before the call is durable. Errors: the STORE_* codes. */
  durable(): Promise<void>;
  /** The position of a durable record of this process; `undefined` when it is not known. */
  positionAt(n: number): JournalPosition | undefined;
  /** Bytes of the task's journal by now. */
  sizeBytes(): number;
  /** The look for a higher epoch. Errors: OWNER_SUPERSEDED. */
  confirm(): Promise<void>;
}

/** What the manager hands back to the runner, to be fed to `decide` as `snapshot_written`. */
export type SnapshotEvent = EventOf<"snapshot_written"> | EventOf<"snapshot_failed"> | EventOf<"pruned">;
