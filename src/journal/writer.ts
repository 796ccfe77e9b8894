/**
 * The one writer of a task's journal in this process.
 *
 * Owns: numbering, group commit, rotation, and what happens when the disk refuses. The store owns bytes and syncs.
 * J10: one incarnation = one epoch; every segment has its own salt and key and is never opened again.
 * J11: what `durable` acknowledged is on the disk in an unbroken chain from `prev`.
 * J12: after a failed append the segment is dead; everything unacknowledged is written once more, to a new segment whose
 *      `prev` is the last acknowledged record. A second failure in a row ends the writer for ever, in the same words.
 *
 * State machine: *idle* → an append or `durable` starts a batch of everything queued → *writing*, while new events
 * queue up → the next batch, or idle. *writing* → failure → *writing* the same batch to a new segment → failure →
 * *failed*. Events that nobody waits for are written after FLUSH_DELAY_MS.
 * Source: STORAGE sections 1.5, 1.6, 1.9.
 */
import type { Clock } from "../base/clock.js";
import { SplashdownError, assert, isErrorCode, messageOf } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import { silentLog, type Log } from "../base/log.js";
import type { EngineEvent } from "../engine/model/events.js";
import type { EventLog } from "../engine/model/ports.js";
import type { SegmentWriter, TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import { PositionMemory } from "./position-memory.js";
import type { JournalPosition } from "./position.js";
import { queueRecord, sealBatch, type QueuedRecord, type SealingState, countBatch } from "./record-queue.js";
import { encodeSegmentHeader } from "./segment-header.js";

export interface JournalWriterOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  /** As `task.claim()` gave it to this process. */
  readonly epoch: number;
  /** The history to continue: the last record that counts; `undefined` in a new task. */
  readonly prev: JournalPosition | undefined;
  /** The last batch up to `prev`, which another writer wrote: it is written once more (J13). */
  readonly repeated?: readonly EngineEvent[];
  /** The checkpoint that recovery started from. */
  readonly base?: string | undefined;
  /** Bytes of the task's journal so far. */
  readonly sizeBytes?: number;
  readonly clock: Clock;
  readonly log?: Log;
  /** The disk is full, and what is written now lies in the reserve: nothing more should begin. */
  readonly onReserveUsed?: (error: unknown) => void;
  /** For tests: smaller than LIMITS. */
  readonly segmentBytesMax?: number;
  readonly segmentRecordsMax?: number;
}

/** Events nobody waits for become durable after this. */
const FLUSH_DELAY_MS = 50;

interface OpenSegment extends SealingState {
  readonly writer: SegmentWriter;
  sizeBytes: number;
}

interface Waiter {
  readonly n: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens the first segment of an epoch. Its header is durable on return, and from then on the history is this writer's.
 *
 * Errors: STORE_FULL, STORE_FAILED and the other STORE_* codes when two tries failed; OWNER_SUPERSEDED where a store
 * refuses what comes after the next claim.
 */
export async function openJournalWriter(options: JournalWriterOptions): Promise<JournalWriter> {
  const writer = new JournalWriter(options);
  await writer.open();
  return writer;
}

export class JournalWriter implements EventLog {
  readonly #options: JournalWriterOptions;
  readonly #log: Log;
  readonly #memory = new PositionMemory();
  readonly #repeated: readonly QueuedRecord[];
  #segment: OpenSegment | undefined;
  #segmentsOpened = 0;
  #position: JournalPosition | undefined;
  #lastN: number;
  #queue: QueuedRecord[] = [];
  #waiters: Waiter[] = [];
  #pumping: Promise<void> | undefined;
  #cancelFlush: (() => void) | undefined;
  #failure: SplashdownError | undefined;
  #closed = false;
  #sizeBytes: number;
  #bytesWritten = 0;

