/**
 * A line that fits the chain, kept as the places of its parts: a journal may have a million of them.
 *
 * Owns: the quick way through what is whole, which is almost everything. Whatever does not fit is segment-scan's.
 */
import { encodeHashField, HASH_FIELD_BYTES, hashAt, hashLineText, locateRecord } from "./record-line.js";
import type { ScannedLine } from "./scanned-line.js";

/** Where a line lies, from its first byte to its newline, and its number in the file. */
export interface LinePlace {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** End of the line before it, whose stated hash is the prior one. */
  readonly priorEnd: number;
}

class IntactLine implements ScannedLine {
  readonly n: number;
  readonly kind: string;
  readonly dataStart: number;
  readonly #bytes: Buffer;
  readonly #place: LinePlace;

  constructor(bytes: Buffer, place: LinePlace, head: { readonly n: number; readonly kind: string; dataStart: number }) {
    this.n = head.n;
    this.kind = head.kind;
    this.dataStart = head.dataStart;
    this.#bytes = bytes;
    this.#place = place;
  }

  get line(): number {
    return this.#place.line;
  }

  get start(): number {
    return this.#place.start;
  }

  get end(): number {
    return this.#place.end;
  }

  get hashedEnd(): number {
    return this.#place.end - HASH_FIELD_BYTES;
  }

  get dataEnd(): number {
    return this.hashedEnd - 1;
  }

  get stated(): Buffer {
    return hashAt(this.#bytes, this.#place.end);
  }

  get hashes(): readonly Buffer[] {
    return [this.stated];
  }

  get prior(): Buffer {
    return hashAt(this.#bytes, this.#place.priorEnd);
  }

  get priors(): readonly Buffer[] {
    return [this.prior];
  }
}

/** The line, and its hash as text, when it has the form of a record and fits the hash before it. */
export function readIntactLine(
  bytes: Buffer,
  place: LinePlace,
  prior: string,
): { readonly line: ScannedLine; readonly hash: string } | undefined {
  const head = locateRecord(bytes, place.start, place.end);
  if (head === undefined) return undefined;
  const hash = hashLineText(bytes, head, prior);
  if (bytes.toString("latin1", head.hashedEnd, place.end) !== encodeHashField(hash)) return undefined;
  return { line: new IntactLine(bytes, place, head), hash };
}
