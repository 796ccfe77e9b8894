/**
 * Which snapshot files may go, and their removal.
 *
 * A checkpoint itself never goes: it stays listed, replayable and forkable from the journal; only its file does.
 *
 * C4: append `pruned`, durable → look for a higher epoch → remove. C5: two verified files always stay.
 * C9: where the journal was shortened, the file that its first record follows stays: without it nothing after it could be
 *     replayed up to the next file.
 * Source: DESIGN section 7 (retention), STORAGE section 1.12.
 */
import { type SplashdownError, isErrorCode, messageOf } from "../base/errors.js";
import type { CheckpointId } from "../base/ids.js";
import type { Log } from "../base/log.js";
import type { EventOf } from "../engine/model/events.js";
import type { CheckpointEntry } from "../engine/model/state.js";
import type { TaskStore } from "../store/contract/contract.js";
import type { CheckpointJournal } from "./contract.js";
import type { SnapshotName } from "./format/names.js";
import { listSnapshotFiles } from "./source.js";

export interface RetentionRules {
  /** `max_checkpoints_per_phase`. */
  readonly perPhaseMax: number;
  /** `max_checkpoints`. */
  readonly perTaskMax: number;
  /** Files of checkpoints before this time go too. Units: wall time. */
  readonly beforeMs?: number;
  /** Verified files that stay whatever the rest says; VERIFIED_MIN when absent. 0 only where a person clears. */
  readonly verifiedMin?: number;
}

/** Removed by one call of the store, so that each line of the log is not long after its removal. */
const FILES_AT_ONCE = 200;

/** Verified files that always stay. */
export const VERIFIED_MIN = 2;

export interface RetainedFile {
  readonly file: string;
  readonly seq: number;
  readonly phase: number;
  readonly atMs: number;
  readonly sizeBytes: number;
  /** It decoded in this process: a file counts only then. */
  readonly isVerified: boolean;
  /** By a person, or because the history begins at it (C9). */
  readonly isPinned: boolean;
}

export interface ExpiredFile extends Pick<RetainedFile, "file" | "seq" | "phase" | "sizeBytes"> {
  readonly reason: string;
}

/**
 * Picks the files that may go.
 *
 * Shape: the answer is oldest first; pinned files never go and do not count; the newest file never goes.
 */
export function selectExpired(files: readonly RetainedFile[], rules: RetentionRules): ExpiredFile[] {
  const { verifiedMin = VERIFIED_MIN } = rules;
  const newestFirst = files.filter((file) => !file.isPinned).sort((first, second) => second.seq - first.seq);
  const perPhase = new Map<number, number>();
  const expired: (RetainedFile & { readonly reason: string })[] = [];
  let kept = 0;
  for (const file of newestFirst) {
    const inPhase = perPhase.get(file.phase) ?? 0;
    const reason = reasonAgainst({ file, inPhase, kept }, rules);
    if (reason !== undefined && (file !== newestFirst[0] || verifiedMin === 0)) {
      expired.push({ ...file, reason });
      continue;
    }
    perPhase.set(file.phase, inPhase + 1);
    kept += 1;
  }
  return spareVerified(files, expired, verifiedMin).map(({ file, seq, phase, sizeBytes, reason }) => ({
    file,
    seq,
    phase,
    sizeBytes,
    reason,
  }));
}

function reasonAgainst(
  candidate: { readonly file: RetainedFile; readonly inPhase: number; readonly kept: number },
  rules: RetentionRules,
): string | undefined {
  const { file, inPhase, kept } = candidate;
  if (rules.perTaskMax === 0) return "all files of the task are cleared";
  if (rules.beforeMs !== undefined && file.atMs < rules.beforeMs)
    return `older than ${new Date(rules.beforeMs).toISOString()}`;
  if (inPhase >= rules.perPhaseMax) return `more than ${rules.perPhaseMax} files of phase ${file.phase}`;
  return kept >= rules.perTaskMax ? `more than ${rules.perTaskMax} files of the task` : undefined;
}

