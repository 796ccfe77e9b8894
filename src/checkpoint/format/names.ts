/**
 * Names of snapshot files: `checkpoint_phase{N}_{timestamp}_{seq}.json`; of one that was sealed again under a later key
 * `…_{seq}~{epoch}.json`, because no file is ever replaced.
 *
 * The timestamp is UTC in ISO basic form with milliseconds and no colon, which is a legal name everywhere; the sequence
 * has eight digits and orders files, the clock never does.
 * Source: DESIGN section 7, STORAGE section 1.2.
 */
import { SplashdownError } from "../../base/errors.js";
import type { CheckpointHeader } from "../../schema/generated/checkpoint-header.js";

export interface SnapshotName {
  readonly phase: number;
  readonly atMs: number;
  readonly seq: number;
  /** The epoch in which it was sealed again. */
  readonly resealedIn?: number;
}

/** What every snapshot file's key begins with. */
export const SNAPSHOT_PREFIX = "checkpoint_phase";

const NAME =
  /^checkpoint_phase(0|[1-9]\d{0,8})_(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})Z_(\d{8}|[1-9]\d{8,14})(?:~([1-9]\d{0,14}))?\.json$/;

/** The file name of a checkpoint's snapshot. Shape: equal inputs give equal names; `parseSnapshotName` reverses it. */
export function formatSnapshotName(name: SnapshotName): string {
  const timestamp = new Date(name.atMs).toISOString().replaceAll(/[-:.]/g, "");
  const again = name.resealedIn === undefined ? "" : `~${name.resealedIn}`;
  return `${SNAPSHOT_PREFIX}${name.phase}_${timestamp}_${String(name.seq).padStart(8, "0")}${again}.json`;
}

/** What a file name tells; `undefined` when it is not a snapshot's name. */
export function parseSnapshotName(file: string): SnapshotName | undefined {
  const match = NAME.exec(file);
  if (match === null) return undefined;
  const numbers = match.slice(1, 10).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [phase, year, month, day, hour, minute, second, ms, seq] = numbers;
  const again = match[10] === undefined ? {} : { resealedIn: Number(match[10]) };
  const name = { phase, atMs: Date.UTC(year, month - 1, day, hour, minute, second, ms), seq, ...again };
  return formatSnapshotName(name) === file ? name : undefined;
}

/** A file under the name of another checkpoint was moved there. Errors: TASK_SWAPPED. */
export function requireName(file: string, header: CheckpointHeader): void {
  const name = parseSnapshotName(file);
  if (
    name !== undefined &&
    name.seq === header.seq &&
    name.phase === header.phase &&
    name.atMs === Date.parse(header.timestamp) &&
    (name.resealedIn === undefined || name.resealedIn === header.journal.epoch)
  )
    return;
  throw new SplashdownError(
    "TASK_SWAPPED",
    `the file holds checkpoint ${header.seq} of phase ${header.phase}, which its name does not say`,
    {
      details: { file, seq: header.seq, phase: header.phase },
    },
  );
}
