/**
 * Picks the snapshot to start from: the newest that opens and lies on the chain.
 *
 * R3: a bad snapshot file costs nothing but time: it is named, and the one before is used, finally the first record.
 * R4: a snapshot off the chain is what a superseded owner saw; it is passed over, not called damaged.
 * Reading only: what is to be set aside is in the answer, and whoever owns the epoch sets it aside.
 */
import { errorCodeOf, messageOf, type SplashdownError } from "../base/errors.js";
import type { ErrorCode } from "../base/error-table.js";
import type { LoadedSnapshot, SnapshotSource } from "../checkpoint/contract.js";
import type { History } from "../journal/history.js";

export interface RefusedSnapshot {
  readonly file: string;
  readonly code: ErrorCode | "OFF_CHAIN";
  readonly reason: string;
  /** It is damaged or foreign: whoever owns the task moves it to quarantine. */
  readonly isBad: boolean;
}

export interface SelectedBase {
  readonly snapshot: LoadedSnapshot | undefined;
  readonly refused: readonly RefusedSnapshot[];
}

export interface SelectionOptions {
  readonly history: History;
  readonly snapshots: SnapshotSource;
  /** Only snapshots at or before this record. */
  readonly until?: number | undefined;
  /** Called before each candidate; throws to end the selection. */
  readonly checkTime?: (() => void) | undefined;
}

/** Codes that speak of the file's own bytes. Others (key, storage) may pass, and the file stays where it is. */
const BAD_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CHECKPOINT_TRUNCATED",
  "CHECKPOINT_CORRUPT",
  "CHECKPOINT_TAMPERED",
  "FORMAT_NOT_OURS",
  "TASK_SWAPPED",
  "SEAL_MISSING",
  "KEY_WRONG",
]);

/**
 * Selects the base.
 *
 * Shape: `refused` newest first, one reason each; no snapshot at all is an ordinary answer.
 * Errors: what is no coded error; codes of a snapshot never end the selection.
 */
export async function selectBase(options: SelectionOptions): Promise<SelectedBase> {
  const { history, snapshots, until = Infinity, checkTime } = options;
  const refused: RefusedSnapshot[] = [];
  for (const { file } of await snapshots.list()) {
    checkTime?.();
    try {
      const snapshot = await snapshots.load(file);
      if (snapshot.position.n > until) continue;
      if (history.covers(snapshot.position)) return { snapshot, refused };
      refused.push({ file, code: "OFF_CHAIN", reason: "its position is not in this history", isBad: false });
    } catch (error) {
      const code = requireCode(error);
      if (code !== "CHECKPOINT_NOT_FOUND")
        refused.push({ file, code, reason: messageOf(error), isBad: BAD_CODES.has(code) });
    }
  }
  return { snapshot: undefined, refused };
}

function requireCode(error: unknown): SplashdownError["code"] {
  const code = errorCodeOf(error);
  if (code === undefined || code === "INTERNAL" || code === "CANCELLED") throw error;
  return code;
}
