/**
 * Large values of a task: sealed files named by a keyed digest of their content, so that equal values are stored once.
 *
 * Owns: names, reading by range, what to do with a damaged file that is in the way. The bytes are blob-layout.ts.
 *
 * C7: a blob is durable before its reference is given out. C8: a reference names its file, and the file binds its own
 * name and length: no other content is ever given for it.
 * Source: DESIGN section 7 (large values), STORAGE section 1.2.
 */
import { createHash } from "node:crypto";
import { encodeBase64Url } from "../../base/digest.js";
import { isErrorCode, messageOf, SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { encodeJsonPieces } from "../../base/json-pieces.js";
import { LIMITS } from "../../base/limits.js";
import type { BlobRef } from "../../engine/model/value-ref.js";
import type { BlobShelf } from "../../engine/model/ports.js";
import type { ByteRange, TaskStore } from "../../store/contract/contract.js";
import type { TaskVault } from "../../vault/contract.js";
import {
  BLOB_HEADER_BYTES_MAX,
  type BlobHeader,
  computeBlobFileBytes,
  computeChunkPlace,
  countChunks,
  formatBlobHeader,
  openChunk,
  parseBlobHeader,
  sealChunk,
} from "./blob-layout.js";
import { type YieldToLoop, createTimeSlicer, type TimeSlicer, WITHOUT_PAUSES } from "../format/time-slicer.js";
import type { Clock } from "../../base/clock.js";

const FOLDER = "blobs/";
/** Of a blob that is only looked through. */
const PROOF_BYTES = 64 * LIMITS.blobChunkBytes;
const KEY = /^blobs\/([a-z2-7]{2})\/(\1[a-z2-7]{50})\.bin$/;

export interface BlobShelfOptions {
  readonly store: TaskStore;
  readonly vault: TaskVault;
  /** Lets others work between two slices; absent: never. */
  readonly pacing?: { readonly clock: Clock; readonly breathe: YieldToLoop };
}

/** A shelf that can also give parts of a value's text. */
export interface RangedBlobShelf extends BlobShelf {
  /** Bytes of the JSON text. Shape: shorter where the text ends. Errors: BLOB_CORRUPT. */
  readRange(ref: BlobRef, range: ByteRange): Promise<Buffer>;
  /** Unseals the whole of a file without a reference to it. Errors: BLOB_CORRUPT, TASK_SWAPPED, the KEY_* codes. */
  prove(key: string): Promise<void>;
  /** Looks at its beginning and its end only: there, under its own name, of its whole length. Errors: BLOB_CORRUPT. */
  probe(key: string): Promise<void>;
}

/** The shelf of one task over its store and vault. */
export function createBlobShelf(options: BlobShelfOptions): RangedBlobShelf {
  return new SealedBlobShelf(options);
}

interface OpenBlob {
  readonly ref: BlobRef;
  readonly header: BlobHeader;
  readonly line: Buffer;
}

class SealedBlobShelf implements RangedBlobShelf {
  readonly #store: TaskStore;
  readonly #vault: TaskVault;
  readonly #pacing: BlobShelfOptions["pacing"];
  /** Keys known to be whole: written or read by this process. */
  readonly #whole = new Set<string>();

  constructor(options: BlobShelfOptions) {
    this.#store = options.store;
    this.#vault = options.vault;
    this.#pacing = options.pacing;
  }

  async put(value: JsonValue): Promise<BlobRef> {
    const pace = this.#createSlicer();
    const { text, sha256 } = await encodeText(value, pace);
    const digest = this.#vault.keyedDigest("blob", sha256);
    const name = encodeBase32(digest);
    const ref: BlobRef = {
      key: `${FOLDER}${name.slice(0, 2)}/${name}.bin`,
      sizeBytes: text.length,
      digest: encodeBase64Url(digest),
    };
    if (this.#whole.has(ref.key)) return ref;
    const file = await this.#encode(name, text, pace);
    if ((await this.#store.putOnce(ref.key, file)) === "exists") await this.#requireWhole(ref, file);
    this.#whole.add(ref.key);
    return ref;
  }

  async get(ref: BlobRef): Promise<JsonValue> {
    const text = await this.readRange(ref, { offset: 0, length: ref.sizeBytes });
    this.#whole.add(ref.key);
    try {
      return JSON.parse(text.toString("utf8")) as JsonValue;
    } catch (error) {
      throw corrupt(ref, `its text is not JSON: ${messageOf(error)}`);
    }
  }

  async readRange(ref: BlobRef, range: ByteRange): Promise<Buffer> {
    const blob = await this.#open(ref);
    const end = Math.min(range.offset + range.length, ref.sizeBytes);
    if (range.offset >= end) return Buffer.alloc(0);
    const first = Math.floor(range.offset / LIMITS.blobChunkBytes);
    const last = Math.floor((end - 1) / LIMITS.blobChunkBytes);
    const skip = first * LIMITS.blobChunkBytes;
    return (await this.#readChunks(blob, first, last)).subarray(range.offset - skip, end - skip);
  }

  async prove(key: string): Promise<void> {
    const start = await this.#store.get(key, { offset: 0, length: BLOB_HEADER_BYTES_MAX });
    if (start === undefined) throw corrupt({ key }, "it is missing");
    const { rawBytes } = parseBlobHeader(start).header;
    const ref: BlobRef = { key, sizeBytes: rawBytes, digest: "" };
    for (let offset = 0; offset < rawBytes; offset += PROOF_BYTES)
      await this.readRange(ref, { offset, length: PROOF_BYTES });
  }

  async probe(key: string): Promise<void> {
    const start = await this.#store.get(key, { offset: 0, length: BLOB_HEADER_BYTES_MAX });
    if (start === undefined) throw corrupt({ key }, "it is missing");
    const { rawBytes } = parseBlobHeader(start).header;
    await this.readRange({ key, sizeBytes: rawBytes, digest: "" }, { offset: Math.max(0, rawBytes - 1), length: 1 });
  }

  async #readChunks(blob: OpenBlob, first: number, last: number): Promise<Buffer> {
    const { ref, header, line } = blob;
    const opener = this.#vault.createOpener("blob", header.seal);
    const start = computeChunkPlace(line.length, ref.sizeBytes, first).offset;
    const final = computeChunkPlace(line.length, ref.sizeBytes, last);
    const length = final.offset + final.length - start;
    // One byte more than there may be shows what was put after the end.
    const extra = last === countChunks(ref.sizeBytes) - 1 ? 1 : 0;
    const bytes = await this.#store.get(ref.key, { offset: start, length: length + extra });
    if (bytes?.length !== length) throw corrupt(ref, "its length is not what its header says");
    const plains: Buffer[] = [];
    for (let chunk = first; chunk <= last; chunk += 1) {
      const place = computeChunkPlace(line.length, ref.sizeBytes, chunk);
      const sealed = bytes.subarray(place.offset - start, place.offset - start + place.length);
      plains.push(openChunk(opener, blob, { chunk, sealed }));
    }
    return Buffer.concat(plains);
  }

  #createSlicer(): TimeSlicer {
    return this.#pacing === undefined ? WITHOUT_PAUSES : createTimeSlicer(this.#pacing.clock, this.#pacing.breathe);
  }

  async #encode(name: string, text: Buffer, pace: TimeSlicer): Promise<Buffer> {
    const sealer = this.#vault.createSealer("blob");
    const line = formatBlobHeader({ taskId: this.#vault.taskId, name, rawBytes: text.length, seal: sealer.header });
    const file = Buffer.allocUnsafe(computeBlobFileBytes(line.length, text.length));
    let length = line.copy(file);
    for (let chunk = 0; chunk < countChunks(text.length); chunk += 1) {
      const plain = text.subarray(chunk * LIMITS.blobChunkBytes, (chunk + 1) * LIMITS.blobChunkBytes);
      length += sealChunk(sealer, line, { chunk, plain }).copy(file, length);
      if (pace.isDue) await pace.rest();
    }
    return file;
  }

  async #open(ref: BlobRef): Promise<OpenBlob> {
    const name = KEY.exec(ref.key)?.[2];
    if (name === undefined) throw corrupt(ref, "its name is not one of ours");
    const start = await this.#store.get(ref.key, { offset: 0, length: BLOB_HEADER_BYTES_MAX });
    if (start === undefined) throw corrupt(ref, "it is missing");
    const { header, line } = parseBlobHeader(start);
    if (header.taskId !== this.#vault.taskId) {
      throw new SplashdownError("TASK_SWAPPED", `the file of a large value belongs to task ${header.taskId}`, {
        details: { file: ref.key },
      });
    }
    if (header.name !== name || header.rawBytes !== ref.sizeBytes) throw corrupt(ref, "it holds another value");
    return { ref, header, line };
  }

  /** A file of that name is there already: it must hold the value, else it is set aside and written anew. */
  async #requireWhole(ref: BlobRef, file: Buffer): Promise<void> {
    try {
      await this.readRange(ref, { offset: 0, length: ref.sizeBytes });
      return;
    } catch (error) {
      if (!isErrorCode(error, "BLOB_CORRUPT")) throw error;
    }
    const damaged = await this.#store.get(ref.key);
    if (damaged !== undefined)
      await this.#store.putOnce(`quarantine/${ref.key.slice(ref.key.lastIndexOf("/") + 1)}`, damaged);
    await this.#store.remove(ref.key);
    await this.#store.putOnce(ref.key, file);
  }
}

/** The value as JSON text with the hash of its bytes. */
async function encodeText(
  value: JsonValue,
  pace: TimeSlicer,
): Promise<{ readonly text: Buffer; readonly sha256: Buffer }> {
  const hash = createHash("sha256");
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for (const piece of encodeJsonPieces(value)) {
    const bytes = Buffer.from(piece, "utf8");
    hash.update(bytes);
    pieces.push(bytes);
    sizeBytes += bytes.length;
    if (pace.isDue) await pace.rest();
  }
  const text = Buffer.allocUnsafe(sizeBytes);
  let length = 0;
  for (const bytes of pieces) {
    length += bytes.copy(text, length);
    if (pace.isDue) await pace.rest();
  }
  return { text, sha256: hash.digest() };
}

function corrupt(ref: Pick<BlobRef, "key">, what: string): SplashdownError {
  return new SplashdownError("BLOB_CORRUPT", `the large value ${ref.key} cannot be read: ${what}`, {
    details: { file: ref.key },
  });
}

/** Lower-case base32 without padding, of 32 bytes: 52 characters. Source: RFC 4648 section 6. */
function encodeBase32(bytes: Uint8Array): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((held >>> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return text + alphabet.charAt((held << (5 - bits)) & 31);
}
