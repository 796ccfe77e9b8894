/**
 * Objects of one task as files: written under a temporary name, read back, then given their name exclusively.
 *
 * Where the file system has no hard links (exFAT, some network mounts) the name is given by `rename` after a check that
 * it is free: two creators of one key can then both win, the later one staying. The epoch's owner is alone with its
 * keys, so this concerns answers and keyrings on such mounts.
 * Source: STORAGE section 1.6, "Checkpoint"; invariants S3, S4.
 */
import { join } from "node:path";
import { SplashdownError, errnoOf } from "../../base/errors.js";
import type { FileHandle, FileSystem } from "../../base/file-system.js";
import type { RandomSource } from "../../base/random.js";
import type { ByteRange, ObjectEntry } from "../contract/contract.js";
import { assertObjectKey, assertObjectPrefix, folderOfKey, isObjectKey } from "../contract/object-key.js";
import { isAbsent, readWhole, type SafeFolders, writeWhole } from "../files/safe-folders.js";
import { hasErrno, withStoreErrors } from "../contract/store-failure.js";
import { createTempName, isTempName } from "../files/temp-name.js";

export const OBJECT_BYTES_MAX = 1024 ** 3;

/** A temporary file may be swept from under us by a new owner of the epoch; then it is written again. */
const PUT_TRIES_MAX = 4;
const COMPARE_BYTES = 1024 * 1024;
/** Files of a listing that are asked for their size at the same time. */
const STATS_AT_ONCE = 64;
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

export interface DirectoryObjectsParts {
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
  readonly random: RandomSource;
  /** The checkpoints folder. */
  readonly folder: string;
}

type PutOutcome = "created" | "exists" | "swept";

export class DirectoryObjects {
  readonly #parts: DirectoryObjectsParts;

  constructor(parts: DirectoryObjectsParts) {
    this.#parts = parts;
  }

