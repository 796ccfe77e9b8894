/**
 * Writes a history once more, from its first record on, as one segment under the vault's active key.
 *
 * For a task whose key is replaced: what is in the new segment replaces all segments before it (J14). The records are
 * written in chunks, each durable before the next; not one of them counts before `conclude` has made an own record
 * durable after them, so that a crash anywhere leaves the old history or the new one, never a mixture.
 * Owns: the segment. What the records say anew (references, files) and what is removed afterwards is the caller's.
 */
import { assert } from "../base/errors.js";
import type { Clock } from "../base/clock.js";
import type { EngineEvent } from "../engine/model/events.js";
import type { SegmentWriter, TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { queueRecord, sealRecord, type SealingState } from "./record-queue.js";
import { encodeSegmentHeader } from "./segment-header.js";

/** What is sealed and not yet written; the memory this takes. */
const CHUNK_BYTES = 1024 * 1024;

export interface WholeSegmentOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  /** Claimed by this process; nothing of it was written yet. */
  readonly epoch: number;
  /** The end of the history that is written once more. */
  readonly prev: JournalPosition;
  /** The first record that is left of it. */
  readonly firstN: number;
  readonly clock: Pick<Clock, "nowMs">;
}

export class WholeSegment {
  readonly #writer: SegmentWriter;
  readonly #state: SealingState;
  readonly #prev: JournalPosition;
  #nextN: number;
  #lines: Buffer[] = [];
  #waitingBytes = 0;

  /** Use `openWholeSegment`. */
  constructor(writer: SegmentWriter, state: SealingState, { prev, firstN }: WholeSegmentOptions) {
    this.#writer = writer;
    this.#state = state;
    this.#prev = prev;
    this.#nextN = firstN;
  }

  /** Takes the next record as it is to be from now on. Shape: where it stands in the new history. */
  async add(event: EngineEvent): Promise<JournalPosition> {
    assert(this.#nextN <= this.#prev.n, "more records were written once more than there were");
    const position = this.#seal(event, true);
    if (this.#waitingBytes >= CHUNK_BYTES) await this.#flush();
    return position;
  }

  /** Puts the new history in force: durable on return. Shape: its end. */
  async conclude(event: EngineEvent): Promise<JournalPosition> {
    assert(this.#nextN === this.#prev.n + 1, "fewer records were written once more than there were");
    await this.#flush();
    const position = this.#seal(event, false);
    await this.#flush();
    return position;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #seal(event: EngineEvent, isRepeated: boolean): JournalPosition {
    const n = this.#nextN;
    this.#nextN += 1;
    // Whatever was flushed before is durable.
    const isBatchStart = this.#lines.length === 0;
    const line = sealRecord(this.#state, queueRecord(n, event), { isBatchStart, isRepeated });
    this.#lines.push(line);
    this.#waitingBytes += line.length;
    return { n, ...this.#writer.id, h: this.#state.h };
  }

  async #flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    await this.#writer.append(this.#lines);
    this.#lines = [];
    this.#waitingBytes = 0;
  }
}

/** Opens the segment; its header is durable on return, and the epoch is still only claimed. Errors: the STORE_* codes. */
export async function openWholeSegment(options: WholeSegmentOptions): Promise<WholeSegment> {
  const { task, vault, epoch, prev, firstN, clock } = options;
  const sealer = vault.createSealer("journal");
  const id = { epoch, index: 0 };
  const fields = { taskId: vault.taskId, id, prev, repeats: prev.n - firstN + 1, isWhole: true, base: undefined };
  const timestamp = new Date(clock.nowMs()).toISOString();
  const header = encodeSegmentHeader({ ...fields, timestamp }, sealer);
  const writer = await task.openSegment(epoch, header.line);
  assert(writer.id.epoch === epoch && writer.id.index === id.index, "the store numbered a segment otherwise");
  return new WholeSegment(writer, { sealer, part: 0, h: header.h }, options);
}
