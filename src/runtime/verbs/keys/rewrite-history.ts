/**
 * Writes a task's history, its large values and its snapshot files once more under the key that is active now.
 *
 * One pass over the records, oldest first: a large value is copied before the record that names it, a snapshot file
 * before the record of its writing, each under a name of its own. Nothing of it counts before the last record
 * (journal/whole-segment.ts), and nothing that counts until then was touched.
 * Memory: the journal as every reader holds it, one chunk of records, and one value or snapshot at a time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf, SplashdownError } from "../../../base/errors.js";
import type { CheckpointId, StepId } from "../../../base/ids.js";
import type { JsonObject, JsonValue } from "../../../base/json.js";
import { createBlobShelf, type RangedBlobShelf } from "../../../checkpoint/blobs/blobs.js";
import { capture } from "../../../checkpoint/format/capture.js";
import type { LoadedSnapshot } from "../../../checkpoint/contract.js";
import { listSnapshotFiles } from "../../../checkpoint/source.js";
import { writeSnapshot, type SnapshotWriterOptions, type WrittenSnapshot } from "../../../checkpoint/format/writer.js";
import type { EngineEvent, EventOf } from "../../../engine/model/events.js";
import type { BlobRef } from "../../../engine/model/value-ref.js";
import { stateOf, encodeWhole } from "../../../engine/fold/restore-state.js";
import { decodeState } from "../../../engine/model/state-codec.js";
import type { CheckpointEntry, TaskState } from "../../../engine/model/state.js";
import type { History } from "../../../journal/history.js";
import type { JournalPosition } from "../../../journal/position.js";
import { openWholeSegment, type WholeSegment } from "../../../journal/whole-segment.js";
import type { OpenedTask } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { copyLargeValues, onceEach, replaceReferences } from "../value-copies.js";

/** What a renewal needs to know of the state. */
export type HistorySummary = Pick<TaskState, "checkpoints" | "questions" | "atMs">;

export interface RenewalOptions {
  /** With a vault that opens what there is and seals with the new key. */
  readonly opened: OpenedTask;
  readonly history: History;
  readonly summary: HistorySummary;
  /** Claimed by this process. */
  readonly epoch: number;
  readonly writer: Pick<SnapshotWriterOptions, "rawBytesMax" | "level" | "isMinimal" | "isNamed">;
  /** The record that puts the new history in force. */
  readonly conclusion: EventOf<"noted">;
}

export interface RenewedHistory {
  readonly position: JournalPosition;
  readonly records: number;
  /** Names of what the new history names. */
  readonly snapshots: ReadonlySet<string>;
  readonly blobs: ReadonlySet<string>;
  /** Snapshot files that could not be taken along, with the reason. */
  readonly left: readonly { readonly file: string; readonly reason: string }[];
}

const PROGRESS_MS = 5_000;
const RECORDS_PER_LOOK = 256;

type SnapshotMark = NonNullable<CheckpointEntry["snapshot"]>;

/**
 * Renews a history.
 *
 * Errors: REENCRYPT_REFUSED for one with gaps, or that begins at a file which cannot be taken along; BLOB_CORRUPT; the
 * STORE_* codes. The old history is in force then.
 */
export async function renewHistory(services: Services, options: RenewalOptions): Promise<RenewedHistory> {
  return new Renewal(services, options).run();
}

class Renewal {
  readonly #services: Services;
  readonly #options: RenewalOptions;
  readonly #shelf: RangedBlobShelf;
  readonly #positions = new Map<number, JournalPosition>();
  readonly #marks = new Map<CheckpointId, SnapshotMark>();
  readonly #left: { file: string; reason: string }[] = [];
  readonly #blobs = new Set<string>();
  #blobsThere: ReadonlySet<string> = new Set();
  #filesThere = new Set<string>();
  readonly #renewRef: (ref: BlobRef) => Promise<BlobRef>;

