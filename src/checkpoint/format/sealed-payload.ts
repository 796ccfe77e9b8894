/**
 * The payload of a snapshot file: JSON text ↔ gzip ↔ sealed bytes.
 *
 * Owns: compression, the limits on what is expanded, the use of the vault's seals. The four lines around it are
 * layout.ts; what the text means is payload.ts.
 *
 * C1: nothing is expanded before its tag verified, never beyond the authenticated length, and the length must match.
 * Source: STORAGE sections 1.3, 1.10.
 */
import { createHash } from "node:crypto";
import { constants, createGunzip, createGzip } from "node:zlib";
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { KeyId } from "../../base/ids.js";
import type { CheckpointHeader } from "../../schema/generated/checkpoint-header.js";
import type { FileSealer, SealHeader, TaskVault } from "../../vault/contract.js";
import type { ReadLayout } from "./layout.js";
import { eachPiece, type TimeSlicer, PIECE_BYTES } from "./time-slicer.js";

/** A payload is part 0 of its file. */
const PART = 0;

export interface CompressedText {
  readonly codec: CheckpointHeader["codec"];
  readonly chunks: readonly Buffer[];
  readonly sizeBytes: number;
  readonly rawBytes: number;
  /** Of the text, for the comparison after unsealing. */
  readonly rawSha256: string;
}

export interface CompressOptions {
  /** 1–9; 0 keeps the text as it is (codec `none`). */
  readonly level: number;
  readonly rawBytesMax: number;
}

/**
 * Compresses a text that comes in pieces; the work is done on the thread pool, hashing between the pieces here.
 *
 * Errors: VALUE_TOO_LARGE when the text is longer than `rawBytesMax`, as soon as it is known.
 */
export async function compressText(
  pieces: Iterable<string>,
  options: CompressOptions,
  pace: TimeSlicer,
): Promise<CompressedText> {
  const sink = options.level === 0 ? createPlainSink() : createGzipSink(options.level);
  const hash = createHash("sha256");
  let rawBytes = 0;
  try {
    for (const piece of joinPieces(pieces)) {
      rawBytes += piece.length;
      if (rawBytes > options.rawBytesMax) throw overLimit(rawBytes, options.rawBytesMax);
      hash.update(piece);
      const written = sink.write(piece);
      if (written !== undefined) await pace.wait(written);
      else if (pace.isDue) await pace.rest();
    }
    await pace.wait(sink.finish());
  } finally {
    sink.dispose();
  }
  const { chunks } = sink;
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { codec: options.level === 0 ? "none" : "gzip", chunks, sizeBytes, rawBytes, rawSha256: hash.digest("hex") };
}

/** Pieces of text as bytes, small ones joined so that the thread pool is not asked for crumbs. */
function* joinPieces(pieces: Iterable<string>): Generator<Buffer> {
  let held: string[] = [];
  let heldChars = 0;
  for (const piece of pieces) {
    held.push(piece);
    heldChars += piece.length;
    if (heldChars < PIECE_BYTES) continue;
    yield* cutPiece(held.length === 1 ? piece : held.join(""));
    held = [];
    heldChars = 0;
  }
  if (heldChars > 0) yield* cutPiece(held.join(""));
}

/** A long text as bytes in pieces; a surrogate pair is never cut in two. */
function* cutPiece(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE_BYTES, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield Buffer.from(start === 0 && end === text.length ? text : text.slice(start, end), "utf8");
    start = end;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

interface TextSink {
  readonly chunks: readonly Buffer[];
  /** A promise when the writer should wait before the next piece. */
  write(piece: Buffer): Promise<void> | undefined;
  finish(): Promise<void>;
  dispose(): void;
}

function createPlainSink(): TextSink {
  const chunks: Buffer[] = [];
  return {
    chunks,
    write: (piece) => void chunks.push(piece),
    finish: () => Promise.resolve(),
    dispose: () => undefined,
  };
}

function createGzipSink(level: number): TextSink {
  const chunks: Buffer[] = [];
  const stream = createGzip({ level, chunkSize: PIECE_BYTES, flush: constants.Z_NO_FLUSH });
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    stream.once("end", resolve);
    stream.once("error", reject);
  });
  ended.catch(() => undefined);
  return {
    chunks,
    write: (piece) => {
      if (stream.write(piece)) return undefined;
      return Promise.race([new Promise<void>((resolve) => void stream.once("drain", resolve)), ended]);
    },
    finish: () => {
      stream.end();
      return ended;
    },
    dispose: () => void stream.destroy(),
  };
}

