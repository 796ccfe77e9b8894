/** Lines out of a stream of bytes, with a bound on each. */
import { LIMITS } from "./limits.js";
import { readUtf8 } from "./utf8-text.js";

const NEWLINE = 0x0a;
const CUT_LINE_BYTES = 200;

/**
 * Splits bytes into lines of text, without their end.
 *
 * Shape: a line over the limit is handed over as its first bytes and `…`, which is never valid JSON, and told as cut; the
 * rest of it is dropped, so memory stays bounded. A last line without an end is handed over by `end`. Empty lines are left out.
 * A line that is not UTF-8 is told with what is wrong with it.
 */
export class LineSplitter {
  #parts: Buffer[] = [];
  #sizeBytes = 0;

  constructor(
    private readonly receive: (line: string, isCut: boolean, problem?: string) => void,
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
    else if (bytes.length > 0) this.#hand(bytes);
  }

  #hand(bytes: Buffer): void {
    const read = readUtf8(bytes);
    if ("text" in read) this.receive(read.text, false);
    else this.receive(bytes.toString("utf8"), false, read.problem);
  }

  #keep(piece: Buffer): void {
    if (this.#sizeBytes <= this.lineBytesMax && piece.length > 0) this.#parts.push(Buffer.from(piece));
    this.#sizeBytes += piece.length;
  }
}
