/**
 * Folders and files that may be trusted: ours, real, and closed to others; and folders that are durable.
 *
 * Whoever made a folder may have died before its name was durable. So a folder counts as durable here only once this
 * process has synced the folder it lies in, whether it made it or found it; and of a root all that it lies in, too: another
 * may have made the outermost a moment ago.
 * Source: STORAGE sections 1.6 and 1.10.
 */
import { dirname } from "node:path";
import { makeFolders, settleNames } from "../../base/durable-names.js";
import { errnoOf } from "../../base/errors.js";
import type { FileHandle, FileStat, FileSystem, OpenIntent } from "../../base/file-system.js";
import { unsafePlace } from "../contract/store-failure.js";

/** Group and others may write. */
const WRITABLE_BY_OTHERS = 0o022;
/** A file being put has two names for a moment: the temporary and the final one. */
const LINKS_MAX = 2;

export interface SafeFoldersParts {
  readonly fileSystem: FileSystem;
  /** The user all of it must belong to; undefined where the platform has no such thing. */
  readonly userId: number | undefined;
  /** Modes say nothing on Windows. */
  readonly isWindows: boolean;
}

/** Checks and makes folders below a store's root. The root itself is the user's own choice and is not judged. */
export class SafeFolders {
  readonly #parts: SafeFoldersParts;
  readonly #durable = new Set<string>();

  constructor(parts: SafeFoldersParts) {
    this.#parts = parts;
  }

  /** Errors: STORE_UNSAFE for anything but a folder of ours that only we can write to; ENOENT as the platform gives it. */
  async requireFolder(path: string): Promise<void> {
    const stat = await this.#parts.fileSystem.lstat(path);
    if (stat.kind === "link") throw unsafePlace(path, "is a link");
    if (stat.kind !== "folder") throw unsafePlace(path, "is not a folder");
    this.#requireOwner(stat, path);
    if (!this.#parts.isWindows && (stat.mode & WRITABLE_BY_OTHERS) !== 0) {
      throw unsafePlace(path, `is writable by others (mode ${stat.mode.toString(8)})`);
    }
  }

  /** True when the path is a real folder; false when it is absent or something else. */
  async isFolder(path: string): Promise<boolean> {
    try {
      return (await this.#parts.fileSystem.lstat(path)).kind === "folder";
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  /** Makes one level if it is missing, checks it, and makes its name durable. True when this call created it. */
  async ensureFolder(path: string): Promise<boolean> {
    const created = await this.#make(path);
    await this.requireFolder(path);
    if (created) this.#durable.delete(path);
    await this.settle(path);
    return created;
  }

  /**
   * Makes a root and what it lies in where they are missing. The names of all of them are durable then, as far as we may:
   * what was there need not be ours.
   */
  async ensureRoot(path: string): Promise<void> {
    const { fileSystem } = this.#parts;
    const made = await makeFolders(fileSystem, path);
    for (const each of made) this.#durable.delete(each);
    await settleNames(fileSystem, path, { made, settled: this.#durable });
  }

  /** Makes the folder's own name durable, once per process. */
  async settle(path: string): Promise<void> {
    if (this.#durable.has(path)) return;
    // The entry `.`: a root may be a link, and a link itself cannot be synced.
    await this.#parts.fileSystem.syncFolder(`${dirname(path)}/.`);
    this.#durable.add(path);
  }

  /** Opens a regular file of ours; its content may be trusted to be the file's and not what a link leads to. */
  async open(path: string, intent: OpenIntent): Promise<{ handle: FileHandle; stat: FileStat }> {
    const handle = await this.#parts.fileSystem.open(path, intent);
    try {
      const stat = await handle.stat();
      this.requireFile(stat, path);
      return { handle, stat };
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  /** Errors: STORE_UNSAFE for anything but a regular file of ours without a third name. */
  requireFile(stat: FileStat, path: string): void {
    if (stat.kind === "link") throw unsafePlace(path, "is a link");
    if (stat.kind !== "file") throw unsafePlace(path, "is not a regular file");
    if (stat.links > LINKS_MAX) throw unsafePlace(path, `has ${stat.links} names`);
    this.#requireOwner(stat, path);
  }

  #requireOwner(stat: FileStat, path: string): void {
    const { userId } = this.#parts;
    if (userId !== undefined && stat.uid !== userId) throw unsafePlace(path, `belongs to user ${stat.uid}`);
  }

  async #make(path: string): Promise<boolean> {
    try {
      await this.#parts.fileSystem.mkdir(path);
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  }
}

/** True when the platform says that there is nothing at a path. */
export function isAbsent(error: unknown): boolean {
  return errnoOf(error) === "ENOENT";
}

/** Reads all of an open file. */
export async function readWhole(handle: FileHandle, sizeBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let position = 0;
  for (;;) {
    const wanted = Math.max(sizeBytes - position, 0);
    const part = await handle.read(position, wanted > 0 ? Math.min(wanted, READ_BYTES_MAX) : GROWTH_PROBE_BYTES);
    if (part.byteLength === 0) break;
    parts.push(part);
    position += part.byteLength;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

const READ_BYTES_MAX = 16 * 1024 * 1024;
/** Past the size it was opened with, a file that is being appended to may have more. */
const GROWTH_PROBE_BYTES = 4096;

/** Writes all of it, however little each call takes. */
export async function writeWhole(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let written = await handle.write(bytes);
  while (written < bytes.byteLength) {
    const count = await handle.write(bytes.subarray(written));
    if (count === 0) throw Object.assign(new Error("write made no progress"), { code: "EIO" });
    written += count;
  }
}
