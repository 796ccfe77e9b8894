/**
 * The state of a task from its snapshot and journal, without writing: what `restore` goes on from and what list, show,
 * replay and fork look at.
 *
 * R5: the state is the fold of the recorded events; nothing is decided here. A record that cannot be read is never
 *     bridged in silence: it is lost, named, and everything that may have begun at or after it is uncertain.
 * R6: damage that a snapshot covers is no loss. Loss that a person accepted once is not asked about again.
 */
import { SplashdownError } from "../base/errors.js";
import type { JsonObject, JsonValue } from "../base/json.js";
import { createBlobShelf } from "../checkpoint/blobs/blobs.js";
import type { LoadedSnapshot, SnapshotSource } from "../checkpoint/contract.js";
import type { EngineEvent } from "../engine/model/events.js";
import type { BlobRef } from "../engine/model/value-ref.js";
import { evolve } from "../engine/fold/evolve.js";
import { stateOf, withInlineState } from "../engine/fold/restore-state.js";
import { createState, type TaskState } from "../engine/model/state.js";
import { readHistory, type History, type LostRange, type ScanCache } from "../journal/history.js";
import type { JournalPosition } from "../journal/position.js";
import type { HistoryRecord } from "../journal/segment-records.js";
import type { TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import { findEvidence } from "./evidence.js";
import { selectBase, type RefusedSnapshot } from "./base-selection.js";

export interface ReadTaskOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly snapshots: SnapshotSource;
  /** Fold no further than this record. */
  readonly until?: number;
  readonly cache?: ScanCache;
  readonly signal?: AbortSignal;
  /** Called now and then; throws to end the work. */
  readonly checkTime?: () => void;
}

export interface FoldedTask {
  readonly state: TaskState;
  readonly history: History;
  readonly base: LoadedSnapshot | undefined;
  readonly refused: readonly RefusedSnapshot[];
  /** The last record of the state: what a new owner continues. */
  readonly position: JournalPosition | undefined;
  readonly recordsReplayed: number;
  /** What no snapshot covers and nobody accepted; empty in a sound task. */
  readonly lost: readonly LostRange[];
  /** From the first record of `lost`; steps that may have begun there are unknown. */
  readonly uncertainFrom: number | undefined;
  /** Records after a loss that no longer fitted the state. */
  readonly unfoldable: number;
  /** What tells of records where none is left and no snapshot opens (R17). */
  readonly evidence: readonly string[];
}

/** A task as it was read a moment ago, with the scans it was read from: whoever takes it over need not fold it again. */
export interface KnownTask {
  readonly folded: FoldedTask;
  readonly cache: ScanCache;
}

/** Folded between two looks at the time. */
const RECORDS_PER_LOOK = 256;

/**
 * Reads and folds a task. Needs no claim and changes no byte; with a living owner it is the state of a moment ago.
 *
 * Errors: those of `readHistory`; JOURNAL_TAMPERED, FORMAT_VERSION of a record. Damage is in the answer.
 */
export async function readTask(options: ReadTaskOptions): Promise<FoldedTask> {
  const { task, vault, cache, signal } = options;
  const history = await readHistory({ task, vault, cache, signal });
  return await foldHistory(history, options);
}

/**
 * Folds a history that was read already. A snapshot that is sound but not the one that the history says was written is
 * put back from elsewhere: it is refused like a damaged one, and the one before is used (R3).
 */
export async function foldHistory(history: History, options: ReadTaskOptions): Promise<FoldedTask> {
  const folded = await foldFromBase(history, options);
  const { base, state } = folded;
  const written = state.checkpoints.findLast(({ checkpointId }) => checkpointId === base?.checkpointId)?.snapshot;
  if (base === undefined || written === undefined || written.sha256 === base.sha256) return folded;
  const refused: RefusedSnapshot = {
    file: base.file,
    code: "CHECKPOINT_TAMPERED",
    reason: "it is not the file that the journal says was written",
    isBad: true,
  };
  const again = await foldHistory(history, { ...options, snapshots: without(options.snapshots, base.file) });
  return { ...again, refused: [refused, ...again.refused] };
}

function without(snapshots: SnapshotSource, left: string): SnapshotSource {
  return {
    list: async () => (await snapshots.list()).filter(({ file }) => file !== left),
    load: (file) => snapshots.load(file),
    quarantine: (file, reason) => snapshots.quarantine(file, reason),
  };
}

async function foldFromBase(history: History, options: ReadTaskOptions): Promise<FoldedTask> {
  const { snapshots, until = Infinity, checkTime } = options;
  const { snapshot, refused } = await selectBase({ history, snapshots, until, checkTime });
  const state = snapshot?.state ?? createState();
  const from = (snapshot?.position.n ?? 0) + 1;
  const records = history.recordsFrom(from).filter((record) => record.n <= until);
  const folding = new Folding(state, checkTime);
  await foldRecords(folding, records, createLoad(options));
  const evidence = snapshot === undefined ? await findEvidence(options.task, history) : [];
  const uncovered = findUncovered({ history, from, until }).filter((range) => !folding.isAccepted(range));
  const lost = addLossOfAll(uncovered, evidence);
  return {
    state,
    history,
    base: snapshot,
    refused,
    position: records.at(-1)?.position ?? snapshot?.position,
    recordsReplayed: records.length,
    lost,
    uncertainFrom: lost[0]?.from,
    unfoldable: folding.unfoldable,
    evidence,
  };
}

