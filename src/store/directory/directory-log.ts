/**
 * The log of one task as files: epochs are names created exclusively, the look is a list of names, read in the calling
 * thread (7–21 µs on a local disk; through the pool of threads it costs ten times as much). On a network's file system a
 * server that hangs holds up the process there, as it holds up the task.
 *
 * The epoch's first file is made by the claim and stays open until its header is written; no file is ever opened for
 * writing a second time. What a claimer reads it makes durable first: the dead owner may have written it without
 * having synced it, and history must not rest on what the next power cut takes away.
 * Source: STORAGE sections 1.6 and 1.8; invariants S1, S2.
 */
import { join } from "node:path";
import { SplashdownError, assert, errnoOf } from "../../base/errors.js";
import type { FileHandle, FileSystem } from "../../base/file-system.js";
import type { SegmentId, SegmentWriter } from "../contract/contract.js";
import { isAbsent, readWhole, type SafeFolders } from "../files/safe-folders.js";
import { SegmentFile } from "../files/segment-file.js";
import {
  EPOCH_MAX,
  formatSegmentName,
  parseSegmentEpoch,
  parseSegmentName,
  SEGMENT_INDEX_MAX,
} from "../contract/segment-name.js";
import { requireSegmentSize, unsafePlace, withStoreErrors } from "../contract/store-failure.js";

/** Lost races for an epoch before it is called a failure; each lost one means that somebody else got it. */
const CLAIM_TRIES_MAX = 64;

export interface DirectoryLogParts {
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
  /** The journal folder. */
  readonly folder: string;
  /** The task's folders, outermost first; all are checked before a claim. The journal's own is the last. */
  readonly path: readonly string[];
  readonly isWindows: boolean;
}

function superseded(folder: string, epoch: number): SplashdownError {
  return new SplashdownError("OWNER_SUPERSEDED", `another process has claimed epoch ${epoch} meanwhile`, {
    details: { path: folder, epoch },
  });
}

interface Claim {
  readonly epoch: number;
  nextIndex: number;
  /** The file the claim created, until its header is written. */
  handle: FileHandle | undefined;
}

export class DirectoryLog {
  readonly #parts: DirectoryLogParts;
  readonly #claims = new Map<number, Claim>();

  constructor(parts: DirectoryLogParts) {
    this.#parts = parts;
  }

  claim(after?: number): Promise<number> {
    const { folder, folders, path } = this.#parts;
    return withStoreErrors({ action: "claiming", path: folder }, async () => {
      for (const level of path.slice(0, -1)) await folders.requireFolder(level);
      // It may have been removed: what the task has beside it says so (R17), and whoever accepts that goes on.
      await folders.ensureFolder(folder);
      for (let tries = 0; tries < CLAIM_TRIES_MAX; tries += 1) {
        const highest = await this.#highestEpoch();
        if (after !== undefined && highest > after) throw superseded(folder, highest);
        const epoch = highest + 1;
        if (epoch > EPOCH_MAX) throw unsafePlace(folder, "has no epoch left");
        if (await this.#tryClaim(epoch)) return epoch;
      }
      throw new SplashdownError("STORE_BUSY", `others claimed every epoch tried in ${folder}`, {
        details: { path: folder },
      });
    });
  }

  async openSegment(epoch: number, header: Uint8Array, lines: readonly Uint8Array[] = []): Promise<SegmentWriter> {
    const claim = this.#claims.get(epoch);
    assert(claim !== undefined, `epoch ${epoch} was not claimed here`);
    const id = { epoch, index: claim.nextIndex };
    claim.nextIndex += 1;
    const path = this.#pathOf(id);
    return withStoreErrors({ action: "opening segment", path }, async () => {
      if (id.index > SEGMENT_INDEX_MAX) throw unsafePlace(path, "is over the number of segments of an epoch");
      const claimed = claim.handle;
      claim.handle = undefined;
      const handle = claimed ?? (await this.#parts.fileSystem.open(path, "create"));
      const writer = new SegmentFile({ id, path, handle });
      await writer.append([header, ...lines]);
      if (claimed === undefined) await this.#settleNew(writer);
      return writer;
    });
  }

  async confirm(epoch: number): Promise<boolean> {
    const { fileSystem, folder } = this.#parts;
    const names = await withStoreErrors({ action: "looking at", path: folder }, () => fileSystem.look(folder));
    return !names.some((name) => (parseSegmentEpoch(name) ?? 0) > epoch);
  }

  segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]> {
    const { fileSystem, folder, folders } = this.#parts;
    return withStoreErrors({ action: "listing", path: folder }, async () => {
      const found: (SegmentId & { readonly sizeBytes: number })[] = [];
      for (const id of await this.#list()) {
        const path = this.#pathOf(id);
        const stat = await fileSystem.lstat(path);
        folders.requireFile(stat, path);
        found.push({ ...id, sizeBytes: stat.sizeBytes });
      }
      return found;
    });
  }

  read(id: SegmentId): Promise<Uint8Array> {
    const path = this.#pathOf(id);
    return withStoreErrors({ action: "reading", path }, async () => {
      const { handle, stat } = await this.#parts.folders.open(path, "read");
      try {
        requireSegmentSize(id, stat.sizeBytes);
        const bytes = await readWhole(handle, stat.sizeBytes);
        // Windows syncs only what is open for writing.
        if (this.#claims.size > 0 && bytes.byteLength > 0 && !this.#parts.isWindows) await handle.datasync();
        return bytes;
      } finally {
        await handle.close();
      }
    });
  }

  removeSegment(id: SegmentId): Promise<void> {
    const { fileSystem, folder } = this.#parts;
    const path = this.#pathOf(id);
    return withStoreErrors({ action: "removing", path }, async () => {
      // The highest name is what keeps its number from being given twice.
      assert(id.epoch < (await this.#highestEpoch()), "a segment of the highest epoch stays");
      try {
        await fileSystem.unlink(path);
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
      await fileSystem.syncFolder(folder);
    });
  }

  async close(): Promise<void> {
    for (const claim of this.#claims.values()) {
      const { handle } = claim;
      claim.handle = undefined;
      await handle?.close().catch(() => undefined);
    }
    this.#claims.clear();
  }

  async #tryClaim(epoch: number): Promise<boolean> {
    const { fileSystem, folder } = this.#parts;
    let handle: FileHandle;
    try {
      handle = await fileSystem.open(this.#pathOf({ epoch, index: 0 }), "create");
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
    try {
      await fileSystem.syncFolder(folder);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    this.#claims.set(epoch, { epoch, nextIndex: 0, handle });
    return true;
  }

  async #settleNew(writer: SegmentWriter): Promise<void> {
    try {
      await this.#parts.fileSystem.syncFolder(this.#parts.folder);
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async #names(): Promise<string[]> {
    try {
      return await this.#parts.fileSystem.readdir(this.#parts.folder);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  async #highestEpoch(): Promise<number> {
    let highest = 0;
    for (const name of await this.#names()) {
      highest = Math.max(highest, parseSegmentEpoch(name) ?? 0);
    }
    return highest;
  }

  async #list(): Promise<SegmentId[]> {
    const ids: SegmentId[] = [];
    for (const name of await this.#names()) {
      const id = parseSegmentName(name);
      if (id !== undefined) ids.push(id);
    }
    return ids.sort((first, second) => first.epoch - second.epoch || first.index - second.index);
  }

  #pathOf(id: SegmentId): string {
    return join(this.#parts.folder, formatSegmentName(id));
  }
}
