/** One segment being written to a database; after a failure its outcome is unknown and it is dead (S2). */
import type { SegmentId, SegmentWriter } from "../contract/contract.js";
import { deadSegment, joinLines } from "../files/segment-file.js";

export interface SqlSegmentParts {
  readonly id: SegmentId;
  /** Inserts the bytes as the segment's n-th row, or fails. */
  readonly insert: (bytes: Uint8Array, n: number) => Promise<void>;
}

export class SqlSegment implements SegmentWriter {
  readonly id: SegmentId;
  readonly #parts: SqlSegmentParts;
  #tail: Promise<void> = Promise.resolve();
  #count = 0;
  #isOpen = true;

  constructor(parts: SqlSegmentParts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  /** Makes the segment and its row 0. */
  begin(make: () => Promise<void>): Promise<void> {
    return this.#inTurn(make);
  }

  async append(lines: readonly Uint8Array[]): Promise<void> {
    const bytes = joinLines(lines);
    await this.#inTurn(async () => {
      if (bytes.byteLength > 0) await this.#parts.insert(bytes, this.#count);
    });
  }

  async close(): Promise<void> {
    await this.#tail;
    this.#isOpen = false;
  }

  async #inTurn(write: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(() => this.#write(write));
    this.#tail = done.catch(() => undefined);
    await done;
  }

  async #write(write: () => Promise<void>): Promise<void> {
    if (!this.#isOpen) throw deadSegment(this.id);
    try {
      await write();
      this.#count += 1;
    } catch (error) {
      this.#isOpen = false;
      throw error;
    }
  }
}