/** Takes the newest verified files out of the removal until enough of them stay; oldest first. */
function spareVerified<T extends RetainedFile>(
  files: readonly RetainedFile[],
  expired: readonly T[],
  verifiedMin: number,
): T[] {
  const leaving = new Set(expired.map((file) => file.file));
  let staying = files.filter((file) => file.isVerified && !leaving.has(file.file)).length;
  const spared = new Set<string>();
  for (const file of expired) {
    if (staying >= verifiedMin) break;
    if (!file.isVerified) continue;
    spared.add(file.file);
    staying += 1;
  }
  return expired.filter((file) => !spared.has(file.file)).reverse();
}

/** The checkpoints of a task, and where its journal begins. */
export interface RetainedHistory {
  /** By sequence. */
  readonly checkpoints: readonly CheckpointEntry[];
  /** Number of the first record that `prune --history` left; absent where nothing was removed. */
  readonly historyFrom?: number | undefined;
}

export interface RetentionOptions {
  readonly store: TaskStore;
  readonly journal: Pick<CheckpointJournal, "confirm">;
  readonly log: Log;
  readonly rules: RetentionRules;
  /** Checkpoints that a person pinned; looked at again right before removing. */
  readonly pins?: () => Promise<ReadonlySet<CheckpointId>>;
  /** Decodes a file; false when it is damaged. Errors: everything but damage. */
  readonly verify: (file: string) => Promise<boolean>;
  /** Takes the event into the history; durable on return. Rejects when the history takes no more: nothing is removed then. */
  readonly onPruned: (event: EventOf<"pruned">) => Promise<void>;
  readonly nowMs: () => number;
}

interface HistoryFile {
  readonly file: string;
  readonly sizeBytes: number;
  readonly entry: CheckpointEntry;
}

/** Removes files of one task by the rules; knows which files were verified in this process. */
export class SnapshotRetention {
  readonly #options: RetentionOptions;
  readonly #verified = new Set<string>();
  readonly #damaged = new Set<string>();

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Says that this process has decoded the file. */
  noteVerified(file: string): void {
    this.#verified.add(file);
  }

  /**
   * Removes what may go. Shape: files of checkpoints that are not in the history (a superseded owner's) neither go nor
   * count. The answer is the names of the removed files; often none.
   *
   * Errors: OWNER_SUPERSEDED and the STORE_* codes; files not yet removed then stay.
   */
  async run(history: RetainedHistory): Promise<string[]> {
    const expired = await this.plan(history);
    return expired.length === 0 ? [] : this.carryOut(history, expired);
  }

