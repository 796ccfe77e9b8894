/**
 * Deliverables: files below the task's folder, in the clear, 0600, written whole or not at all.
 *
 * The content is durable in the journal before; writing is idempotent, so recovery writes again what a crash prevented. What
 * is there already is left alone, but its name is made durable: who wrote it may have died before that.
 * A file that cannot be written ends the run with a STORE_* code that names it.
 */
import { dirname, join, relative, sep } from "node:path";
import { sha256Hex } from "../../base/digest.js";
import { errnoOf, SplashdownError } from "../../base/errors.js";
import type { FileHandle, FileSystem } from "../../base/file-system.js";
import type { RandomSource } from "../../base/random.js";
import type { DeliverableWriter } from "../../engine/ports.js";
import { withStoreErrors } from "../../store/store-failure.js";

export interface DeliverableDeps {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
  /** Absolute folder of the task. */
  readonly folder: string;
}

export function createDeliverableWriter(deps: DeliverableDeps): DeliverableWriter {
  const settled = new Set<string>();
  const swept = new Set<string>();
  return {
    write: async (file, content) => {
      const target = join(deps.folder, file);
      if (relative(deps.folder, target).split(sep).includes("..")) {
        throw new SplashdownError("STORE_UNSAFE", `deliverable ${file} would leave the task's folder`, {
          details: { file },
        });
      }
      const bytes = Buffer.from(content, "utf8");
      await withStoreErrors({ action: "writing the deliverable", path: target }, async () => {
        const folder = dirname(target);
        const isEqual = await isEqualFile(deps.fileSystem, target, bytes);
        await ensureFolder({ fileSystem: deps.fileSystem, root: deps.folder, settled }, folder);
        if (!swept.has(folder)) await sweep(deps.fileSystem, folder);
        swept.add(folder);
        if (!isEqual) await replaceFile(deps, target, bytes);
        await deps.fileSystem.syncFolder(folder);
      });
    },
  };
}

async function isEqualFile(fileSystem: FileSystem, path: string, bytes: Uint8Array): Promise<boolean> {
  let handle: FileHandle;
  try {
    handle = await fileSystem.open(path, "read");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
  try {
    const { sizeBytes } = await handle.stat();
    if (sizeBytes !== bytes.length) return false;
    return sha256Hex(await readAll(handle, sizeBytes)) === sha256Hex(bytes);
  } finally {
    await handle.close();
  }
}

async function readAll(handle: FileHandle, sizeBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let position = 0;
  while (position < sizeBytes) {
    const part = await handle.read(position, sizeBytes - position);
    if (part.length === 0) break;
    parts.push(part);
    position += part.length;
  }
  return Buffer.concat(parts);
}

interface FolderPlace {
  readonly fileSystem: FileSystem;
  readonly root: string;
  /** Folders whose names this process has made durable. */
  readonly settled: Set<string>;
}

async function ensureFolder(place: FolderPlace, folder: string): Promise<void> {
  const { fileSystem, root, settled } = place;
  const isInside = folder.length > root.length;
  // A store in memory has no folder before the first file.
  if (settled.has(folder) || (!isInside && (await isThere(fileSystem, folder)))) return;
  await ensureFolder(place, dirname(folder));
  try {
    await fileSystem.mkdir(folder);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    const stat = await fileSystem.lstat(folder);
    if (stat.kind !== "folder")
      throw new SplashdownError("STORE_UNSAFE", `${folder} is not a folder`, { details: { folder } });
  }
  await fileSystem.syncFolder(dirname(folder));
  settled.add(folder);
}

async function isThere(fileSystem: FileSystem, path: string): Promise<boolean> {
  try {
    await fileSystem.lstat(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;

/** Removes what a process that died while it wrote left behind: whoever writes here now is the task's owner. */
async function sweep(fileSystem: FileSystem, folder: string): Promise<void> {
  for (const name of await fileSystem.readdir(folder)) {
    if (!TEMPORARY.test(name)) continue;
    await fileSystem.unlink(join(folder, name)).catch((error: unknown) => {
      if (errnoOf(error) !== "ENOENT") throw error;
    });
  }
}

async function replaceFile(deps: DeliverableDeps, target: string, bytes: Uint8Array): Promise<void> {
  const { fileSystem } = deps;
  const temporary = join(dirname(target), `.${Buffer.from(deps.random.bytes(8)).toString("hex")}.tmp`);
  const handle = await fileSystem.open(temporary, "create");
  try {
    let written = 0;
    while (written < bytes.length) written += await handle.write(bytes.subarray(written));
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await fileSystem.rename(temporary, target);
  } catch (error) {
    await fileSystem.unlink(temporary).catch(() => undefined);
    throw error;
  }
}
