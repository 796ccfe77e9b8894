/** Where the latest records of one writer stand: a ring, so that its size does not grow with the task. */
import type { SegmentId } from "../store/contract/contract.js";
import type { JournalPosition } from "./position.js";

/** Enough for every record between a capture and the end of its snapshot; 4.5 MB at most. */
const RECORDS_KEPT = 65_536;

export class PositionMemory {
  readonly #hashes: string[] = [];
  readonly #places = new Map<number, { readonly epoch: number; readonly index: number }>();
  #last = 0;

  /** Numbers must grow by one. */
  remember(n: number, id: SegmentId, h: string): void {
    this.#hashes[n % RECORDS_KEPT] = h;
    const previous = this.#placeOf(this.#last);
    if (previous === undefined || previous.index !== id.index || previous.epoch !== id.epoch) this.#places.set(n, id);
    this.#last = n;
  }

  find(n: number): JournalPosition | undefined {
    const h = this.#hashes[n % RECORDS_KEPT];
    const place = this.#placeOf(n);
    if (n > this.#last || n <= this.#last - RECORDS_KEPT || h === undefined || place === undefined) return undefined;
    return { n, epoch: place.epoch, index: place.index, h };
  }

  /** The segment whose first remembered record is at or below `n`. */
  #placeOf(n: number): SegmentId | undefined {
    let found: SegmentId | undefined;
    for (const [first, id] of this.#places) {
      if (first > n) break;
      found = id;
    }
    return found;
  }
}