  /** Use `openJournalWriter`. */
  constructor(options: JournalWriterOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.#position = options.prev;
    this.#lastN = options.prev?.n ?? 0;
    this.#sizeBytes = options.sizeBytes ?? 0;
    const { repeated = [] } = options;
    this.#repeated = repeated.map((event, at) => queueRecord(this.#lastN - repeated.length + 1 + at, event));
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  /** The last durable record; `undefined` while there is none. */
  get position(): JournalPosition | undefined {
    return this.#position;
  }

  /** Number of the last appended record, durable or not. */
  get lastN(): number {
    return this.#lastN;
  }

  /** Bytes this writer made durable, headers included. */
  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /** Bytes of the task's journal by now. */
  sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Where a durable record of this writer stands; `undefined` for others, and for those long ago. */
  positionAt(n: number): JournalPosition | undefined {
    const { prev } = this.#options;
    return prev?.n === n ? prev : this.#memory.find(n);
  }

  async open(): Promise<void> {
    await this.#withSecondTry([], () => this.#openSegment());
  }

  /** Errors: VALUE_TOO_LARGE, before anything is queued; the failure that ended the writer. */
  append(events: readonly EngineEvent[]): void {
    this.#requireOpen();
    const queued = events.map((event, at) => queueRecord(this.#lastN + 1 + at, event));
    this.#queue.push(...queued);
    this.#lastN += queued.length;
    if (this.#pumping === undefined && this.#queue.length > 0) this.#flushSoon();
  }

  durable(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const n = this.#lastN;
    if (n === (this.#position?.n ?? 0)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ n, resolve, reject });
      this.#startPump();
    });
  }

  async confirm(): Promise<void> {
    const { task, epoch } = this.#options;
    if (await task.confirm(epoch)) return;
    throw new SplashdownError("OWNER_SUPERSEDED", `another process claimed task ${task.name} after epoch ${epoch}`, {
      details: { task: task.name, epoch },
    });
  }

  /** Makes what is queued durable and lets the segment go. Errors: those of `durable`; the segment is let go anyway. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.durable();
    } finally {
      this.#closed = true;
      this.#cancelFlush?.();
      await this.#pumping;
      await this.#dropSegment();
    }
  }

  #requireOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw new SplashdownError("INTERNAL", "an event was appended to a closed journal");
  }

  /** One timer for all that is appended until it fires: most of it is durable long before, and needs none of its own. */
  #flushSoon(): void {
    this.#cancelFlush ??= this.#options.clock.schedule(FLUSH_DELAY_MS, () => {
      this.#cancelFlush = undefined;
      if (this.#queue.length > 0) this.#startPump();
    });
  }

  /** One pump at a time; it begins after the current turn, so that everything appended in it shares the sync. */
  #startPump(): void {
    this.#pumping ??= this.#pump();
  }

  async #pump(): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#queue.length > 0 && this.#failure === undefined) await this.#commit();
    } finally {
      // In the same turn as the last look at the queue, or what comes in between would wait for ever.
      this.#pumping = undefined;
    }
  }

