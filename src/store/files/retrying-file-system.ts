/**
 * A file system that waits out what passes: descriptors running out, an interrupted call, and on Windows a scanner that
 * holds a file for a moment. What a handle does is never retried here: a failed write or sync is the segment's end.
 *
 * Also owns the one place where a failed folder sync is forgiven: Windows has none to offer.
 * Source: STORAGE section 1.9.
 */
import type { Clock } from "../../base/clock.js";
import type { FileHandle, FileStat, FileSystem, OpenIntent } from "../../base/file-system.js";
import { LIMITS } from "../../base/limits.js";
import { hasErrno } from "../contract/store-failure.js";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

const PASSING = new Set(["EMFILE", "ENFILE", "EINTR", "EAGAIN"]);
const PASSING_ON_WINDOWS = new Set([...PASSING, "EPERM", "EBUSY", "EACCES"]);
const NO_FOLDER_SYNC_ON_WINDOWS = new Set(["EPERM", "EISDIR", "EINVAL", "ENOTSUP", "EACCES", "EBADF"]);

export interface RetryingFileSystemParts {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
}

/** Retries with back-off for up to `LIMITS.storeRetryMs`, then gives the last error through. */
export class RetryingFileSystem implements FileSystem {
  readonly #inner: FileSystem;
  readonly #clock: Clock;
  readonly #isWindows: boolean;

  constructor(parts: RetryingFileSystemParts) {
    this.#inner = parts.fileSystem;
    this.#clock = parts.clock;
    this.#isWindows = parts.platform === "win32";
  }

  open(path: string, intent: OpenIntent): Promise<FileHandle> {
    return this.#retry(PASSING, () => this.#inner.open(path, intent));
  }

  mkdir(path: string): Promise<void> {
    return this.#retry(PASSING, () => this.#inner.mkdir(path));
  }

  readdir(path: string): Promise<string[]> {
    return this.#retry(PASSING, () => this.#inner.readdir(path));
  }

  look(path: string): Promise<string[]> {
    return this.#retry(PASSING, () => this.#inner.look(path));
  }

  lstat(path: string): Promise<FileStat> {
    return this.#retry(PASSING, () => this.#inner.lstat(path));
  }

  link(from: string, to: string): Promise<void> {
    return this.#retry(PASSING, () => this.#inner.link(from, to));
  }

  rename(from: string, to: string): Promise<void> {
    return this.#retry(this.#passingOnNames, () => this.#inner.rename(from, to));
  }

  erase(path: string): Promise<void> {
    return this.#retry(this.#passingOnNames, () => this.#inner.erase(path));
  }

  unlink(path: string): Promise<void> {
    return this.#retry(this.#passingOnNames, () => this.#inner.unlink(path));
  }

  rmdir(path: string): Promise<void> {
    return this.#retry(this.#passingOnNames, () => this.#inner.rmdir(path));
  }

  /** Tried again only where no descriptor could be had: a sync that ran and failed has dropped what it was to keep. */
  async syncFolder(path: string): Promise<void> {
    try {
      await this.#retry(PASSING, () => this.#inner.syncFolder(path));
    } catch (error) {
      if (!this.#isWindows || !hasErrno(error, NO_FOLDER_SYNC_ON_WINDOWS)) throw error;
    }
  }

  volumeOf(path: string): ReturnType<FileSystem["volumeOf"]> {
    return this.#retry(PASSING, () => this.#inner.volumeOf(path));
  }

  get #passingOnNames(): ReadonlySet<string> {
    return this.#isWindows ? PASSING_ON_WINDOWS : PASSING;
  }

  async #retry<T>(passing: ReadonlySet<string>, call: () => Promise<T>): Promise<T> {
    let waitedMs = 0;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await call();
      } catch (error) {
        if (waitedMs >= LIMITS.storeRetryMs || !hasErrno(error, passing)) throw error;
      }
      await this.#clock.sleep(pauseMs);
      waitedMs += pauseMs;
    }
  }
}
