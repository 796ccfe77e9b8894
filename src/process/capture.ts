/** Bounded takers of what a child writes: a head with a cap, and a tail. Lines: base/line-splitter.ts. */
import { showUtf8 } from "../base/utf8-text.js";

/** Keeps the first bytes up to a cap and says when more came. */
export class CappedHead {
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #overflowed = false;

  constructor(private readonly sizeBytesMax: number) {}

  /** Shape: true once, with the chunk that goes over the cap. */
  take(chunk: Buffer): boolean {
    if (this.#overflowed) return false;
    const room = this.sizeBytesMax - this.#sizeBytes;
    this.#chunks.push(chunk.length > room ? Buffer.from(chunk.subarray(0, room)) : chunk);
    this.#sizeBytes += Math.min(chunk.length, room);
    this.#overflowed = chunk.length > room;
    return this.#overflowed;
  }

  get overflowed(): boolean {
    return this.#overflowed;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks, this.#sizeBytes);
  }
}

/** Keeps the last bytes. */
export class Tail {
  #kept = Buffer.alloc(0);
  #wasCut = false;

  constructor(private readonly sizeBytesMax: number) {}

  take(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk]);
    const surplus = Math.max(0, all.length - this.sizeBytesMax);
    this.#wasCut ||= surplus > 0;
    this.#kept = Buffer.from(all.subarray(surplus));
  }

  /** The tail as text, begun at a whole character. */
  text(): string {
    let start = 0;
    while (this.#wasCut && start < 3 && ((this.#kept[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return showUtf8(this.#kept.subarray(start));
  }
}
