/**
 * The files of a task's folder beside its checkpoints: deliverables, and what programs wrote there by themselves.
 *
 * T4: no path that comes from outside leads out of the folder, into the checkpoints, or through a link.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { errnoOf } from "../base/errors.js";
import type { FileSystem } from "../base/file-system.js";
import { LIMITS } from "../base/limits.js";
import { isTempName } from "../store/files/temp-name.js";

/** In a task's folder, but the store's: its checkpoints, also when they are in the trash. */
const OF_THE_STORE = /^(?:checkpoints|trashed-.*)$/i;

/** True for a `/`-separated path that may name such a file. */
export function isFolderPath(path: string): boolean {
  if (Buffer.byteLength(path) > LIMITS.folderPathBytesMax) return false;
  const parts = path.split("/");
  return parts.every(isPart) && !OF_THE_STORE.test(parts[0] ?? "") && !isTempName(parts.at(-1) ?? "");
}

function isPart(part: string): boolean {
  const isPlain = part !== "" && part !== "." && part !== ".." && !/[\\\p{Cc}]/u.test(part);
  return isPlain && Buffer.byteLength(part) <= LIMITS.folderNameBytesMax;
}

/** What was met in the folder: a file, or something that no copy can take along, with the reason. */
export interface FolderEntry {
  readonly path: string;
  readonly leftOut?: string;
}

/**
 * Everything below the folder but the store's own, in the order of names; links are named and never followed.
 *
 * Shape: nothing where there is no such folder; what goes away meanwhile is not there. Errors: as the platform gives them.
 */
export async function* walkFolder(fileSystem: FileSystem, folder: string, path = ""): AsyncGenerator<FolderEntry> {
  for (const name of await readNames(fileSystem, join(folder, path))) {
    if (isTempName(name) || (path === "" && OF_THE_STORE.test(name))) continue;
    const inner = path === "" ? name : `${path}/${name}`;
    const kind = await kindOf(fileSystem, join(folder, inner));
    if (kind === undefined) continue;
    if (!isFolderPath(inner)) yield { path: inner, leftOut: "its name cannot be carried" };
    else if (kind === "folder") yield* walkFolder(fileSystem, folder, inner);
    else if (kind === "file") yield { path: inner };
    else yield { path: inner, leftOut: kind === "link" ? "a link" : "no regular file" };
  }
}

async function readNames(fileSystem: FileSystem, folder: string): Promise<string[]> {
  if ((await kindOf(fileSystem, folder)) !== "folder") return [];
  return (await orAbsent(fileSystem.readdir(folder)))?.sort() ?? [];
}

async function kindOf(fileSystem: FileSystem, path: string): Promise<string | undefined> {
  return (await orAbsent(fileSystem.lstat(path)))?.kind;
}

async function orAbsent<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** What a file holds, or is to hold. */
export interface FileContent {
  readonly sizeBytes: number;
  /** Hex digits. */
  readonly sha256: string;
  readonly pieces: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Of bytes at hand. */
export function contentOf(bytes: Uint8Array): FileContent {
  return { sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), pieces: () => [bytes] };
}

/** Of a file, read through once; `undefined` when it is not there. Errors: as the platform gives them. */
export async function readContent(fileSystem: FileSystem, path: string): Promise<FileContent | undefined> {
  const sum = createHash("sha256");
  let sizeBytes = 0;
  try {
    for await (const piece of readPieces(fileSystem, path)) {
      sum.update(piece);
      sizeBytes += piece.length;
    }
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return { sizeBytes, sha256: sum.digest("hex"), pieces: () => readPieces(fileSystem, path) };
}

async function* readPieces(fileSystem: FileSystem, path: string): AsyncGenerator<Uint8Array> {
  const handle = await fileSystem.open(path, "read");
  try {
    for (let position = 0; ;) {
      const piece = await handle.read(position, LIMITS.folderPieceBytes);
      if (piece.length === 0) return;
      position += piece.length;
      yield piece;
    }
  } finally {
    await handle.close();
  }
}