  constructor(services: Services, options: RenewalOptions) {
    this.#services = services;
    this.#options = options;
    const { task: store, vault } = options.opened;
    this.#shelf = createBlobShelf({ store, vault, pacing: { clock: services.clock, breathe: nextTurn } });
    this.#renewRef = onceEach((ref) => this.#copyBlob(ref));
  }

  async run(): Promise<RenewedHistory> {
    const { opened, history, summary, epoch, conclusion } = this.#options;
    const { task, vault } = opened;
    const { first, head } = requireUnbroken(task.name, history);
    this.#blobsThere = new Set((await task.list("blobs/")).map(({ key }) => key));
    this.#filesThere = new Set((await listSnapshotFiles(task)).map(({ entry }) => entry.key));
    const wanted = new Set(summary.checkpoints.map(({ position }) => position));
    const { clock } = this.#services;
    const whole = await openWholeSegment({ task, vault, epoch, prev: head, firstN: first, clock });
    try {
      const tell = this.#createProgress(history.records.length);
      for (const [at, record] of history.records.entries()) {
        tell(at);
        const position = await whole.add(await this.#renewEvent(record.decode()));
        if (wanted.has(record.n)) this.#positions.set(record.n, position);
      }
      if (first > 1 && this.#marks.size === 0)
        throw refuse(task.name, "its history begins at a file that is not whole");
      return await this.#conclude(whole, conclusion);
    } finally {
      await whole.close();
    }
  }

  /** Says now and then how far it is; a small task needs none of it. */
  #createProgress(count: number): (done: number) => void {
    const { clock, log } = this.#services;
    let saidMs = clock.monotonicMs();
    return (done) => {
      if (done % RECORDS_PER_LOOK !== 0 || clock.monotonicMs() - saidMs < PROGRESS_MS) return;
      saidMs = clock.monotonicMs();
      log.info(`${done} of ${count} records of ${this.#options.opened.task.name} are sealed again`);
    };
  }

  async #conclude(whole: WholeSegment, conclusion: EventOf<"noted">): Promise<RenewedHistory> {
    const position = await whole.conclude(conclusion);
    const snapshots = new Set([...this.#marks.values()].map(({ file }) => file));
    const records = this.#options.history.records.length;
    return { position, records, snapshots, blobs: this.#blobs, left: this.#left };
  }

  async #renewEvent(event: EngineEvent): Promise<EngineEvent> {
    if (event.type === "snapshot_written") return this.#renewSnapshot(event);
    if (this.#blobsThere.size === 0) return event;
    const json = JSON.parse(JSON.stringify(event)) as JsonObject;
    const renewed = (await replaceReferences(json, this.#renewRef)) as unknown as EngineEvent;
    const carried = stateOf(event);
    if (carried === undefined) return renewed;
    const inline = await copyLargeValues(
      "inline" in carried ? carried.inline : await this.#shelf.get(carried.blob),
      this.#renewRef,
    );
    return { ...renewed, state: await this.#carry(inline, "inline" in carried) } as EngineEvent;
  }

  async #carry(state: JsonValue, isInline: boolean): Promise<JsonObject> {
    if (isInline) return { inline: state };
    const ref = await this.#shelf.put(state);
    this.#blobs.add(ref.key);
    return { blob: { ...ref } };
  }

  /** A reference that leads nowhere stays one: it is not ours to call it damage. */
  async #copyBlob(ref: BlobRef): Promise<BlobRef> {
    if (!this.#blobsThere.has(ref.key)) return ref;
    const copy = await this.#shelf.put(await this.#shelf.get(ref));
    this.#blobs.add(copy.key);
    return copy;
  }

  /** The file sealed again, and the record that says so; a file that is gone stays gone. */
  async #renewSnapshot(event: EventOf<"snapshot_written">): Promise<EngineEvent> {
    if (!this.#filesThere.has(event.file)) return event;
    try {
      const written = await this.#reseal(event);
      const { file, sha256, sizeBytes, rawBytes } = written;
      this.#marks.set(event.checkpointId, Object.freeze({ file, sha256, sizeBytes }));
      return { ...event, file, sha256, sizeBytes, rawBytes };
    } catch (error) {
      if (!(error instanceof SplashdownError) || error.code.startsWith("STORE_") || error.code === "INTERNAL")
        throw error;
      this.#left.push({ file: event.file, reason: messageOf(error) });
      return event;
    }
  }

  async #reseal(event: EventOf<"snapshot_written">): Promise<WrittenSnapshot> {
    const { opened, history, epoch, writer, summary } = this.#options;
    const loaded = await opened.snapshots.load(event.file);
    const entry = summary.checkpoints.find(({ checkpointId }) => checkpointId === event.checkpointId);
    const position = this.#positions.get(loaded.position.n);
    if (entry === undefined || position === undefined || !history.covers(loaded.position))
      throw leftOut("its position is not in this history");
    if (loaded.sha256 !== event.sha256) throw leftOut("it is not the file that the journal says was written");
    const taken = capture(await this.#renewState(loaded.state), recordOf(entry));
    if (taken === undefined) throw leftOut("it holds no task");
    const { clock, version } = this.#services;
    const written = await writeSnapshot(
      taken,
      { position, prev: this.#renewPrev(loaded), resealedIn: epoch },
      { store: opened.task, vault: opened.vault, clock, breathe: nextTurn, app: version, ...writer },
    );
    if (written === undefined) throw leftOut("it was not written");
    return written;
  }

  #renewPrev({ prev }: LoadedSnapshot): LoadedSnapshot["prev"] {
    const mark = prev === undefined ? undefined : this.#marks.get(prev.checkpointId);
    return prev === undefined || mark === undefined ? prev : { ...prev, sha256: mark.sha256 };
  }

  async #renewState(state: TaskState): Promise<TaskState> {
    const renewed = this.#blobsThere.size === 0 ? state : await this.#copyState(state);
    for (const [at, entry] of renewed.checkpoints.entries()) {
      const snapshot = this.#marks.get(entry.checkpointId);
      if (snapshot !== undefined && entry.snapshot !== undefined)
        renewed.checkpoints[at] = Object.freeze({ ...entry, snapshot });
    }
    return renewed;
  }

  async #copyState(state: TaskState): Promise<TaskState> {
    const copy = decodeState(JSON.stringify(await copyLargeValues(encodeWhole(state), this.#renewRef)));
    // What is one value in two places stays one: a file holds it once (checkpoint/format/capture.ts).
    for (const [path, { value, by }] of state.outputs) {
      const [before, now] = [state.steps.get(by as StepId), copy.steps.get(by as StepId)];
      if (before?.output === value && now?.output !== undefined)
        copy.outputs.set(path, Object.freeze({ value: now.output, by }));
    }
    return copy;
  }
}

/** The event that a checkpoint's entry was made from. */
function recordOf(entry: CheckpointEntry): EventOf<"checkpoint_recorded"> {
  const { position: _position, snapshot: _snapshot, ...fields } = entry;
  return { type: "checkpoint_recorded", ...fields };
}

/** Errors: REENCRYPT_REFUSED where records between the first and the last are lost. */
function requireUnbroken(task: string, history: History): { readonly first: number; readonly head: JournalPosition } {
  const first = history.records[0]?.n;
  const { head } = history;
  if (first === undefined || head === undefined) throw refuse(task, "nothing was recorded in it");
  if (history.records.length !== head.n - first + 1 || (first > 1 && first > history.prunedBefore))
    throw refuse(task, "records of its journal are lost, and only an unbroken history can be written once more");
  return { first, head };
}

export function refuse(task: string, why: string): SplashdownError {
  return new SplashdownError("REENCRYPT_REFUSED", `task ${task} cannot be sealed again: ${why}`, { details: { task } });
}

function leftOut(reason: string): SplashdownError {
  return new SplashdownError("CHECKPOINT_FAILED", reason);
}
