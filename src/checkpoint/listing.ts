/**
 * A task's checkpoints as people see and name them: the history's list, joined with the files that are there.
 *
 * Owns: the join, and how a person's text picks one. The list comes from the state (folded from the journal); a file
 * only makes a checkpoint quicker to load.
 */
import { SplashdownError } from "../base/errors.js";
import type { CheckpointEntry } from "../engine/model/state.js";
import type { TaskStore } from "../store/contract/contract.js";
import { formatSnapshotName, parseSnapshotName, SNAPSHOT_PREFIX } from "./format/names.js";
import { listSnapshotFiles } from "./source.js";

export interface ListedCheckpoint {
  readonly entry: CheckpointEntry;
  /** Its snapshot file, when one is there. */
  readonly file: { readonly name: string; readonly sizeBytes: number } | undefined;
  /** The history states the file's digest: it was unsealed again when it was written. */
  readonly isVerified: boolean;
}

export interface CheckpointList {
  /** Oldest first, by sequence. */
  readonly checkpoints: readonly ListedCheckpoint[];
  /** Snapshot files that no checkpoint of this history belongs to, sorted. */
  readonly strangers: readonly string[];
}

/** Joins the checkpoints of a history with the task's files. Reads names and sizes only. */
export async function listCheckpoints(entries: readonly CheckpointEntry[], store: TaskStore): Promise<CheckpointList> {
  const sizes = new Map((await listSnapshotFiles(store)).map(({ entry }) => [entry.key, entry.sizeBytes]));
  const checkpoints = entries.map((entry) => {
    const name = entry.snapshot?.file ?? formatSnapshotName(entry);
    const sizeBytes = sizes.get(name);
    sizes.delete(name);
    const file = sizeBytes === undefined ? undefined : { name, sizeBytes };
    return { entry, file, isVerified: file !== undefined && entry.snapshot?.sizeBytes === sizeBytes };
  });
  return {
    checkpoints: checkpoints.sort((first, second) => first.entry.seq - second.entry.seq),
    strangers: [...sizes.keys()].sort(),
  };
}

/** Fewest characters of an id that count as one. */
const ID_PREFIX_CHARS_MIN = 4;

/**
 * The checkpoint that a person's text names: id, beginning of an id, sequence, `phaseN` (its last), file, `latest`.
 *
 * Errors: CHECKPOINT_NOT_FOUND, CHECKPOINT_AMBIGUOUS with what fits.
 */
export function selectCheckpoint<T extends { readonly entry: CheckpointEntry }>(
  checkpoints: readonly T[],
  text: string,
  task?: string,
): T {
  const fitting = findFitting(checkpoints, text.trim());
  const [first] = fitting;
  if (first === undefined) throw notFound(checkpoints, text, task);
  if (fitting.length === 1) return first;
  const candidates = fitting.map(({ entry }) => `${entry.seq} (${entry.checkpointId})`);
  throw new SplashdownError(
    "CHECKPOINT_AMBIGUOUS",
    `several checkpoints fit ${JSON.stringify(text.slice(0, 100))}: ${candidates.join(", ")}`,
    {
      details: { text: text.slice(0, 100), candidates, ...(task === undefined ? {} : { task }) },
    },
  );
}

function findFitting<T extends { readonly entry: CheckpointEntry }>(checkpoints: readonly T[], text: string): T[] {
  if (text === "latest") return checkpoints.slice(-1);
  const phase = /^phase(\d{1,9})$/.exec(text)?.[1];
  if (phase !== undefined) return checkpoints.filter(({ entry }) => entry.phase === Number(phase)).slice(-1);
  if (text.includes(SNAPSHOT_PREFIX)) return findByFile(checkpoints, text);
  const bySeq = /^\d{1,15}$/.test(text) ? checkpoints.filter(({ entry }) => entry.seq === Number(text)) : [];
  const byId =
    text.length < ID_PREFIX_CHARS_MIN
      ? []
      : checkpoints.filter(({ entry }) => entry.checkpointId.startsWith(text.toLowerCase()));
  return [...new Set([...bySeq, ...byId])];
}

/** By the last part of a path. */
function findByFile<T extends { readonly entry: CheckpointEntry }>(checkpoints: readonly T[], path: string): T[] {
  const name = parseSnapshotName(path.slice(path.lastIndexOf("/") + 1));
  if (name === undefined) return [];
  return checkpoints.filter(
    ({ entry }) => entry.seq === name.seq && entry.phase === name.phase && entry.atMs === name.atMs,
  );
}

function notFound(
  checkpoints: readonly { readonly entry: CheckpointEntry }[],
  text: string,
  task: string | undefined,
): SplashdownError {
  const last = checkpoints.at(-1)?.entry;
  const known =
    last === undefined
      ? "the task has none yet"
      : `the task has ${checkpoints.length}, the last is ${last.seq} of phase ${last.phase}`;
  return new SplashdownError(
    "CHECKPOINT_NOT_FOUND",
    `no checkpoint fits ${JSON.stringify(text.slice(0, 100))}: ${known}`,
    {
      details: { text: text.slice(0, 100), ...(task === undefined ? {} : { task }) },
    },
  );
}
