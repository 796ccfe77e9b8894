/**
 * The four lines of a snapshot file: how they are laid out and how strictly they are read. Needs no key.
 *
 * Owns: structure, checksum, canonical header, and the lengths that header and payload promise each other. Sealing and
 * compression are sealed-payload.ts.
 *
 * C1 rests on this: exact prefixes and suffixes, nothing after the last LF, a header that is its own canonical form,
 * base64 that re-encodes to itself, a SHA-256 over everything before it. A payload that is neither sealed nor compressed
 * stands there as JSON.
 * Source: STORAGE section 1.3.
 */
import { createHash } from "node:crypto";
import { decodeBase64 } from "../../base/digest.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { ErrorCode } from "../../base/error-table.js";
import type { JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { type CheckpointHeader, validateCheckpointHeader } from "../../schema/generated/checkpoint-header.js";
import type { SchemaDefect } from "../../schema/validator.js";
import { eachPiece, type TimeSlicer } from "./time-slicer.js";

const MAGIC = '{"format":"splashdown.checkpoint",';
const VERSION = "1.0";
const LINE_1 = Buffer.from(`${MAGIC}"version":"${VERSION}",\n`);
const HEADER_START = '"header":';
const HEADER_END = ",\n";
const PAYLOAD_START = '"payload":"';
const PAYLOAD_END = '",\n';
const SUM_START = '"sha256":"';
const SUM_END = '"}\n';
const SUM_CHARS = 64;
const LINE_4_BYTES = SUM_START.length + SUM_CHARS + SUM_END.length;
const LF = 0x0a;
/** Of the header line; the largest legal one has about 1,200 bytes. */
export const HEADER_LINE_BYTES_MAX = 4096;
/** Of the sealed payload beyond the compressed text. */
const TAG_BYTES: Readonly<Record<CheckpointHeader["suite"], number>> = { "A256GCM-HKDF-SHA512-KC1": 16, none: 0 };

/** A file whose structure and checksum hold. */
export interface ReadLayout {
  readonly header: CheckpointHeader;
  /** Bytes through the second LF: what the seal binds. */
  readonly aad: Buffer;
  readonly sealed: Buffer;
  readonly sha256: string;
}

/** Line 1 and 2 of a file: the associated data of its seal. Shape: the header's keys end up sorted. */
export function formatHead(header: CheckpointHeader): Buffer {
  const text = canonicalJson(header as unknown as JsonValue);
  return Buffer.concat([LINE_1, Buffer.from(`${HEADER_START}${text}${HEADER_END}`)]);
}

/** Puts the file together from its head and its sealed payload. */
export async function encodeLayout(
  head: Buffer,
  sealed: Buffer,
  pace: TimeSlicer,
): Promise<{ bytes: Buffer; sha256: string }> {
  if (isPlain(parseHeaderLine(head.subarray(LINE_1.length)))) return encodePlain(head, sealed, pace);
  const payloadChars = Math.ceil(sealed.length / 3) * 4;
  const bytes = Buffer.allocUnsafe(
    head.length + PAYLOAD_START.length + payloadChars + PAYLOAD_END.length + LINE_4_BYTES,
  );
  let end = head.copy(bytes);
  end += bytes.write(PAYLOAD_START, end, "latin1");
  await eachPiece(sealed, pace, (piece) => {
    end += bytes.write(asBuffer(piece).toString("base64"), end, "latin1");
  });
  end += bytes.write(PAYLOAD_END, end, "latin1");
  const sha256 = await computeSum(bytes.subarray(0, end), pace);
  bytes.write(`${SUM_START}${sha256}${SUM_END}`, end, "latin1");
  return { bytes, sha256 };
}

const PLAIN_START = '"payload":';
const PLAIN_END = ",\n";
/** Where the text of a payload has its one line feed; in a file of four lines a space stands for it. */
const STATE_LINE = '\n"state":';
const STATE_PART = ' "state":';

/** Neither sealed nor compressed: the payload is JSON within the JSON of the file, for people and their tools. */
function isPlain({ suite, codec }: CheckpointHeader): boolean {
  return suite === "none" && codec === "none";
}

/** The text outside of strings has no space, and no quote within one stands alone: the place is found again. */
async function encodePlain(head: Buffer, text: Buffer, pace: TimeSlicer): Promise<{ bytes: Buffer; sha256: string }> {
  const shown = Buffer.from(text);
  const at = shown.indexOf(STATE_LINE);
  if (at >= 0) shown.write(STATE_PART, at, "latin1");
  const body = Buffer.concat([head, Buffer.from(PLAIN_START), shown, Buffer.from(PLAIN_END)]);
  const sha256 = await computeSum(body, pace);
  return { bytes: Buffer.concat([body, Buffer.from(`${SUM_START}${sha256}${SUM_END}`)]), sha256 };
}

function decodePlain(line: Buffer): Buffer {
  const end = line.length - PLAIN_END.length;
  const hasForm =
    end > PLAIN_START.length &&
    startsWith(line, `${PLAIN_START}{`) &&
    line.subarray(end).toString("latin1") === PLAIN_END;
  if (!hasForm) throw corrupt("the payload line is not of the form of ours");
  const text = Buffer.from(line.subarray(PLAIN_START.length, end));
  const at = text.indexOf(`,${STATE_PART}`);
  if (at >= 0) text.write(STATE_LINE, at + 1, "latin1");
  return text;
}

/** Length of a file whose compressed text has this many bytes, rounded up; for limits before anything is read. */
export function computeFileBytesMax(rawBytesMax: number): number {
  return Math.ceil(rawBytesMax * 1.4) + 64 * 1024;
}

/**
 * Reads the head of a file alone: for listings, from its first bytes. Nothing is verified but the header's own form.
 *
 * Errors: as `readLayout`, but for the checksum.
 */
export function readHead(start: Uint8Array): CheckpointHeader {
  const bytes = asBuffer(start);
  requireVersion(bytes);
  const end = bytes.indexOf(LF, LINE_1.length) + 1;
  if (end === 0) throw refuse("CHECKPOINT_TRUNCATED", "the header line has no end");
  return parseHeaderLine(bytes.subarray(LINE_1.length, end));
}

/**
 * Reads a whole file: structure, checksum, header, lengths.
 *
 * Errors: FORMAT_NOT_OURS, FORMAT_VERSION, CHECKPOINT_TRUNCATED, CHECKPOINT_CORRUPT, VALUE_TOO_LARGE.
 */
export async function readLayout(file: Uint8Array, rawBytesMax: number, pace: TimeSlicer): Promise<ReadLayout> {
  const bytes = asBuffer(file);
  if (bytes.length > computeFileBytesMax(rawBytesMax))
    throw tooLarge("the file has", bytes.length, computeFileBytesMax(rawBytesMax));
  requireMagic(bytes);
  const ends = findLineEnds(bytes);
  const sha256 = await requireChecksum(bytes, ends[2], pace);
  requireVersion(bytes);
  const aad = bytes.subarray(0, ends[1]);
  const header = parseHeaderLine(bytes.subarray(ends[0], ends[1]));
  if (header.raw > rawBytesMax) throw tooLarge("the header promises", header.raw, rawBytesMax);
  const line = bytes.subarray(ends[1], ends[2]);
  const sealed = isPlain(header) ? decodePlain(line) : await decodePayload(line, pace);
  if (sealed.length !== header.size + TAG_BYTES[header.suite]) {
    throw corrupt(`the payload has ${sealed.length} bytes, the header promises ${header.size}`);
  }
  return { header, aad, sealed, sha256 };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

function refuse(code: ErrorCode, message: string): SplashdownError {
  return new SplashdownError(code, message);
}

function corrupt(message: string): SplashdownError {
  return refuse("CHECKPOINT_CORRUPT", message);
}

function tooLarge(what: string, sizeBytes: number, sizeBytesMax: number): SplashdownError {
  return new SplashdownError("VALUE_TOO_LARGE", `${what} ${sizeBytes} bytes, over the limit of ${sizeBytesMax}`, {
    details: { sizeBytes, sizeBytesMax },
  });
}

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.subarray(0, text.length).toString("latin1") === text;
}

/** A file that begins as ours does, or that ends before that could be told. */
function requireMagic(bytes: Buffer): void {
  if (startsWith(bytes, MAGIC)) return;
  if (bytes.length < MAGIC.length && MAGIC.startsWith(bytes.toString("latin1"))) {
    throw refuse("CHECKPOINT_TRUNCATED", `the file ends after ${bytes.length} bytes`);
  }
  if (endsWithSumLine(bytes)) throw corrupt("the first bytes of the file are damaged");
  throw refuse("FORMAT_NOT_OURS", "the file is not a checkpoint of ours");
}

/** Below a first line that is not ours this tells damage or a later version from another file. */
function endsWithSumLine(bytes: Buffer): boolean {
  return bytes.length > LINE_4_BYTES && isSumLine(bytes.subarray(bytes.length - LINE_4_BYTES));
}

function isSumLine(line: Buffer): boolean {
  return /^"sha256":"[0-9a-f]{64}"\}\n$/.test(line.toString("latin1"));
}

