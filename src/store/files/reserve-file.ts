/**
 * The reserve: a file that takes up room so that, on a full disk, giving it up lets the running step's completion fit.
 *
 * Its bytes are random: a file system that compresses would keep no room for zeros.
 * Source: STORAGE section 1.9, ENOSPC.
 */
import { join } from "node:path";
import type { FileSystem } from "../../base/file-system.js";
import type { RandomSource } from "../../base/random.js";
import { isAbsent, type SafeFolders, writeWhole } from "./safe-folders.js";
import { hasErrno, withStoreErrors } from "../contract/store-failure.js";

const NO_ROOM = new Set(["ENOSPC", "EDQUOT"]);
const RESERVE_NAME = ".ballast";
/** As long as a block that file systems compress at a time, so that its repetition is not noticed. */
const PATTERN_BYTES = 128 * 1024;

export interface ReserveFileParts {
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
  readonly random: RandomSource;
  readonly folder: string;
  readonly sizeBytes: number;
}

export class ReserveFile {
  readonly #parts: ReserveFileParts;
  readonly #path: string;

  constructor(parts: ReserveFileParts) {
    this.#parts = parts;
    this.#path = join(parts.folder, RESERVE_NAME);
  }

  /** Frees the room; false when there was none to free. */
  async release(): Promise<boolean> {
    return withStoreErrors({ action: "removing", path: this.#path }, async () => {
      try {
        await this.#parts.fileSystem.unlink(this.#path);
      } catch (error) {
        if (isAbsent(error)) return false;
        throw error;
      }
      // Some file systems give the room back only with the commit of the removal; if that fails, the next write says so.
      await this.#parts.fileSystem.syncFolder(this.#parts.folder).catch(() => undefined);
      return true;
    });
  }

  /** Makes the reserve whole; leaves none where there is no room, and says so with `false`. */
  async ensure(): Promise<boolean> {
    return withStoreErrors({ action: "reserving", path: this.#path }, async () => {
      if (await this.#isWhole()) return true;
      await this.#parts.fileSystem.unlink(this.#path).catch(() => undefined);
      try {
        await this.#create();
        return true;
      } catch (error) {
        await this.#parts.fileSystem.unlink(this.#path).catch(() => undefined);
        if (!hasErrno(error, NO_ROOM)) throw error;
        return false;
      }
    });
  }

  async #isWhole(): Promise<boolean> {
    try {
      const stat = await this.#parts.fileSystem.lstat(this.#path);
      return stat.kind === "file" && stat.sizeBytes === this.#parts.sizeBytes;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  async #create(): Promise<void> {
    const { sizeBytes, random } = this.#parts;
    const pattern = random.bytes(Math.min(PATTERN_BYTES, sizeBytes));
    const handle = await this.#parts.fileSystem.open(this.#path, "create");
    try {
      for (let left = sizeBytes; left > 0; left -= PATTERN_BYTES) {
        await writeWhole(handle, pattern.subarray(0, Math.min(left, PATTERN_BYTES)));
      }
      await handle.sync();
    } finally {
      await handle.close().catch(() => undefined);
    }
  }
}
