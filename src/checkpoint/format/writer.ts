/**
 * Writes one snapshot file: encode, compress, seal, open again, put into the store.
 *
 * Owns: the header's fields and the order of the steps. When a file is written is manager.ts; bytes are layout.ts and
 * sealed-payload.ts; durability (temporary name, sync, read back, link) is the store's `putOnce`.
 *
 * C3: the bytes are unsealed and compared before they are put under their name.
 * Source: STORAGE section 1.6 (checkpoint).
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import type { CheckpointId } from "../../base/ids.js";
import type { JournalPosition } from "../../journal/position.js";
import type { CheckpointHeader } from "../../schema/generated/checkpoint-header.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { SealHeader, TaskVault } from "../../vault/contract.js";
import { encodePayload, labelOf, PAYLOAD_SCHEMA, type SnapshotCapture } from "./capture.js";
import { encodeLayout, formatHead, readLayout } from "./layout.js";
import { formatSnapshotName } from "./names.js";
import { type YieldToLoop, createTimeSlicer, type TimeSlicer } from "./time-slicer.js";
import { compressText, type CompressedText, computeLevel, openPieces, sealText } from "./sealed-payload.js";

export interface SnapshotWriterOptions {
  readonly store: TaskStore;
  readonly vault: TaskVault;
  readonly clock: Clock;
  readonly breathe: YieldToLoop;
  readonly rawBytesMax: number;
  /** Version of this program, for the header. */
  readonly app: string;
  /** `compression_level`; absent: by size. 0 is `compression: false`. */
  readonly level?: number;
  /** `metadata: minimal` keeps status and trigger out of the clear header. */
  readonly isMinimal?: boolean;
  /** The names of the workflow and of the step under way stand there too. */
  readonly isNamed?: boolean;
}

/** Where a snapshot stands: in the journal's history and in the chain of files. */
export interface SnapshotPlace {
  readonly position: JournalPosition;
  readonly prev: { readonly checkpointId: CheckpointId; readonly sha256: string } | undefined;
  /** The epoch in which it is sealed again, under a name of its own. */
  readonly resealedIn?: number;
}

export interface WrittenSnapshot {
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly rawBytes: number;
  readonly durationMs: number;
  /** Work on the event loop alone, and its longest slice. */
  readonly workMs: number;
  readonly longestSliceMs: number;
}

/** A snapshot's bytes, sealed and verified, not yet stored. */
export interface EncodedSnapshot {
  readonly file: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly rawBytes: number;
}

/**
 * Encodes and verifies, and writes unless the caller finds the bytes too many.
 *
 * Shape: `undefined` when `admits` says no to the size; nothing was written then.
 * Errors: VALUE_TOO_LARGE over the size limit, CHECKPOINT_FAILED when the name is taken or the bytes do not open again,
 * and the STORE_* codes.
 */
export async function writeSnapshot(
  taken: SnapshotCapture,
  place: SnapshotPlace,
  options: SnapshotWriterOptions & { readonly admits?: (sizeBytes: number) => boolean },
): Promise<WrittenSnapshot | undefined> {
  const pace = createTimeSlicer(options.clock, options.breathe);
  const startMs = options.clock.monotonicMs();
  const encoded = await encodeSnapshot(taken, place, { options, pace });
  if (options.admits?.(encoded.bytes.length) === false) return undefined;
  const result = await pace.wait(options.store.putOnce(encoded.file, encoded.bytes));
  if (result === "exists") throw failed(taken, `a file ${encoded.file} exists already`);
  return {
    file: encoded.file,
    sha256: encoded.sha256,
    sizeBytes: encoded.bytes.length,
    rawBytes: encoded.rawBytes,
    durationMs: Math.round(options.clock.monotonicMs() - startMs),
    ...pace.figures,
  };
}