  async putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    assertObjectKey(key);
    requireObjectSize(key, bytes);
    const path = this.#pathOf(key);
    return withStoreErrors({ action: "creating", path }, async () => {
      for (const level of this.#levelsOf(key)) await this.#parts.folders.ensureFolder(level);
      for (let tries = 0; tries < PUT_TRIES_MAX; tries += 1) {
        const outcome = (await this.#exists(path)) ? "exists" : await this.#create(path, bytes);
        if (outcome === "swept") continue;
        // Also when it exists: who made it may have died before the name was durable.
        await this.#parts.fileSystem.syncFolder(join(this.#parts.folder, folderOfKey(key)));
        return outcome;
      }
      throw new SplashdownError("STORE_BUSY", `the temporary file of ${path} was swept again and again`, {
        details: { path },
      });
    });
  }

  async get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    assertObjectKey(key);
    const path = this.#pathOf(key);
    return withStoreErrors({ action: "reading", path }, async () => {
      if (!(await this.#requireLevels(key))) return undefined;
      const opened = await this.#openIfPresent(path);
      if (opened === undefined) return undefined;
      const { handle, stat } = opened;
      try {
        if (stat.sizeBytes > OBJECT_BYTES_MAX) throw tooLarge(key, stat.sizeBytes);
        if (range === undefined) return await readWhole(handle, stat.sizeBytes);
        // What is not there takes no room.
        const length = Math.min(range.length, Math.max(stat.sizeBytes - range.offset, 0));
        return await readRange(handle, { offset: range.offset, length });
      } finally {
        await handle.close();
      }
    });
  }

  async list(prefix: string): Promise<ObjectEntry[]> {
    assertObjectPrefix(prefix);
    const folder = folderOfKey(prefix);
    return withStoreErrors({ action: "listing", path: join(this.#parts.folder, folder) }, async () => {
      if (folder !== "" && !(await this.#requireLevels(`${folder}/x`))) return [];
      const entries: ObjectEntry[] = [];
      await this.#collect(folder, prefix, entries);
      return entries.sort((first, second) => (first.key < second.key ? -1 : 1));
    });
  }

  async remove(...keys: readonly string[]): Promise<void> {
    for (const key of keys) assertObjectKey(key);
    const folders = new Set<string>();
    for (const key of keys) {
      const path = this.#pathOf(key);
      await withStoreErrors({ action: "removing", path }, async () => {
        if (!(await this.#requireLevels(key))) return;
        await this.#unlinkIfPresent(path);
        folders.add(join(this.#parts.folder, folderOfKey(key)));
      });
    }
    for (const path of folders)
      await withStoreErrors({ action: "removing from", path }, () => this.#parts.fileSystem.syncFolder(path));
  }

  async destroy(key: string): Promise<undefined> {
    assertObjectKey(key);
    const path = this.#pathOf(key);
    await withStoreErrors({ action: "overwriting", path }, async () => {
      if (!(await this.#requireLevels(key))) return;
      await this.#parts.fileSystem.erase(path).catch((error: unknown) => {
        if (!isAbsent(error)) throw error;
      });
    });
    await this.remove(key);
  }

  async sweep(): Promise<void> {
    const { fileSystem, folder } = this.#parts;
    await withStoreErrors({ action: "sweeping", path: folder }, async () => {
      for (const name of await fileSystem.readdir(folder)) {
        if (isTempName(name)) await this.#unlinkIfPresent(join(folder, name));
      }
    });
  }

  async #create(path: string, bytes: Uint8Array): Promise<PutOutcome> {
    const temp = join(this.#parts.folder, createTempName(this.#parts.random));
    try {
      await this.#writeTemp(temp, bytes);
      return await this.#giveName(temp, path);
    } catch (error) {
      if (isAbsent(error)) return "swept";
      throw error;
    } finally {
      // What stays behind here is swept by the epoch's next owner.
      await this.#parts.fileSystem.unlink(temp).catch(() => undefined);
    }
  }

  async #writeTemp(temp: string, bytes: Uint8Array): Promise<void> {
    const handle = await this.#parts.fileSystem.open(temp, "create");
    try {
      if (bytes.byteLength > 0) await writeWhole(handle, bytes);
      await handle.sync();
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    await handle.close();
    await this.#requireWritten(temp, bytes);
  }

  /** Reads back what was written: a file system that lies about a short write is caught before the name is given. */
  async #requireWritten(temp: string, bytes: Uint8Array): Promise<void> {
    const { handle, stat } = await this.#parts.folders.open(temp, "read");
    try {
      let isSame = stat.sizeBytes === bytes.byteLength;
      for (let at = 0; isSame && at < bytes.byteLength; at += COMPARE_BYTES) {
        const expected = bytes.subarray(at, at + COMPARE_BYTES);
        isSame = Buffer.compare(await readRange(handle, { offset: at, length: expected.byteLength }), expected) === 0;
      }
      if (!isSame)
        throw new SplashdownError("STORE_FAILED", `${temp} does not hold what was written`, {
          details: { path: temp },
        });
    } finally {
      await handle.close();
    }
  }

  async #giveName(temp: string, path: string): Promise<PutOutcome> {
    try {
      await this.#parts.fileSystem.link(temp, path);
      return "created";
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return "exists";
      if (!hasErrno(error, NO_LINKS)) throw error;
    }
    if (await this.#exists(path)) return "exists";
    await this.#parts.fileSystem.rename(temp, path);
    return "created";
  }

  async #collect(folder: string, prefix: string, entries: ObjectEntry[]): Promise<void> {
    const names = await this.#readdirIfPresent(join(this.#parts.folder, folder));
    const keys = names
      .map((name) => (folder === "" ? name : `${folder}/${name}`))
      .filter((key) => (key.startsWith(prefix) || prefix.startsWith(`${key}/`)) && isObjectKey(key));
    for (let at = 0; at < keys.length; at += STATS_AT_ONCE) {
      const some = keys.slice(at, at + STATS_AT_ONCE);
      const stats = await Promise.all(some.map((key) => this.#lstatIfPresent(this.#pathOf(key))));
      for (const [index, key] of some.entries()) {
        const stat = stats[index];
        if (stat?.kind === "folder") await this.#collect(key, prefix, entries);
        else if (stat?.kind === "file" && key.startsWith(prefix)) entries.push({ key, sizeBytes: stat.sizeBytes });
      }
    }
  }

  /** Folders of a key below the checkpoints folder, outermost first. */
  #levelsOf(key: string): string[] {
    const parts = key.split("/").slice(0, -1);
    return parts.map((_part, at) => join(this.#parts.folder, ...parts.slice(0, at + 1)));
  }

  /** Checks every folder on the way to a key; false when one is missing. */
  async #requireLevels(key: string): Promise<boolean> {
    for (const level of this.#levelsOf(key)) {
      try {
        await this.#parts.folders.requireFolder(level);
      } catch (error) {
        if (isAbsent(error)) return false;
        throw error;
      }
    }
    return true;
  }

  async #exists(path: string): Promise<boolean> {
    const stat = await this.#lstatIfPresent(path);
    if (stat === undefined) return false;
    this.#parts.folders.requireFile(stat, path);
    return true;
  }

  #openIfPresent(path: string) {
    return undefinedIfAbsent(this.#parts.folders.open(path, "read"));
  }

  #lstatIfPresent(path: string) {
    return undefinedIfAbsent(this.#parts.fileSystem.lstat(path));
  }

  async #readdirIfPresent(path: string): Promise<string[]> {
    return (await undefinedIfAbsent(this.#parts.fileSystem.readdir(path))) ?? [];
  }

  async #unlinkIfPresent(path: string): Promise<void> {
    await undefinedIfAbsent(this.#parts.fileSystem.unlink(path));
  }

  #pathOf(key: string): string {
    return join(this.#parts.folder, key);
  }
}

async function undefinedIfAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function readRange(handle: FileHandle, range: ByteRange): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let missing = range.length;
  while (missing > 0) {
    const part = await handle.read(range.offset + range.length - missing, missing);
    if (part.byteLength === 0) break;
    parts.push(part);
    missing -= part.byteLength;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** Refuses an object over the limit of every store. */
export function requireObjectSize(key: string, bytes: Uint8Array): void {
  if (bytes.byteLength > OBJECT_BYTES_MAX) throw tooLarge(key, bytes.byteLength);
}

function tooLarge(key: string, sizeBytes: number): SplashdownError {
  return new SplashdownError("VALUE_TOO_LARGE", `object ${key} of ${sizeBytes} bytes is over the limit`, {
    details: { key, sizeBytes, sizeBytesMax: OBJECT_BYTES_MAX },
  });
}