  async #commit(): Promise<void> {
    const batch = this.#queue.splice(0, countBatch(this.#queue));
    try {
      await this.#withSecondTry(batch, () => this.#writeBatch(batch));
    } catch (error) {
      this.#fail(error);
    }
  }

  async #writeBatch(batch: readonly QueuedRecord[]): Promise<void> {
    const segment = await this.#segmentFor(batch.length);
    const sealed = sealBatch(segment, batch);
    await segment.writer.append(sealed.lines);
    segment.sizeBytes += sealed.sizeBytes;
    this.#count(sealed.sizeBytes);
    let n = this.#position?.n ?? 0;
    for (const h of sealed.hashes) {
      n += 1;
      this.#memory.remember(n, segment.writer.id, h);
    }
    this.#position = { n, ...segment.writer.id, h: segment.h };
    this.#settle(n);
  }

  async #segmentFor(count: number): Promise<OpenSegment> {
    const segment = this.#segment;
    const { segmentBytesMax = LIMITS.segmentBytesMax, segmentRecordsMax = LIMITS.segmentRecordsMax } = this.#options;
    const isFull =
      segment !== undefined &&
      segment.part > 0 &&
      (segment.sizeBytes >= segmentBytesMax || segment.part + count > segmentRecordsMax);
    if (segment !== undefined && !isFull) return segment;
    await this.#dropSegment();
    return await this.#openSegment();
  }

  async #openSegment(): Promise<OpenSegment> {
    const { task, vault, epoch, base, clock, prev } = this.#options;
    // From the first own record on, there is nothing left that rests on another writer's syncs.
    const repeated = this.#position === prev ? this.#repeated : [];
    const sealer = vault.createSealer("journal");
    // The store gives every opening of an epoch, failed ones included, its own index.
    const id = { epoch, index: this.#segmentsOpened };
    this.#segmentsOpened += 1;
    const timestamp = new Date(clock.nowMs()).toISOString();
    const fields = { taskId: vault.taskId, id, prev: this.#position, repeats: repeated.length, base, timestamp };
    const header = encodeSegmentHeader(fields, sealer);
    const state: SealingState = { sealer, part: 0, h: header.h };
    const { lines, sizeBytes } = sealBatch(state, repeated, true);
    const writer = await task.openSegment(epoch, header.line, lines);
    assert(writer.id.epoch === epoch && writer.id.index === id.index, "the store numbered a segment otherwise");
    this.#segment = { ...state, writer, sizeBytes: header.line.length + 1 + sizeBytes };
    this.#count(this.#segment.sizeBytes);
    return this.#segment;
  }

  /** Runs it; after a failure lets the segment go, frees the reserve on a full disk, and runs it once more. */
  async #withSecondTry(batch: readonly QueuedRecord[], run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (isErrorCode(error, "INTERNAL", "VALUE_TOO_LARGE", "OWNER_SUPERSEDED")) throw error;
      const what = batch.length === 0 ? "opening a journal segment" : `writing ${batch.length} journal records`;
      this.#log.warn(`${what} failed, trying a new segment: ${messageOf(error)}`);
      await this.#dropSegment();
      if (isErrorCode(error, "STORE_FULL")) await this.#useReserve(error);
      await run();
    }
  }

  async #useReserve(error: unknown): Promise<void> {
    const { task, onReserveUsed } = this.#options;
    await task.releaseReserve();
    onReserveUsed?.(error);
  }

  async #dropSegment(): Promise<void> {
    const segment = this.#segment;
    this.#segment = undefined;
    await segment?.writer.close().catch(() => undefined);
  }

  #count(sizeBytes: number): void {
    this.#sizeBytes += sizeBytes;
    this.#bytesWritten += sizeBytes;
  }

  #settle(n: number): void {
    const done = this.#waiters.filter((waiter) => waiter.n <= n);
    this.#waiters = this.#waiters.filter((waiter) => waiter.n > n);
    for (const waiter of done) waiter.resolve();
  }

  #fail(error: unknown): void {
    this.#failure = computeFailure(error, this.#options.task.name);
    this.#queue = [];
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(this.#failure);
  }
}

const OWN_CODES = [
  "OWNER_SUPERSEDED",
  "STORE_FULL",
  "STORE_FAILED",
  "STORE_UNWRITABLE",
  "STORE_BUSY",
  "STORE_UNREACHABLE",
  "STORE_UNSAFE",
  "VALUE_TOO_LARGE",
  "INTERNAL",
] as const;

function computeFailure(error: unknown, task: string): SplashdownError {
  if (isErrorCode(error, ...OWN_CODES) && error instanceof SplashdownError) return error;
  return new SplashdownError("STORE_FAILED", `the journal of ${task} cannot be written: ${messageOf(error)}`, {
    details: { task },
    cause: error,
  });
}
