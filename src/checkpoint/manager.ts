/**
 * The checkpoint manager: takes a checkpoint's content when the runner says so, and writes its file behind the work.
 *
 * Owns: whether a file is written (policy.ts gives the numbers), the queue, the chain of files, what becomes of a
 * failure, retention after saves. The engine decides when a checkpoint is due; the runner records what comes back.
 *
 * Its life: a request is *skipped* (switched off, or over the budget), or *queued*. At most one is *in flight*. A newer
 * request takes the place of an optional one that still waits; a required one is always written. Of a large state an
 * optional one is skipped until the history has grown by half of it: what a restart then folds is small beside it. In flight: journal
 * durable to the position → encode in slices → seal → store → `snapshot_written` recorded → the request is *done* →
 * retention. What fails is recorded as `snapshot_failed` and said aloud; after a failure the next request is tried
 * whatever the budget, so that two in a row are two in a row.
 *
 * C2: the position in the header is durable before the file is written.
 * Source: DESIGN section 7 (when a trigger fires, a failed save).
 */
import { errorCodeOf, isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import type { CheckpointId } from "../base/ids.js";
import { LIMITS } from "../base/limits.js";
import type { Log } from "../base/log.js";
import type { EventOf } from "../engine/model/events.js";
import type { BlobShelf, CheckpointHook } from "../engine/model/ports.js";
import type { TaskState } from "../engine/model/state.js";
import { capture, labelOf, type SnapshotCapture } from "./format/capture.js";
import type { CheckpointJournal, SnapshotEvent } from "./contract.js";
import { findLargest, formatLargest, LARGEST_NAMED } from "./blobs/large-values.js";
import { createTimeSlicer } from "./format/time-slicer.js";
import { isAlwaysWritten, isWithinBudget } from "./policy.js";
import type { SnapshotRetention } from "./retention.js";
import { spillLargest } from "./blobs/spill.js";
import { type SnapshotWriterOptions, writeSnapshot, type WrittenSnapshot } from "./format/writer.js";

export interface CheckpointManagerOptions {
  readonly writer: SnapshotWriterOptions;
  readonly journal: CheckpointJournal;
  readonly log: Log;
  /** `checkpoint_config.enabled`: false stops snapshots, never the journal. */
  readonly isEnabled: boolean;
  /** Takes the event into the task's history; durable on return. Rejects when the history takes no more. */
  readonly onEvent: (event: SnapshotEvent) => Promise<void>;
  /** Absent: files are kept for ever. */
  readonly retention?: SnapshotRetention;
  /** Where values go that make a checkpoint larger than its limit; absent: such a checkpoint fails. */
  readonly blobs?: BlobShelf;
  /** Told of every file written, for metrics and typed events. */
  readonly onWritten?: (written: WrittenSnapshot, taken: SnapshotCapture) => void;
}

export interface CheckpointManager extends CheckpointHook {
  /** Removes old files as after a save, behind what is in flight; for the start of a task and for long-lived processes. */
  retain(state: TaskState): void;
  /** Resolves when nothing is in flight or waiting, retention included. */
  idle(): Promise<void>;
  /** Requests so far, by what became of them. */
  readonly counts: Readonly<Record<"written" | "skipped" | "coalesced" | "failed", number>>;
}

export function createCheckpointManager(options: CheckpointManagerOptions): CheckpointManager {
  return new SnapshotQueue(options);
}

/** Who waits for a file. Holds no capture: of many requests whose place was taken, each would keep a whole state alive. */
interface Waiter {
  /** Requests whose place this one took: done when it is. */
  readonly followers: Waiter[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Request extends Waiter {
  readonly taken: SnapshotCapture;
  readonly isRequired: boolean;
}

/** The chain of files and the bytes they took, from the history and then by our own writes. */
interface Ledger {
  prev: { readonly checkpointId: CheckpointId; readonly sha256: string } | undefined;
  writtenBytes: number;
  /** Size of the latest file, or of the latest one found too large. */
  latestBytes: number;
}

const ERROR_TEXT_CHARS_MAX = 1000;
const NOT_WAITED_FOR = { required: false, written: Promise.resolve() };
/**
 * From so many steps and checkpoints on, an optional file is written only when the history has grown by half as many records: a
 * restart folds so many in no time, and what captures and texts take stays a share of the work.
 */
const LARGE_STATE_ENTRIES = 512;
const CAPTURES_PER_STATE = 2;

class SnapshotQueue implements CheckpointManager {
  readonly counts = { written: 0, skipped: 0, coalesced: 0, failed: 0 };
  readonly #options: CheckpointManagerOptions;
  readonly #waiting: Request[] = [];
  #ledger: Ledger | undefined;
  /** As it goes on; read for what the history holds by now. */
  #state: TaskState | undefined;
  #failuresInARow = 0;
  #largeBytes: number = LIMITS.checkpointLargeBytes;
  #pump: Promise<void> | undefined;
  #isToRetain = false;
  /** Record of the last capture. */
  #capturedAt = -Infinity;

  constructor(options: CheckpointManagerOptions) {
    this.#options = options;
  }

  captured(state: TaskState, event: EventOf<"checkpoint_recorded">): ReturnType<CheckpointHook["captured"]> {
    this.#state = state;
    const ledger = (this.#ledger ??= readLedger(state));
    const isRequired = isAlwaysWritten(event.trigger);
    const isWanted = this.#options.isEnabled && this.#admits(isRequired, ledger, ledger.latestBytes);
    const isSkipped = !isWanted || (!isRequired && this.#isTooSoon(state));
    const taken = isSkipped ? undefined : capture(state, event);
    if (taken === undefined) {
      this.counts.skipped += 1;
      return NOT_WAITED_FOR;
    }
    this.#capturedAt = taken.position;
    return { required: isRequired, written: this.#enqueue(taken, isRequired) };
  }

  retain(state: TaskState): void {
    this.#state = state;
    this.#isToRetain = true;
    this.#pump ??= this.#run();
  }

  async idle(): Promise<void> {
    while (this.#pump !== undefined) await this.#pump;
  }

  #admits(isRequired: boolean, ledger: Ledger, sizeBytes: number): boolean {
    if (isRequired || this.#failuresInARow > 0) return true;
    return isWithinBudget({
      written: ledger.writtenBytes,
      next: sizeBytes,
      journal: this.#options.journal.sizeBytes(),
    });
  }

  #enqueue(taken: SnapshotCapture, isRequired: boolean): Promise<void> {
    const { promise, ...waiter } = createWaiter(this.#takeOptional());
    this.#waiting.push({ taken, isRequired, ...waiter });
    this.#pump ??= this.#run();
    return promise;
  }

  /** The optional requests that still wait: the new one takes their place. */
  #takeOptional(): Waiter[] {
    const optional = this.#waiting.filter((request) => !request.isRequired);
    for (const request of optional) this.#waiting.splice(this.#waiting.indexOf(request), 1);
    this.counts.coalesced += optional.length;
    return optional.map(({ followers, resolve, reject }) => ({ followers, resolve, reject }));
  }

  /** True where so little happened since the last capture that another one of so large a state is not worth it. */
  #isTooSoon({ position, steps, checkpoints }: TaskState): boolean {
    const entries = steps.size + checkpoints.length;
    if (entries < LARGE_STATE_ENTRIES || this.#failuresInARow > 0) return false;
    return position - this.#capturedAt < entries / CAPTURES_PER_STATE;
  }

  async #run(): Promise<void> {
    for (;;) {
      const request = this.#waiting.shift();
      if (request !== undefined) await this.#answer(request);
      else if (this.#isToRetain) await this.#retain();
      else break;
    }
    this.#pump = undefined;
  }

  async #answer(request: Request): Promise<void> {
    const { taken, isRequired } = request;
    try {
      await this.#write(taken, isRequired);
      this.#failuresInARow = 0;
      settle(request);
    } catch (error) {
      refuse(request, await this.#fail(taken, error));
      return;
    }
    await this.#retain();
  }

  async #write(taken: SnapshotCapture, isRequired: boolean): Promise<void> {
    const { journal, writer } = this.#options;
    const ledger = this.#ledger;
    await journal.durable();
    // A superseded owner's file would be off the chain: it is not written at all.
    await journal.confirm();
    const position = journal.positionAt(taken.position);
    if (position === undefined || ledger === undefined) {
      throw new SplashdownError(
        "CHECKPOINT_FAILED",
        `record ${taken.position} of ${labelOf(taken.event)} is not in the journal`,
      );
    }
    const admits = (sizeBytes: number): boolean => {
      ledger.latestBytes = sizeBytes;
      return this.#admits(isRequired, ledger, sizeBytes);
    };
    const write = (content: SnapshotCapture): Promise<WrittenSnapshot | undefined> =>
      writeSnapshot(content, { position, prev: ledger.prev }, { ...writer, admits });
    const written = await this.#spillingWhenOver(taken, write);
    if (written === undefined) {
      this.counts.skipped += 1;
      return;
    }
    ledger.prev = { checkpointId: taken.event.checkpointId, sha256: written.sha256 };
    ledger.writtenBytes += written.sizeBytes;
    this.counts.written += 1;
    this.#options.retention?.noteVerified(written.file);
    this.#options.onWritten?.(written, taken);
    await this.#options.onEvent(this.#describe(taken, written));
    await this.#noteSize(taken, written);
  }

  /** Over the size limit the largest values go out, and it is tried once more. */
  async #spillingWhenOver(
    taken: SnapshotCapture,
    write: (content: SnapshotCapture) => Promise<WrittenSnapshot | undefined>,
  ): Promise<WrittenSnapshot | undefined> {
    const { blobs, writer, log } = this.#options;
    try {
      return await write(taken);
    } catch (error) {
      if (blobs === undefined || !isErrorCode(error, "VALUE_TOO_LARGE")) throw error;
    }
    const pace = createTimeSlicer(writer.clock, writer.breathe);
    const { taken: smaller, spilled } = await spillLargest(taken, { blobs, rawBytesMax: writer.rawBytesMax, pace });
    log.warn(
      `${labelOf(taken.event)} is over its size limit; kept outside: ${formatLargest(spilled.slice(0, LARGEST_NAMED))}`,
    );
    return write(smaller);
  }

  /** A large file is told once, and again when it has doubled. */
  async #noteSize(taken: SnapshotCapture, { sizeBytes, file }: WrittenSnapshot): Promise<void> {
    if (sizeBytes < this.#largeBytes) return;
    this.#largeBytes = 2 * sizeBytes;
    const { clock, breathe } = this.#options.writer;
    const largest = await findLargest(taken, LARGEST_NAMED, createTimeSlicer(clock, breathe));
    this.#options.log.warn(
      `checkpoint_large: ${file} has ${Math.ceil(sizeBytes / 1000)} KB; largest: ${formatLargest(largest)}`,
    );
  }

  #describe(taken: SnapshotCapture, written: WrittenSnapshot): EventOf<"snapshot_written"> {
    return {
      type: "snapshot_written",
      atMs: this.#stamp(taken),
      checkpointId: taken.event.checkpointId,
      seq: taken.event.seq,
      file: written.file,
      sha256: written.sha256,
      sizeBytes: written.sizeBytes,
      rawBytes: written.rawBytes,
      durationMs: written.durationMs,
    };
  }

  #stamp(taken: SnapshotCapture): number {
    return Math.max(this.#options.writer.clock.nowMs(), taken.event.atMs);
  }

  /** Records and says a failure; the answer is the error for whoever waits. */
  async #fail(taken: SnapshotCapture, cause: unknown): Promise<SplashdownError> {
    this.#failuresInARow += 1;
    this.counts.failed += 1;
    const error = this.#wrap(taken, cause);
    this.#options.log.warn(`${error.message}; ${error.hint}`);
    if (isErrorCode(cause, "OWNER_SUPERSEDED")) return error;
    try {
      await this.#options.onEvent({
        type: "snapshot_failed",
        atMs: this.#stamp(taken),
        checkpointId: taken.event.checkpointId,
        seq: taken.event.seq,
        error: {
          code: error.code,
          message: error.message.slice(0, ERROR_TEXT_CHARS_MAX),
          retryable: error.retryable,
          details: error.details,
        },
      });
    } catch (second) {
      this.#options.log.warn(`that a checkpoint failed could not be recorded: ${messageOf(second)}`);
    }
    return error;
  }

  #wrap(taken: SnapshotCapture, cause: unknown): SplashdownError {
    if (isErrorCode(cause, "OWNER_SUPERSEDED") && cause instanceof SplashdownError) return cause;
    const details = {
      task: taken.task.name,
      seq: taken.event.seq,
      cause: errorCodeOf(cause) ?? "INTERNAL",
      inARow: this.#failuresInARow,
    };
    return new SplashdownError("CHECKPOINT_FAILED", `${labelOf(taken.event)} was not saved: ${messageOf(cause)}`, {
      details,
      cause,
    });
  }

  /** Removes old files while the history is open; a failure here harms nothing and is only said. */
  async #retain(): Promise<void> {
    this.#isToRetain = false;
    const state = this.#state;
    if (state?.task?.status !== "running") return;
    try {
      await this.#options.retention?.run({ checkpoints: state.checkpoints, historyFrom: state.task.historyFrom });
    } catch (error) {
      this.#options.log.warn(`old checkpoint files could not be removed: ${messageOf(error)}`);
    }
  }
}

/** Not where a capture is in scope: what is made there keeps it alive as long as it lives itself. */
function createWaiter(followers: Waiter[]): Waiter & { readonly promise: Promise<void> } {
  const { promise, resolve, reject } = createPending();
  promise.catch(() => undefined);
  return { promise, followers, resolve, reject };
}

function createPending(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  return { promise, resolve, reject };
}

/** Whoever gave way to it waits for the same file. */
function refuse(request: Waiter, error: SplashdownError): void {
  request.reject(error);
  for (const follower of request.followers) refuse(follower, error);
}

function settle(request: Waiter): void {
  request.resolve();
  for (const follower of request.followers) settle(follower);
}

function readLedger(state: TaskState): Ledger {
  const ledger: Ledger = { prev: undefined, writtenBytes: 0, latestBytes: 0 };
  for (const { checkpointId, snapshot } of state.checkpoints) {
    if (snapshot === undefined) continue;
    ledger.prev = { checkpointId, sha256: snapshot.sha256 };
    ledger.writtenBytes += snapshot.sizeBytes;
    ledger.latestBytes = snapshot.sizeBytes;
  }
  return ledger;
}