/** The file's bytes. Errors: as `writeSnapshot`, but for the store's. */
export async function encodeSnapshot(
  taken: SnapshotCapture,
  place: SnapshotPlace,
  how: { readonly options: SnapshotWriterOptions; readonly pace: TimeSlicer; readonly expectedBytes?: number },
): Promise<EncodedSnapshot> {
  const { options, pace } = how;
  const level = computeLevel(options.level, how.expectedBytes ?? estimateBytes(taken));
  const text = await compressText(encodePayload(taken), { level, rawBytesMax: options.rawBytesMax }, pace);
  const sealer = options.vault.createSealer("checkpoint");
  const header = createHeader(taken, { place, text, seal: sealer.header, options });
  const head = formatHead(header);
  const sealed = await sealText(text, { sealer, aad: head }, pace);
  const { bytes, sha256 } = await encodeLayout(head, sealed, pace);
  await requireReadable(bytes, { taken, text, options, pace });
  const { event } = taken;
  const { resealedIn } = place;
  const name = { phase: event.phase, atMs: event.atMs, seq: event.seq };
  const file = formatSnapshotName(resealedIn === undefined ? name : { ...name, resealedIn });
  return { file, bytes, sha256, rawBytes: text.rawBytes };
}

/** Rough size of the text: what most states have per step. */
function estimateBytes(taken: SnapshotCapture): number {
  return 16 * 1024 + taken.steps.length * 1024 + taken.decisions.length * 256;
}

interface HeaderParts {
  readonly place: SnapshotPlace;
  readonly text: CompressedText;
  readonly seal: SealHeader;
  readonly options: SnapshotWriterOptions;
}

function createHeader(taken: SnapshotCapture, parts: HeaderParts): CheckpointHeader {
  const { event } = taken;
  const { prev, position } = parts.place;
  return {
    suite: parts.seal.suite as CheckpointHeader["suite"],
    workflow_id: taken.task.id,
    checkpoint_id: event.checkpointId,
    seq: event.seq,
    epoch: taken.epoch,
    phase: event.phase,
    ...(parts.options.isMinimal === true ? {} : { status: event.status, trigger: event.trigger }),
    ...(parts.options.isNamed === true ? describeNames(taken) : {}),
    timestamp: new Date(event.atMs).toISOString(),
    prev: prev === undefined ? null : { checkpoint_id: prev.checkpointId, sha256: prev.sha256 },
    journal: { n: position.n, epoch: position.epoch, index: position.index, h: position.h },
    ...(parts.seal.key === undefined ? {} : { key: parts.seal.key }),
    salt: parts.seal.salt,
    commit: parts.seal.commit,
    codec: parts.text.codec,
    raw: parts.text.rawBytes,
    size: parts.text.sizeBytes,
    schema: PAYLOAD_SCHEMA,
    app: parts.options.app,
  };
}

/** Names by which a person may query a store. */
function describeNames({ task, steps }: SnapshotCapture): Partial<CheckpointHeader> {
  const current = steps.findLast(({ endedAtMs }) => endedAtMs === undefined) ?? steps.at(-1);
  return {
    workflow_name: shorten(task.definition.name),
    ...(current === undefined ? {} : { current_agent: shorten(current.name) }),
  };
}

/** The longest name in the clear. Source: checkpoint-header.schema.json. */
const CLEAR_CHARS_MAX = 200;

/** Never half of a character. */
function shorten(name: string): string {
  return name.length <= CLEAR_CHARS_MAX ? name : name.slice(0, CLEAR_CHARS_MAX).replace(/[\ud800-\udbff]$/, "");
}

interface Readable {
  readonly taken: SnapshotCapture;
  readonly text: CompressedText;
  readonly options: SnapshotWriterOptions;
  readonly pace: TimeSlicer;
}

/** Reads the bytes as a reader would, down to the text, and compares. */
async function requireReadable(bytes: Buffer, expected: Readable): Promise<void> {
  const { options, pace } = expected;
  const layout = await readLayout(bytes, options.rawBytesMax, pace);
  const hash = createHash("sha256");
  // As strings: the collector counts those and not the bytes of buffers, which a large state would heap up until the end.
  await openPieces({ layout, vault: options.vault, pace }, (piece) => {
    hash.update(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1"), "latin1");
  });
  if (hash.digest("hex") !== expected.text.rawSha256)
    throw failed(expected.taken, "its bytes do not open to what was sealed");
}

function failed(taken: SnapshotCapture, why: string): SplashdownError {
  return new SplashdownError("CHECKPOINT_FAILED", `${labelOf(taken.event)} could not be written: ${why}`, {
    details: { seq: taken.event.seq, checkpointId: taken.event.checkpointId },
  });
}
