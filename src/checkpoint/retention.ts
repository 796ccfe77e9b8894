/**
 * Which snapshot files may go, and their removal.
 *
 * A checkpoint itself never goes: it stays listed, replayable and forkable from the journal; only its file does.
 *
 * C4: append `pruned`, durable → look for a higher epoch → remove. C5: two verified files always stay.
 * Source: DESIGN section 7 (retention), STORAGE section 1.12.
 */
import { type SplashdownError, isErrorCode, messageOf } from "../base/errors.js";
import type { Log } from "../base/log.js";
import type { EventOf } from "../engine/events.js";
import type { CheckpointEntry } from "../engine/state.js";
import type { TaskStore } from "../store/contract.js";
import type { CheckpointJournal } from "./contract.js";
import type { SnapshotName } from "./names.js";
import { listSnapshotFiles } from "./source.js";

export interface RetentionRules {
  /** `max_checkpoints_per_phase`. */
  readonly perPhaseMax: number;
  /** `max_checkpoints`. */
  readonly perTaskMax: number;
}

/** Verified files that always stay. */
export const VERIFIED_MIN = 2;

export interface RetainedFile {
  readonly file: string;
  readonly seq: number;
  readonly phase: number;
  /** It decoded in this process: a file counts only then. */
  readonly isVerified: boolean;
  readonly isPinned: boolean;
}

export interface ExpiredFile {
  readonly file: string;
  readonly reason: string;
}

/**
 * Picks the files that may go.
 *
 * Shape: the answer is oldest first; pinned files never go and do not count; the newest file never goes.
 */
export function selectExpired(files: readonly RetainedFile[], rules: RetentionRules): ExpiredFile[] {
  const newestFirst = files.filter((file) => !file.isPinned).sort((first, second) => second.seq - first.seq);
  const perPhase = new Map<number, number>();
  const expired: (RetainedFile & { readonly reason: string })[] = [];
  let kept = 0;
  for (const file of newestFirst) {
    const inPhase = perPhase.get(file.phase) ?? 0;
    const reason = overLimit({ inPhase, kept, phase: file.phase }, rules);
    if (reason !== undefined && file !== newestFirst[0]) {
      expired.push({ ...file, reason });
      continue;
    }
    perPhase.set(file.phase, inPhase + 1);
    kept += 1;
  }
  return spareVerified(files, expired).map(({ file, reason }) => ({ file, reason }));
}

function overLimit(
  counts: { readonly inPhase: number; readonly kept: number; readonly phase: number },
  rules: RetentionRules,
): string | undefined {
  if (counts.inPhase >= rules.perPhaseMax) return `more than ${rules.perPhaseMax} files of phase ${counts.phase}`;
  return counts.kept >= rules.perTaskMax ? `more than ${rules.perTaskMax} files of the task` : undefined;
}

/** Takes the newest verified files out of the removal until enough of them stay; oldest first. */
function spareVerified<T extends RetainedFile>(files: readonly RetainedFile[], expired: readonly T[]): T[] {
  const leaving = new Set(expired.map((file) => file.file));
  let staying = files.filter((file) => file.isVerified && !leaving.has(file.file)).length;
  const spared = new Set<string>();
  for (const file of expired) {
    if (staying >= VERIFIED_MIN) break;
    if (!file.isVerified) continue;
    spared.add(file.file);
    staying += 1;
  }
  return expired.filter((file) => !spared.has(file.file)).reverse();
}

export interface RetentionOptions {
  readonly store: TaskStore;
  readonly journal: Pick<CheckpointJournal, "confirm">;
  readonly log: Log;
  readonly rules: RetentionRules;
  /** Files that a person pinned. */
  readonly pins?: () => ReadonlySet<string>;
  /** Decodes a file; false when it is damaged. Errors: everything but damage. */
  readonly verify: (file: string) => Promise<boolean>;
  /** Takes the event into the history; durable on return. Rejects when the history takes no more: nothing is removed then. */
  readonly onPruned: (event: EventOf<"pruned">) => Promise<void>;
  readonly nowMs: () => number;
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
   * Removes what may go. Shape: `history` by sequence; files of checkpoints that are not in it (a superseded owner's)
   * neither go nor count. The answer is the names of the removed files; often none.
   *
   * Errors: OWNER_SUPERSEDED and the STORE_* codes; files not yet removed then stay.
   */
  async run(history: readonly CheckpointEntry[]): Promise<string[]> {
    const expired = await this.#select(history);
    if (expired.length === 0) return [];
    const { options, files } = { options: this.#options, files: expired.map((file) => file.file) };
    const reason = [...new Set(expired.map((file) => file.reason))].join("; ");
    await options.onPruned({ type: "pruned", atMs: options.nowMs(), files, reason });
    await options.journal.confirm();
    for (const { file, reason: why } of expired) {
      await options.store.remove(file);
      options.log.info(`removed ${file}: ${why}; the checkpoint stays listed`);
    }
    return files;
  }

  async #select(history: readonly CheckpointEntry[]): Promise<ExpiredFile[]> {
    const named = (await listSnapshotFiles(this.#options.store)).filter(({ name }) => isOf(history, name));
    const describe = (): RetainedFile[] => named.map(({ entry, name }) => this.#describe(entry.key, name));
    const first = selectExpired(describe(), this.#options.rules);
    if (first.length === 0) return first;
    const newestFirst = [...named].sort((one, other) => other.name.seq - one.name.seq);
    await this.#verifyNewest(newestFirst.map(({ entry }) => entry.key));
    return this.#countVerified(named.map(({ entry }) => entry.key)) < VERIFIED_MIN
      ? []
      : selectExpired(describe(), this.#options.rules);
  }

  #describe(file: string, name: { readonly seq: number; readonly phase: number }): RetainedFile {
    const isPinned = this.#options.pins?.().has(file) ?? false;
    return { file, seq: name.seq, phase: name.phase, isVerified: this.#verified.has(file), isPinned };
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

/** Whether a file's name is that of a checkpoint in the history, which is sorted by sequence. */
function isOf(history: readonly CheckpointEntry[], name: SnapshotName): boolean {
  let [low, high] = [0, history.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((history[middle]?.seq ?? 0) < name.seq) low = middle + 1;
    else high = middle;
  }
  const entry = history[low];
  return entry?.seq === name.seq && entry.phase === name.phase && entry.atMs === name.atMs;
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
