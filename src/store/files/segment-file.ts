/**
 * One segment being written: lines go in whole and in order, and what `append` returned for is on the disk.
 *
 * A failed write or sync is the end of the segment (S2): the kernel may have dropped what it could not write and would
 * call the next sync a success. The handle is closed and never used again.
 */
import { SplashdownError, assert } from "../../base/errors.js";
import type { FileHandle } from "../../base/file-system.js";
import { LIMITS } from "../../base/limits.js";
import type { SegmentId, SegmentWriter } from "../contract/contract.js";
import { writeWhole } from "./safe-folders.js";
import { computeStoreError } from "../contract/store-failure.js";

const NEWLINE = 0x0a;

export interface SegmentFileParts {
  readonly id: SegmentId;
  readonly path: string;
  readonly handle: FileHandle;
}

export class SegmentFile implements SegmentWriter {
  readonly id: SegmentId;
  readonly #path: string;
  #handle: FileHandle | undefined;
  #tail: Promise<void> = Promise.resolve();

  constructor(parts: SegmentFileParts) {
    this.id = parts.id;
    this.#path = parts.path;
    this.#handle = parts.handle;
  }

  async append(lines: readonly Uint8Array[]): Promise<void> {
    const bytes = joinLines(lines);
    const done = this.#tail.then(() => this.#write(bytes));
    this.#tail = done.catch(() => undefined);
    await done;
  }

  async close(): Promise<void> {
    await this.#tail;
    const handle = this.#handle;
    this.#handle = undefined;
    // What was acknowledged is synced already; a failing close can take nothing back.
    await handle?.close().catch(() => undefined);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const handle = this.#handle;
    if (handle === undefined) throw deadSegment(this.id);
    if (bytes.byteLength === 0) return;
    try {
      await writeWhole(handle, bytes);
      await handle.datasync();
    } catch (error) {
      this.#handle = undefined;
      await handle.close().catch(() => undefined);
      throw computeStoreError(error, { action: "appending to", path: this.#path });
    }
  }
}

/** What every append after the failed one, or after `close`, ends with. */
export function deadSegment(id: SegmentId): SplashdownError {
  return new SplashdownError("SEGMENT_DEAD", `segment ${id.epoch}-${id.index} takes no more lines`, {
    details: { epoch: id.epoch, index: id.index },
  });
}

/** Lines with their newlines as one buffer, so that one write takes them all. */
export function joinLines(lines: readonly Uint8Array[]): Uint8Array {
  let sizeBytes = lines.length;
  for (const line of lines) sizeBytes += line.byteLength;
  const joined = Buffer.allocUnsafe(sizeBytes);
  let at = 0;
  for (const line of lines) {
    assert(line.byteLength > 0 && !line.includes(NEWLINE), "a line is empty or holds a newline");
    if (line.byteLength > LIMITS.recordBytesMax) {
      throw new SplashdownError("VALUE_TOO_LARGE", `a line of ${line.byteLength} bytes is over the limit`, {
        details: { sizeBytes: line.byteLength, sizeBytesMax: LIMITS.recordBytesMax },
      });
    }
    joined.set(line, at);
    at += line.byteLength;
    joined[at] = NEWLINE;
    at += 1;
  }
  return joined;
}