/** The version decides only where the rest of the file is whole, so that damage is not taken for a newer version. */
function requireVersion(bytes: Buffer): void {
  requireMagic(bytes);
  if (bytes.subarray(0, LINE_1.length).equals(LINE_1)) return;
  const end = bytes.indexOf(LF);
  const line = bytes.subarray(0, end < 0 ? Math.min(bytes.length, 200) : Math.min(end, 200)).toString("latin1");
  throw refuse(
    "FORMAT_VERSION",
    `this version reads checkpoints of version ${VERSION}, the file begins with ${JSON.stringify(line.slice(MAGIC.length))}`,
  );
}

/** Ends of the first three lines, one past each LF. A file with the four lines of ours ends with the fourth. */
function findLineEnds(bytes: Buffer): readonly [number, number, number] {
  const isOurFirstLine = bytes.subarray(0, LINE_1.length).equals(LINE_1.subarray(0, bytes.length));
  if (!isOurFirstLine && !endsWithSumLine(bytes)) requireVersion(bytes);
  const ends: number[] = [];
  for (let at = bytes.indexOf(LF); at >= 0 && ends.length < 5; at = bytes.indexOf(LF, at + 1)) ends.push(at + 1);
  const [first, second, third, fourth] = ends;
  if (
    first === undefined ||
    second === undefined ||
    third === undefined ||
    (fourth === undefined && bytes.length < third + LINE_4_BYTES)
  ) {
    throw lineFailure(bytes, ends.length);
  }
  if (bytes.length !== third + LINE_4_BYTES || fourth !== bytes.length)
    throw corrupt("the last line is not a checksum alone");
  return [first, second, third];
}

