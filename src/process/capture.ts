/** Bounded takers of what a child writes: a head with a cap, a tail, and lines. */
import { LIMITS } from "../base/limits.js";

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
    return this.#kept.toString("utf8", start);
  }
}

const NEWLINE = 0x0a;
const CUT_LINE_BYTES = 200;

/**
 * Splits bytes into lines of text, without their end.
 *
 * Shape: a line over the limit is handed over as its first bytes and `…`, which is never valid JSON, and told as cut; the
 * rest of it is dropped, so memory stays bounded. A last line without an end is handed over by `end`. Empty lines are left out.
 */
export class LineSplitter {
  #parts: Buffer[] = [];
  #sizeBytes = 0;

  constructor(
    private readonly receive: (line: string, isCut: boolean) => void,
    private readonly lineBytesMax: number = LIMITS.protocolLineBytesMax,
  ) {}

  take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.end();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  end(): void {
    const isTooLong = this.#sizeBytes > this.lineBytesMax;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#sizeBytes = 0;
    if (isTooLong) this.receive(`${bytes.toString("utf8", 0, CUT_LINE_BYTES)}…`, true);
    else if (bytes.length > 0) this.receive(bytes.toString("utf8"), false);
  }

  #keep(piece: Buffer): void {
    if (this.#sizeBytes <= this.lineBytesMax && piece.length > 0) this.#parts.push(Buffer.from(piece));
    this.#sizeBytes += piece.length;
  }
}
