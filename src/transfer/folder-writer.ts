/**
 * Writes the files of a task's folder: in the clear, 0600, whole or not at all.
 *
 * Writing is idempotent, so recovery writes again what a crash prevented. What is there already is left alone, but its
 * name is made durable: who wrote it may have died before that.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { errnoOf, SplashdownError } from "../base/errors.js";
import type { FileSystem } from "../base/file-system.js";
import type { RandomSource } from "../base/random.js";
import { withStoreErrors } from "../store/contract/store-failure.js";
import { createTempName, isTempName } from "../store/files/temp-name.js";
import { isFolderPath, readContent, type FileContent } from "./folder-files.js";

export interface FolderWriterParts {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  /** Absolute folder of the task. */
  readonly folder: string;
}

export class FolderWriter {
  readonly #parts: FolderWriterParts;
  /** Folders whose names this process has made durable. */
  readonly #settled = new Set<string>();
  readonly #swept = new Set<string>();

  constructor(parts: FolderWriterParts) {
    this.#parts = parts;
  }

  /** Errors: STORE_UNSAFE for a path that leads elsewhere; STORE_FAILED for content that is not what it says; the STORE_* codes. */
  async write(file: string, content: FileContent): Promise<void> {
    const { fileSystem } = this.#parts;
    const target = this.#placeOf(file);
    await withStoreErrors({ action: "writing the deliverable", path: target }, async () => {
      const folder = dirname(target);
      const isEqual = (await this.#compare(target, content)) === "equal";
      await this.#ensureFolder(folder);
      if (!this.#swept.has(folder)) await this.#sweep(folder);
      this.#swept.add(folder);
      if (!isEqual) await this.#replace(target, content);
      await fileSystem.syncFolder(folder);
    });
  }

  /** How the file stands beside what it is to hold. Errors: as for `write`. */
  compare(file: string, content: FileContent): Promise<"absent" | "equal" | "other"> {
    const target = this.#placeOf(file);
    return withStoreErrors({ action: "reading the deliverable", path: target }, () => this.#compare(target, content));
  }

  #placeOf(file: string): string {
    const { folder } = this.#parts;
    if (isFolderPath(file)) return join(folder, file);
    throw new SplashdownError("STORE_UNSAFE", `deliverable ${file} would leave the task's folder`, {
      details: { file },
    });
  }

  async #compare(target: string, { sizeBytes, sha256 }: FileContent): Promise<"absent" | "equal" | "other"> {
    const { fileSystem } = this.#parts;
    try {
      const stat = await fileSystem.lstat(target);
      if (stat.kind === "file" && stat.sizeBytes !== sizeBytes) return "other";
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return "absent";
      throw error;
    }
    const now = await readContent(fileSystem, target);
    if (now === undefined) return "absent";
    return now.sha256 === sha256 ? "equal" : "other";
  }

  async #ensureFolder(folder: string): Promise<void> {
    const { fileSystem, folder: root } = this.#parts;
    const isInside = folder.length > root.length;
    // A store in memory has no folder before the first file.
    if (this.#settled.has(folder) || (!isInside && (await this.#isThere(folder)))) return;
    await this.#ensureFolder(dirname(folder));
    try {
      await fileSystem.mkdir(folder);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      const stat = await fileSystem.lstat(folder);
      if (stat.kind !== "folder")
        throw new SplashdownError("STORE_UNSAFE", `${folder} is not a folder`, { details: { folder } });
    }
    await fileSystem.syncFolder(dirname(folder));
    this.#settled.add(folder);
  }

  async #isThere(folder: string): Promise<boolean> {
    return (await unlessAbsent(this.#parts.fileSystem.lstat(folder))) !== undefined;
  }

  /** Removes what a process that died while it wrote left behind: whoever writes here now is the task's owner. */
  async #sweep(folder: string): Promise<void> {
    const { fileSystem } = this.#parts;
    for (const name of await fileSystem.readdir(folder))
      if (isTempName(name)) await unlessAbsent(fileSystem.unlink(join(folder, name)));
  }

  async #replace(target: string, { sha256, pieces }: FileContent): Promise<void> {
    const { fileSystem, random } = this.#parts;
    const temporary = join(dirname(target), createTempName(random));
    const handle = await fileSystem.open(temporary, "create");
    const sum = createHash("sha256");
    try {
      for await (const piece of pieces()) {
        sum.update(piece);
        for (let rest = piece; rest.length > 0;) rest = rest.subarray(await handle.write(rest));
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    try {
      if (sum.digest("hex") !== sha256)
        throw new SplashdownError("STORE_FAILED", `${target} was to hold something else`, { details: { target } });
      await fileSystem.rename(temporary, target);
    } catch (error) {
      await fileSystem.unlink(temporary).catch(() => undefined);
      throw error;
    }
  }
}

async function unlessAbsent<T>(act: Promise<T>): Promise<T | undefined> {
  try {
    return await act;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