/** Fewer lines than four: cut off, unless the last line still stands. */
function lineFailure(bytes: Buffer, count: number): SplashdownError {
  if (endsWithSumLine(bytes)) return corrupt(`the file has ${count} lines instead of 4`);
  return refuse("CHECKPOINT_TRUNCATED", `the file ends in line ${count + 1} of 4, after ${bytes.length} bytes`);
}

async function computeSum(bytes: Uint8Array, pace: TimeSlicer): Promise<string> {
  const hash = createHash("sha256");
  await eachPiece(bytes, pace, (piece) => void hash.update(piece));
  return hash.digest("hex");
}

async function requireChecksum(bytes: Buffer, end: number, pace: TimeSlicer): Promise<string> {
  const line = bytes.subarray(end);
  if (!isSumLine(line)) throw corrupt("the checksum line is damaged");
  const stated = line.subarray(SUM_START.length, SUM_START.length + SUM_CHARS).toString("latin1");
  const computed = await computeSum(bytes.subarray(0, end), pace);
  if (stated !== computed) throw corrupt(`the file's SHA-256 is ${computed}, it states ${stated}`);
  return stated;
}

function parseHeaderLine(line: Buffer): CheckpointHeader {
  if (line.length > HEADER_LINE_BYTES_MAX) throw corrupt(`the header line has ${line.length} bytes`);
  const text = line.toString("utf8");
  if (!text.startsWith(HEADER_START) || !text.endsWith(HEADER_END))
    throw corrupt("the header line is not of the form of ours");
  const json = text.slice(HEADER_START.length, -HEADER_END.length);
  const verdict = validateCheckpointHeader(parseJson(json));
  if (!verdict.ok) throw corrupt(describeDefect("header", verdict.defects));
  if (canonicalJson(verdict.value as unknown as JsonValue) !== json)
    throw corrupt("the header is not in its canonical form");
  requireCoherent(verdict.value);
  return verdict.value;
}

/** For a message: the first place that is wrong. */
export function describeDefect(what: string, [first]: readonly SchemaDefect[]): string {
  return `the ${what} is not of its form: ${first === undefined ? "" : `${first.path} ${first.message}`.trim()}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SplashdownError("CHECKPOINT_CORRUPT", `the header is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** What the schema cannot say: which fields go together. */
function requireCoherent(header: CheckpointHeader): void {
  const isSealed = header.suite !== "none";
  if (
    isSealed !== (header.key !== undefined) ||
    isSealed !== (header.salt !== "") ||
    isSealed !== (header.commit !== "")
  ) {
    throw corrupt(`the header's suite ${header.suite} does not go with its key fields`);
  }
  if (header.codec === "none" && header.raw !== header.size)
    throw corrupt("the header's sizes differ though nothing is compressed");
  if (Number.isNaN(Date.parse(header.timestamp))) throw corrupt("the header's timestamp is not a time");
}

/** Strict base64, piece by piece. */
async function decodePayload(line: Buffer, pace: TimeSlicer): Promise<Buffer> {
  const start = PAYLOAD_START.length;
  const end = line.length - PAYLOAD_END.length;
  const hasForm =
    end >= start && startsWith(line, PAYLOAD_START) && line.subarray(end).toString("latin1") === PAYLOAD_END;
  if (!hasForm || (end - start) % 4 !== 0) throw corrupt("the payload line is not of the form of ours");
  const sealed = Buffer.allocUnsafe(((end - start) / 4) * 3);
  let length = 0;
  await eachPiece(line.subarray(start, end), pace, (piece, offset) => {
    const bytes = decodeBase64(asBuffer(piece).toString("latin1"));
    const isLast = offset + piece.length === end - start;
    if (bytes === undefined || (!isLast && bytes.length !== (piece.length / 4) * 3))
      throw corrupt("the payload is not strict base64");
    length += bytes.copy(sealed, length);
  });
  return sealed.subarray(0, length);
}