  /** What `run` would remove, oldest first. Reads only. */
  async plan(history: RetainedHistory): Promise<ExpiredFile[]> {
    const { rules } = this.#options;
    const files = await this.#listFiles(history);
    const pinned = await this.#listPinned(history, files);
    const describe = (): RetainedFile[] => files.map((file) => this.#describe(file, pinned));
    const first = selectExpired(describe(), rules);
    const verifiedMin = rules.verifiedMin ?? VERIFIED_MIN;
    if (first.length === 0 || verifiedMin === 0) return first;
    const newestFirst = files.map(({ file }) => file).reverse();
    await this.#verifyNewest(newestFirst);
    return this.#countVerified(newestFirst) < verifiedMin ? [] : selectExpired(describe(), rules);
  }

  /** Removes what was planned; a file that was pinned since stays. `history`: what goes of the journal by the same event. */
  async carryOut(
    retained: RetainedHistory,
    expired: readonly ExpiredFile[],
    history?: EventOf<"pruned">["history"],
  ): Promise<string[]> {
    const { onPruned, journal, store, log, nowMs } = this.#options;
    const files = expired.map((file) => file.file);
    const reason = [...new Set(expired.map((file) => file.reason))].join("; ");
    await onPruned({ type: "pruned", atMs: nowMs(), files, reason, ...(history === undefined ? {} : { history }) });
    await journal.confirm();
    const pinned = await this.#listPinned(retained, await this.#listFiles(retained));
    const going = expired.filter(({ file }) => !pinned.has(file));
    for (let at = 0; at < going.length; at += FILES_AT_ONCE) {
      const some = going.slice(at, at + FILES_AT_ONCE);
      await store.remove(...some.map(({ file }) => file));
      for (const { file, reason: why } of some) log.debug(`removed ${file}: ${why}; the checkpoint stays listed`);
    }
    return going.map(({ file }) => file);
  }

  /** Oldest first. */
  async #listFiles({ checkpoints }: RetainedHistory): Promise<HistoryFile[]> {
    const named = await listSnapshotFiles(this.#options.store);
    const files = named.flatMap(({ entry: { key, sizeBytes }, name }) => {
      const entry = findEntry(checkpoints, name);
      return entry === undefined ? [] : [{ file: key, sizeBytes, entry }];
    });
    return files.sort((one, other) => one.entry.seq - other.entry.seq);
  }

  async #listPinned({ historyFrom = 1 }: RetainedHistory, files: readonly HistoryFile[]): Promise<ReadonlySet<string>> {
    const ids = (await this.#options.pins?.()) ?? new Set();
    const pinned = files.filter(({ entry }) => ids.has(entry.checkpointId));
    const first = historyFrom > 1 ? files.find(({ entry }) => entry.position >= historyFrom - 1) : undefined;
    return new Set([...pinned, ...(first === undefined ? [] : [first])].map(({ file }) => file));
  }

  #describe({ file, sizeBytes, entry }: HistoryFile, pinned: ReadonlySet<string>): RetainedFile {
    const { seq, phase, atMs } = entry;
    return { file, sizeBytes, seq, phase, atMs, isVerified: this.#verified.has(file), isPinned: pinned.has(file) };
  }

  #countVerified(files: readonly string[]): number {
    return files.filter((file) => this.#verified.has(file)).length;
  }

  /** Decodes files until enough are known to be good. */
  async #verifyNewest(newestFirst: readonly string[]): Promise<void> {
    for (const file of newestFirst) {
      if (this.#countVerified(newestFirst) >= VERIFIED_MIN) return;
      if (this.#verified.has(file) || this.#damaged.has(file)) continue;
      if (await this.#options.verify(file)) this.#verified.add(file);
      else this.#damaged.add(file);
    }
  }
}

/** The checkpoint of a history, sorted by sequence, that a file's name is of. */
function findEntry(history: readonly CheckpointEntry[], name: SnapshotName): CheckpointEntry | undefined {
  let [low, high] = [0, history.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((history[middle]?.seq ?? 0) < name.seq) low = middle + 1;
    else high = middle;
  }
  const entry = history[low];
  return entry?.seq === name.seq && entry.phase === name.phase && entry.atMs === name.atMs ? entry : undefined;
}

/** Damage of one file, as against a key or a store that fails for all of them. */
export const FILE_DAMAGE = [
  "CHECKPOINT_TRUNCATED",
  "CHECKPOINT_CORRUPT",
  "CHECKPOINT_TAMPERED",
  "FORMAT_NOT_OURS",
  "FORMAT_VERSION",
  "TASK_SWAPPED",
  "VALUE_TOO_LARGE",
  "SEAL_MISSING",
] as const satisfies readonly SplashdownError["code"][];

/** A `verify` over a reader of files. */
export function createVerify(load: (file: string) => Promise<unknown>, log: Log): RetentionOptions["verify"] {
  return async (file) => {
    try {
      await load(file);
      return true;
    } catch (error) {
      if (!isErrorCode(error, ...FILE_DAMAGE, "KEY_WRONG", "KEY_MISSING", "CHECKPOINT_NOT_FOUND")) throw error;
      log.warn(`a checkpoint file cannot be used: ${messageOf(error)}`);
      return false;
    }
  };
}