/** Seals compressed text in slices. Shape: one buffer, sealed bytes and tag. */
export async function sealText(
  text: CompressedText,
  to: { sealer: FileSealer; aad: Uint8Array },
  pace: TimeSlicer,
): Promise<Buffer> {
  const part = to.sealer.sealSlices(PART, to.aad);
  const sealed = Buffer.allocUnsafe(text.sizeBytes + 64);
  let length = 0;
  for (const chunk of text.chunks) {
    await eachPiece(chunk, pace, (piece) => {
      length += part.update(piece).copy(sealed, length);
    });
  }
  length += part.finish().copy(sealed, length);
  return sealed.subarray(0, length);
}

/** The fields of a header from which the vault finds the key. */
export function sealHeaderOf(header: CheckpointHeader): SealHeader {
  const seal = { suite: header.suite, salt: header.salt, commit: header.commit };
  return header.key === undefined ? seal : { ...seal, key: header.key as KeyId };
}

/** A file whose layout was read, and what it takes to open it. */
export interface OpenableFile {
  readonly layout: ReadLayout;
  readonly vault: TaskVault;
  readonly pace: TimeSlicer;
}

/**
 * Unseals and expands the payload of a file that was read, calling back with consecutive pieces of its text.
 *
 * Shape: the callback may have been called when it fails; what it was given is void then.
 * Errors: TASK_SWAPPED, SEAL_MISSING, KEY_MISSING, KEY_WRONG, CHECKPOINT_TAMPERED; CHECKPOINT_CORRUPT when what was
 * sealed does not expand to what the header says.
 */
export async function openPieces(file: OpenableFile, use: (piece: Uint8Array) => void): Promise<void> {
  const { layout, vault, pace } = file;
  const { header } = layout;
  if (header.workflow_id !== vault.taskId) {
    throw new SplashdownError(
      "TASK_SWAPPED",
      `the file belongs to task ${header.workflow_id}, not to ${vault.taskId}`,
      {
        details: { task: vault.taskId, found: header.workflow_id },
      },
    );
  }
  const opener = vault.createOpener("checkpoint", sealHeaderOf(header));
  const encoded = opener.open(PART, layout.aad, layout.sealed);
  if (pace.isDue) await pace.rest();
  if (header.codec === "none") await eachPiece(encoded, pace, use);
  else await pace.wait(expand(encoded, header.raw, use));
}

/** Like `openPieces`, with the whole text as the answer. */
export async function openText(file: OpenableFile): Promise<Buffer> {
  const raw = Buffer.allocUnsafe(file.layout.header.raw);
  let length = 0;
  const keep = (piece: Uint8Array): void => {
    raw.set(piece, length);
    length += piece.length;
  };
  await openPieces(file, keep);
  return raw;
}

/** Expands on the thread pool; stops at the first byte beyond what was promised. */
function expand(encoded: Buffer, rawBytes: number, use: (piece: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = createGunzip({ chunkSize: PIECE_BYTES });
    let length = 0;
    const refuse = (error: SplashdownError): void => {
      stream.destroy();
      reject(error);
    };
    stream.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > rawBytes) refuse(mismatch(`the payload expands beyond the ${rawBytes} bytes of the header`));
      else use(chunk);
    });
    stream.once("error", (error) =>
      refuse(
        new SplashdownError("CHECKPOINT_CORRUPT", `the payload cannot be expanded: ${messageOf(error)}`, {
          cause: error,
        }),
      ),
    );
    stream.once("end", () => {
      if (length === rawBytes) resolve();
      else reject(mismatch(`the payload has ${length} bytes, the header says ${rawBytes}`));
    });
    stream.end(encoded);
  });
}

function mismatch(message: string): SplashdownError {
  return new SplashdownError("CHECKPOINT_CORRUPT", message);
}

function overLimit(rawBytes: number, rawBytesMax: number): SplashdownError {
  return new SplashdownError("VALUE_TOO_LARGE", `the state is over the limit of ${rawBytesMax} bytes`, {
    details: { sizeBytes: rawBytes, sizeBytesMax: rawBytesMax },
  });
}

/** The level for a text of about this size: fast for large ones, small for small ones. Source: STORAGE section 2.8. */
export function computeLevel(setting: number | undefined, expectedBytes: number): number {
  if (setting !== undefined) return setting;
  if (expectedBytes < 256 * 1024) return 6;
  return expectedBytes < 4 * 1024 * 1024 ? 3 : 1;
}
