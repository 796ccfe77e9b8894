/**
 * One record as one line of JSON, and the chain of hashes through the lines of a segment.
 *
 * `{"n":1,"k":"intent","d":"<base64>","h":"<43 chars>"}`: number, kind in the clear, sealed body, chain hash. The number of
 * a record that is there once more (J13) is called `r`: such a line says nothing of what came after the header's write.
 * J1: H0 = SHA-256(header line before `,"h"`); Hn = SHA-256(Hn-1 ‖ line n before `,"h"`); each line states all 32 bytes.
 * J2: the seal of a record binds the *stated* hash of the line before it, its number and its kind, so one damaged record
 *     costs one record, and none can be moved, dropped or doubled even when every hash is repaired.
 * Source: STORAGE section 1.4.
 */
import { hash } from "node:crypto";
import { decodeBase64, encodeBase64Url, sha256 } from "../base/digest.js";

export const HASH_BYTES = 32;
const HASH_CHARS = 43;
const HASH_FIELD_START = ',"h":"';
/** `,"h":"` + hash + `"}`; the hash covers the line up to here. */
export const HASH_FIELD_BYTES = HASH_FIELD_START.length + HASH_CHARS + 2;
const QUOTE = 0x22;
/** Longest number and kind with their field names. */
const START_BYTES_MAX = 96;
const START = /^\{"[nr]":([1-9][0-9]{0,15}),"k":"([a-z_]{1,32})","d":"/;
/** The last character carries two spare bits, which are zero in the canonical form. */
const HASH_FIELD = /^,"h":"([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])"\}$/;

/** Where the parts of one line lie in its segment's bytes. Nothing is verified yet but the form. */
export interface RecordPlace {
  readonly n: number;
  readonly kind: string;
  readonly start: number;
  /** The sealed base64 text. */
  readonly dataStart: number;
  readonly dataEnd: number;
  /** End of what the hash covers. */
  readonly hashedEnd: number;
  readonly end: number;
}

export interface RecordLine extends RecordPlace {
  /** Absent when its own field is damaged: the rest of the line may still be right. */
  readonly stated: Buffer | undefined;
}

/** Builds a record's line. Shape: the answer's `h` is the next line's prior hash, as text: one is kept per record. */
export function encodeRecordLine(
  prior: Uint8Array,
  record: { n: number; kind: string; sealed: Buffer; isRepeated?: boolean },
): { line: Buffer; h: string } {
  const hashed = `{"${record.isRepeated === true ? "r" : "n"}":${record.n},"k":"${record.kind}","d":"${record.sealed.toString("base64")}"`;
  const hashedEnd = HASH_BYTES + hashed.length;
  const bytes = Buffer.allocUnsafe(hashedEnd + HASH_FIELD_BYTES);
  bytes.set(prior, 0);
  bytes.write(hashed, HASH_BYTES, "latin1");
  const h = hash("sha256", bytes.subarray(0, hashedEnd), "base64url");
  bytes.write(encodeHashField(h), hashedEnd, "latin1");
  return { line: bytes.subarray(HASH_BYTES), h };
}

/** The end of a line, with its hash as base64url text. */
export function encodeHashField(hashText: string): string {
  return `${HASH_FIELD_START}${hashText}"}`;
}

/** Finds the parts of the line at `start` (its newline at `end`, not included); `undefined` when it has not the form. */
export function parseRecordLine(bytes: Buffer, start: number, end: number): RecordLine | undefined {
  const place = locateRecord(bytes, start, end);
  return place === undefined ? undefined : { ...place, stated: parseHashField(bytes, place.hashedEnd, end) };
}

/** As `parseRecordLine`, without a look at the hash that it states. */
export function locateRecord(bytes: Buffer, start: number, end: number): RecordPlace | undefined {
  const head = START.exec(bytes.toString("latin1", start, Math.min(end, start + START_BYTES_MAX)));
  const hashedEnd = end - HASH_FIELD_BYTES;
  if (head === null || hashedEnd <= start) return undefined;
  const n = Number(head[1]);
  const dataStart = start + head[0].length;
  const dataEnd = hashedEnd - 1;
  // A quote before the end: two lines whose newline was damaged.
  if (!Number.isSafeInteger(n) || dataEnd < dataStart || bytes.indexOf(QUOTE, dataStart) !== dataEnd) return undefined;
  return { n, kind: String(head[2]), start, dataStart, dataEnd, hashedEnd, end };
}

/** The hash stated by `,"h":"…"}` at the end of a line; `undefined` when it has not the form. */
export function parseHashField(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const match = HASH_FIELD.exec(bytes.toString("latin1", start, end));
  if (match === null) return undefined;
  return Buffer.from(String(match[1]), "base64url");
}

/** The hash that a line states which is known to be whole. */
export function hashAt(bytes: Buffer, end: number): Buffer {
  return Buffer.from(hashTextAt(bytes, end), "base64url");
}

/** As `hashAt`, as the text that stands there. */
export function hashTextAt(bytes: Buffer, end: number): string {
  const start = end - HASH_FIELD_BYTES + HASH_FIELD_START.length;
  return bytes.toString("latin1", start, start + HASH_CHARS);
}

/** Where the hash before and most lines are put together: one call that hashes is a third of three. */
const scratch = Buffer.allocUnsafeSlow(4096);

/** The hash of a line, given the hash before it. */
export function hashLine(bytes: Buffer, line: RecordPlace, prior: Uint8Array): Buffer {
  const length = HASH_BYTES + line.hashedEnd - line.start;
  if (length > scratch.length) return sha256(prior, bytes.subarray(line.start, line.hashedEnd));
  scratch.set(prior, 0);
  bytes.copy(scratch, HASH_BYTES, line.start, line.hashedEnd);
  return hash("sha256", scratch.subarray(0, length), "buffer");
}

/** As `hashLine`, from text to text: what is only compared needs no bytes of its own. */
export function hashLineText(bytes: Buffer, line: RecordPlace, prior: string): string {
  const length = HASH_BYTES + line.hashedEnd - line.start;
  if (length > scratch.length) return encodeBase64Url(hashLine(bytes, line, Buffer.from(prior, "base64url")));
  scratch.write(prior, 0, "base64url");
  bytes.copy(scratch, HASH_BYTES, line.start, line.hashedEnd);
  return hash("sha256", scratch.subarray(0, length), "base64url");
}

/** The sealed bytes of a line; `undefined` when its text is not canonical base64. */
export function sealedBytesOf(bytes: Buffer, line: RecordPlace): Buffer | undefined {
  return decodeBase64(bytes.toString("latin1", line.dataStart, line.dataEnd));
}

/** What the seal of a record binds beside its content: stated prior hash ‖ uint64 number ‖ kind (J2). */
export function computeAad(prior: Uint8Array, n: number, kind: string): Buffer {
  const aad = Buffer.allocUnsafe(HASH_BYTES + 8 + kind.length);
  aad.set(prior, 0);
  aad.writeUInt32BE(Math.floor(n / 2 ** 32), HASH_BYTES);
  aad.writeUInt32BE(n >>> 0, HASH_BYTES + 4);
  aad.write(kind, HASH_BYTES + 8, "latin1");
  return aad;
}