/** Folds records in their order; a state that one of them carries elsewhere is loaded first. */
async function foldRecords(folding: Folding, records: readonly HistoryRecord[], load: LoadState): Promise<void> {
  for (const record of records) {
    const event = record.decode();
    folding.fold(record.n, stateOf(event) === undefined ? event : await withInlineState(event, load));
  }
}

/** Where something tells of records and none is known to be lost, all of them are. */
function addLossOfAll(uncovered: readonly LostRange[], evidence: readonly string[]): readonly LostRange[] {
  return evidence.length > 0 && uncovered.length === 0 ? [{ from: 1, to: undefined }] : uncovered;
}

/**
 * The state right after one record.
 *
 * Errors: CHECKPOINT_NOT_FOUND when the history has no such record; JOURNAL_CORRUPT when records before it are lost.
 */
export async function foldUntil(options: ReadTaskOptions & { readonly until: number }): Promise<FoldedTask> {
  const folded = await readTask(options);
  const { until, task } = options;
  if (isCutOff(folded, until))
    throw new SplashdownError(
      "CHECKPOINT_NOT_FOUND",
      `records before ${folded.history.prunedBefore} of ${task.name} were removed by prune --history: record ${until} cannot be reached`,
      { details: { task: task.name, n: until } },
    );
  if (folded.lost.length > 0) throw lossError(task.name, folded);
  if (folded.position?.n === until) return folded;
  throw new SplashdownError("CHECKPOINT_NOT_FOUND", `the history of ${task.name} has no record ${until}`, {
    details: { task: task.name, n: until },
  });
}

/** What led there was removed on purpose: neither a file nor an unbroken run of records is left, and nothing is damaged. */
function isCutOff({ base, history, refused }: FoldedTask, until: number): boolean {
  if (base !== undefined || history.prunedBefore === 1) return false;
  return until < history.prunedBefore || !refused.some(({ isBad }) => isBad);
}

/** Damage beyond repair, named. */
export function lossError(task: string, { lost, history }: Pick<FoldedTask, "lost" | "history">): SplashdownError {
  const ranges = lost.map(({ from, to }) => (to === from ? `${from}` : `${from}–${to ?? "the end"}`)).join(", ");
  const places = history.damage.map(
    ({ segment, line, what }) => `${segment}${line === undefined ? "" : ` line ${line}`} (${what})`,
  );
  const shown = places.slice(0, 5).join(", ");
  return new SplashdownError(
    "JOURNAL_CORRUPT",
    `the journal of ${task} has lost records ${ranges}: ${shown || "they are not there"}`,
    {
      details: { task, ...pickLoss(history.report()) },
    },
  );
}

function pickLoss(report: JsonObject): JsonObject {
  return { lost: report["lost"] ?? [], damage: report["damage"] ?? [] };
}

function findUncovered(place: { history: History; from: number; until: number }): LostRange[] {
  const { history, from, until } = place;
  const lost = history.lost.filter((range) => (range.to ?? Infinity) >= from && range.from <= until);
  const uncovered = lost.map((range) => ({ from: Math.max(range.from, from), to: range.to }));
  // A snapshot beyond the journal's end proves that records were there; how many more, nobody can say.
  const isBeyondEnd = from - 1 > (history.head?.n ?? 0);
  return isBeyondEnd && !uncovered.some((range) => range.to === undefined)
    ? [...uncovered, { from, to: undefined }]
    : uncovered;
}

type LoadState = (ref: BlobRef) => Promise<JsonValue>;

/** Opened when it is needed: few histories have an event that carries a state. */
function createLoad({ task, vault }: ReadTaskOptions): LoadState {
  return (ref) => createBlobShelf({ store: task, vault }).get(ref);
}

class Folding {
  unfoldable = 0;
  readonly #state: TaskState;
  readonly #checkTime: (() => void) | undefined;
  #count = 0;
  #hasGap = false;
  #acceptedAt = 0;

  constructor(state: TaskState, checkTime: (() => void) | undefined) {
    this.#state = state;
    this.#checkTime = checkTime;
  }

  fold(n: number, event: EngineEvent): void {
    this.#count += 1;
    if (this.#count % RECORDS_PER_LOOK === 0) this.#checkTime?.();
    if (n !== this.#state.position + 1) this.#hasGap = true;
    if (event.type === "task_resumed" && event.report["loss_accepted"] === true) this.#acceptedAt = n;
    this.#state.position = n - 1;
    try {
      evolve(this.#state, event);
    } catch (error) {
      if (!this.#hasGap) throw error;
      this.unfoldable += 1;
    }
    this.#state.position = n;
  }

  isAccepted(range: LostRange): boolean {
    return range.to !== undefined && range.to < this.#acceptedAt;
  }
}
