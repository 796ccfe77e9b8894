/**
 * The bytes of a blob file: a header line and sealed chunks, each of which can be read by itself.
 *
 * `{"format":"splashdown.blob","version":"1.0","header":{…canonical…},"sha256":"…"}` LF, then chunks of
 * LIMITS.blobChunkBytes plain each (the last one shorter), each sealed as the part of its number with the header line as
 * associated data. The header binds task, name and length, so chunks cannot be swapped, dropped or put into another file.
 * Where encryption is off the tag is the first 16 bytes of SHA-256 over header line, number and chunk.
 * Source: STORAGE sections 1.2, 1.3.
 */
import { sha256, sha256Hex } from "../../base/digest.js";
import { SplashdownError } from "../../base/errors.js";
import type { KeyId } from "../../base/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import { LIMITS } from "../../base/limits.js";
import type { FileOpener, FileSealer, SealHeader } from "../../vault/contract.js";

export interface BlobHeader {
  readonly taskId: string;
  /** The file's name without folder and ending. */
  readonly name: string;
  /** Length of the plain text. */
  readonly rawBytes: number;
  readonly seal: SealHeader;
}

const VERSION = "1.0";
const FORMAT = '{"format":"splashdown.blob","version":"';
const PREFIX = `${FORMAT}${VERSION}","header":`;
const TAG_BYTES = 16;
const PLAIN_SUITE = "none";
/** Of a header line; the first read of a blob takes this much. */
export const BLOB_HEADER_BYTES_MAX = 1024;
const SUM_PART = /^,"sha256":"([0-9a-f]{64})"\}\n$/;

/** The header line, LF included: the associated data of every chunk. */
export function formatBlobHeader(header: BlobHeader): Buffer {
  const { seal } = header;
  const fields: JsonObject = {
    chunk: LIMITS.blobChunkBytes,
    commit: seal.commit,
    key: seal.key,
    name: header.name,
    raw: header.rawBytes,
    salt: seal.salt,
    suite: seal.suite,
    workflow_id: header.taskId,
  };
  const text = `${PREFIX}${canonicalJson(fields)}`;
  return Buffer.from(`${text},"sha256":"${sha256Hex(text)}"}\n`);
}

/**
 * Reads the header line at the start of a blob file.
 *
 * Errors: BLOB_CORRUPT; FORMAT_VERSION for a whole header of another version.
 */
export function parseBlobHeader(start: Uint8Array): { readonly header: BlobHeader; readonly line: Buffer } {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.length);
  const end = bytes.indexOf(0x0a) + 1;
  if (end === 0 || end > BLOB_HEADER_BYTES_MAX) throw corrupt("its header line has no end");
  const line = bytes.subarray(0, end);
  const text = line.toString("utf8");
  const sumAt = text.lastIndexOf(',"sha256":"');
  const stated = SUM_PART.exec(text.slice(Math.max(0, sumAt)))?.[1];
  if (!text.startsWith(FORMAT) || stated === undefined || sha256Hex(text.slice(0, sumAt)) !== stated)
    throw corrupt("its header line is damaged");
  if (!text.startsWith(PREFIX)) throw otherVersion(text);
  const header = parseFields(text.slice(PREFIX.length, sumAt));
  if (!formatBlobHeader(header).equals(line)) throw corrupt("its header is not in its canonical form");
  return { header, line };
}

function parseFields(json: string): BlobHeader {
  const fields = parseObject(json);
  const { commit, key, name, raw, salt, suite, workflow_id: taskId } = fields;
  const areTexts = [commit, name, salt, suite, taskId].every((field) => typeof field === "string");
  if (
    !areTexts ||
    typeof raw !== "number" ||
    !Number.isSafeInteger(raw) ||
    raw < 0 ||
    !["string", "undefined"].includes(typeof key)
  ) {
    throw corrupt("its header has a field of the wrong type");
  }
  const seal = { suite: suite as string, salt: salt as string, commit: commit as string };
  return {
    taskId: taskId as string,
    name: name as string,
    rawBytes: raw,
    seal: key === undefined ? seal : { ...seal, key: key as KeyId },
  };
}

function parseObject(json: string): JsonObject {
  try {
    const value = JSON.parse(json) as JsonValue;
    if (isJsonObject(value)) return value;
  } catch {
    // Told below: a header whose checksum fits but which is not JSON was never ours.
  }
  throw corrupt("its header is not a JSON object");
}

export function countChunks(rawBytes: number): number {
  return Math.ceil(rawBytes / LIMITS.blobChunkBytes);
}

/** Length of the whole file. */
export function computeBlobFileBytes(lineBytes: number, rawBytes: number): number {
  return lineBytes + rawBytes + countChunks(rawBytes) * TAG_BYTES;
}

/** Where a chunk lies in the file, tag included. */
export function computeChunkPlace(
  lineBytes: number,
  rawBytes: number,
  chunk: number,
): { readonly offset: number; readonly length: number } {
  const plainBytes = Math.min(LIMITS.blobChunkBytes, rawBytes - chunk * LIMITS.blobChunkBytes);
  return { offset: lineBytes + chunk * (LIMITS.blobChunkBytes + TAG_BYTES), length: plainBytes + TAG_BYTES };
}

/** Seals one chunk. Shape: always the chunk's length and 16 bytes. */
export function sealChunk(
  sealer: FileSealer,
  line: Buffer,
  part: { readonly chunk: number; readonly plain: Uint8Array },
): Buffer {
  const sealed = sealer.seal(part.chunk, line, part.plain);
  return sealer.header.suite === PLAIN_SUITE
    ? Buffer.concat([sealed, computePlainTag(line, part.chunk, sealed)])
    : sealed;
}

/**
 * Opens one chunk.
 *
 * Errors: BLOB_CORRUPT.
 */
export function openChunk(
  opener: FileOpener,
  file: { readonly header: BlobHeader; readonly line: Buffer },
  part: { readonly chunk: number; readonly sealed: Uint8Array },
): Buffer {
  if (file.header.seal.suite !== PLAIN_SUITE) return opener.open(part.chunk, file.line, part.sealed);
  const plain = part.sealed.subarray(0, part.sealed.length - TAG_BYTES);
  if (!computePlainTag(file.line, part.chunk, plain).equals(part.sealed.subarray(plain.length)))
    throw corrupt(`chunk ${part.chunk} is damaged`);
  return opener.open(part.chunk, file.line, plain);
}

function computePlainTag(line: Buffer, chunk: number, plain: Uint8Array): Buffer {
  return sha256(line, String(chunk), "\0", plain).subarray(0, TAG_BYTES);
}

function otherVersion(text: string): SplashdownError {
  const version = /^[^"]*/.exec(text.slice(FORMAT.length))?.[0] ?? "";
  return new SplashdownError(
    "FORMAT_VERSION",
    `the file of a large value has version ${version}, this program reads ${VERSION}`,
  );
}

function corrupt(what: string): SplashdownError {
  return new SplashdownError("BLOB_CORRUPT", `a large value's file cannot be read: ${what}`);
}
