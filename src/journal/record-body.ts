/**
 * The plain text of a record before it is sealed: one byte of flags, then the event's JSON, deflated from a size on.
 *
 * Flags: bit 0 = uint32 length and raw deflate follow, else the JSON itself; bit 1 = first record of a batch, so
 * everything before it in its segment was durable when it was written. The second bit tells damage from a torn tail
 * where the bytes cannot: a hole before such a record was once acknowledged.
 * Units: lengths in bytes of UTF-8. Source: STORAGE section 1.4.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { SplashdownError } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";

const DEFLATED = 1;
const BATCH_START = 2;
const FLAGS_ALL = DEFLATED | BATCH_START;
/** Below this deflate costs more than it saves: 25 µs of every step, and 10 when it is read, for half a kilobyte. */
const DEFLATE_BYTES_MIN = 1024;
const LENGTH_BYTES = 4;
/** A window of this size sees all of a small text and is made in a third less time. */
const SMALL_BYTES_MAX = 4096;
const SMALL_DEFLATE = { level: 1, windowBits: 12, memLevel: 5 };
/** The least zlib takes. */
const CHUNK_BYTES_MIN = 64;

export interface RecordBody {
  readonly json: string;
  readonly isBatchStart: boolean;
}

/**
 * Encodes an event's JSON text.
 *
 * Shape: a fresh buffer whose first byte `markBatchStart` may still set.
 * Errors: VALUE_TOO_LARGE over LIMITS.recordBytesMax.
 */
export function encodeBody(json: string): Buffer {
  const sizeBytes = Buffer.byteLength(json);
  // A line is base64 of this, a third more, and must stay under the store's limit.
  if (sizeBytes > (LIMITS.recordBytesMax / 4) * 3 - 1024) {
    throw new SplashdownError("VALUE_TOO_LARGE", `an event of ${sizeBytes} bytes is over the limit of one record`, {
      details: { sizeBytes, sizeBytesMax: LIMITS.recordBytesMax },
    });
  }
  const raw = Buffer.allocUnsafe(1 + sizeBytes);
  raw[0] = 0;
  raw.write(json, 1);
  if (sizeBytes < DEFLATE_BYTES_MIN) return raw;
  const packed = deflateRawSync(raw.subarray(1), sizeBytes <= SMALL_BYTES_MAX ? SMALL_DEFLATE : { level: 1 });
  const body = Buffer.allocUnsafe(1 + LENGTH_BYTES + packed.length);
  body[0] = DEFLATED;
  body.writeUInt32BE(sizeBytes, 1);
  packed.copy(body, 1 + LENGTH_BYTES);
  return body;
}

/** Says on an encoded body that all before it in its segment is durable, or takes that back. */
export function markBatchStart(body: Buffer, isBatchStart: boolean): void {
  const rest = body.readUInt8(0) & ~BATCH_START;
  body.writeUInt8(isBatchStart ? rest | BATCH_START : rest, 0);
}

/**
 * Reverses `encodeBody`; `undefined` when the bytes are no body. Only for bytes whose seal fitted.
 */
export function decodeBody(body: Buffer): RecordBody | undefined {
  const flags = body[0];
  if (flags === undefined || flags > FLAGS_ALL) return undefined;
  const plain = (flags & DEFLATED) === 0 ? body.subarray(1) : inflate(body);
  if (plain === undefined) return undefined;
  return { json: plain.toString("utf8"), isBatchStart: (flags & BATCH_START) !== 0 };
}

function inflate(body: Buffer): Buffer | undefined {
  if (body.length < 1 + LENGTH_BYTES) return undefined;
  const sizeBytes = body.readUInt32BE(1);
  if (sizeBytes === 0 || sizeBytes > LIMITS.recordBytesMax) return undefined;
  try {
    const plain = inflateRawSync(body.subarray(1 + LENGTH_BYTES), {
      maxOutputLength: sizeBytes,
      chunkSize: Math.max(CHUNK_BYTES_MIN, sizeBytes),
    });
    return plain.length === sizeBytes ? plain : undefined;
  } catch {
    return undefined;
  }
}
