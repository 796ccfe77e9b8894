/** Small private files outside any task's folder: whole reads, durable writes, folders level by level. */
import { dirname, join } from "node:path";
import { errnoOf, messageOf } from "../base/errors.js";
import type { FileHandle, FileSystem } from "../base/file-system.js";

/** Why the platform refused, in one word where it has one. */
export function describeFailure(error: unknown): string {
  return errnoOf(error) ?? messageOf(error);
}

/** Bytes of one read: a file's stated size is never asked for at once. */
const READ_BYTES = 16 * 1024 * 1024;

/** The bytes of an open file; `undefined` when it is larger than allowed, before any of it is read where its size says so. */
export async function readWhole(handle: FileHandle, sizeBytesMax: number): Promise<Uint8Array | undefined> {
  if ((await handle.stat()).sizeBytes > sizeBytesMax) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await handle.read(size, Math.min(sizeBytesMax + 1 - size, READ_BYTES));
    if (chunk.length === 0) return Buffer.concat(chunks);
    chunks.push(chunk);
    size += chunk.length;
    if (size > sizeBytesMax) return undefined;
  }
}

/** Creates a file exclusively and makes its content durable; on failure nothing of it stays, if that is possible. */
export async function writeWhole(
  fileSystem: FileSystem,
  path: string,
  content: Uint8Array | { readonly bytes: Uint8Array; readonly isSynced: boolean },
): Promise<void> {
  const { bytes, isSynced } = content instanceof Uint8Array ? { bytes: content, isSynced: true } : content;
  const handle = await fileSystem.open(path, "create");
  try {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(await handle.write(rest));
    if (isSynced) await handle.sync();
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => undefined);
    await fileSystem.unlink(path).catch(() => undefined);
    throw error;
  }
}

/** Makes a folder and what is missing above it, each 0700 and durable in its parent. */
export async function createFolders(fileSystem: FileSystem, path: string): Promise<void> {
  const parent = dirname(path);
  try {
    await fileSystem.mkdir(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return;
    if (errno !== "ENOENT" || parent === path) throw error;
    await createFolders(fileSystem, parent);
    await createFolders(fileSystem, path);
    return;
  }
  await fileSystem.syncFolder(parent);
}

/** Replaces a file at once: temporary name, sync, rename, folder sync. Without syncs it is whole, and perhaps not durable. */
export async function replaceWhole(
  fileSystem: FileSystem,
  path: string,
  file: { readonly bytes: Uint8Array; readonly suffix: string; readonly isSynced?: boolean },
): Promise<void> {
  const { isSynced = true } = file;
  const temporary = join(dirname(path), `.${file.suffix}.tmp`);
  await writeWhole(fileSystem, temporary, { bytes: file.bytes, isSynced });
  try {
    await fileSystem.rename(temporary, path);
  } catch (error) {
    await fileSystem.unlink(temporary).catch(() => undefined);
    throw error;
  }
  if (isSynced) await fileSystem.syncFolder(dirname(path));
}
