/** Events that are not durable yet, numbered, with their plain bodies: what a new segment must repeat after a failure. */
import { encodeEvent } from "../engine/model/event-codec.js";
import type { EngineEvent } from "../engine/model/events.js";
import { encodeBody, markBatchStart } from "./record-body.js";
import { computeAad, encodeRecordLine } from "./record-line.js";
import { LIMITS } from "../base/limits.js";
import type { FileSealer } from "../vault/contract.js";

export interface QueuedRecord {
  readonly n: number;
  readonly kind: string;
  readonly body: Buffer;
}

/** A segment's running chain: where the next record goes and what stands before it. */
export interface SealingState {
  readonly sealer: FileSealer;
  /** Records sealed so far: the next one's part number (V2). */
  part: number;
  /** Chain hash of the line before: 32 bytes, unpadded base64url. */
  h: string;
}

export interface SealedBatch {
  readonly lines: readonly Buffer[];
  /** Chain hash of each line. */
  readonly hashes: readonly string[];
  readonly sizeBytes: number;
}

/** Encodes an event as it is now. Errors: VALUE_TOO_LARGE. */
export function queueRecord(n: number, event: EngineEvent): QueuedRecord {
  const { kind, json } = encodeEvent(event);
  return { n, kind, body: encodeBody(json) };
}

/** How many of the records go into one batch: at least one, and no more than a segment has room for behind its end. */
export function countBatch(records: readonly QueuedRecord[]): number {
  let sizeBytes = 0;
  for (const [at, { body }] of records.entries()) {
    sizeBytes += body.length;
    if (at > 0 && sizeBytes > LIMITS.batchBytesMax) return at;
  }
  return records.length;
}

/** Seals records in order as the next lines of a segment; moves its chain on. */
export function sealBatch(state: SealingState, records: readonly QueuedRecord[], isRepeated = false): SealedBatch {
  const lines: Buffer[] = [];
  const hashes: string[] = [];
  let sizeBytes = 0;
  for (const [at, record] of records.entries()) {
    const line = sealRecord(state, record, { isBatchStart: at === 0, isRepeated });
    lines.push(line);
    hashes.push(state.h);
    sizeBytes += line.length + 1;
  }
  return { lines, hashes, sizeBytes };
}

/** Seals one record as the next line of a segment; moves its chain on. */
export function sealRecord(
  state: SealingState,
  { n, kind, body }: QueuedRecord,
  { isBatchStart, isRepeated }: { readonly isBatchStart: boolean; readonly isRepeated: boolean },
): Buffer {
  markBatchStart(body, isBatchStart);
  const prior = Buffer.from(state.h, "base64url");
  const sealed = state.sealer.seal(state.part, computeAad(prior, n, kind), body);
  const { line, h } = encodeRecordLine(prior, { n, kind, sealed, isRepeated });
  state.part += 1;
  state.h = h;
  return line;
}
