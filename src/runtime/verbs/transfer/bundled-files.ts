/**
 * What a bundle carries beside a task's history: the files of its folder that the history does not hold as they are now.
 *
 * Deliverables are in the journal, so they come along with it. What programs wrote into the folder by themselves, and what
 * a person changed there, is sealed with the task's key as a blob is, file by file, under names that tell nothing. The last
 * of them, the index, says what they are, and binds all else that is in the bundle.
 *
 * T5: a bundle is one export: a file of another one, of the same task too, is not taken for one of it.
 * Source: DESIGN section 7 (a task's folder, large values).
 */
import { join } from "node:path";
import { sha256Hex } from "../../../base/digest.js";
import { isErrorCode, SplashdownError } from "../../../base/errors.js";
import type { FileSystem } from "../../../base/file-system.js";
import { isJsonObject, type JsonValue } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import {
  BLOB_HEADER_BYTES_MAX,
  computeBlobFileBytes,
  computeChunkPlace,
  countChunks,
  formatBlobHeader,
  openChunk,
  parseBlobHeader,
  sealChunk,
} from "../../../checkpoint/blobs/blob-layout.js";
import type { SavedFile } from "../../../engine/model/value-ref.js";
import { nameTaskFile, type TaskFile } from "../../../transfer/copy-task.js";
import { isFolderPath, readContent, walkFolder, type FileContent } from "../../../transfer/folder-files.js";
import type { TaskVault } from "../../../vault/contract.js";

const FOLDER = "carried/";
const INDEX = "index";

/** One of them as the index names it. */
interface Listed {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}

export interface Packing {
  readonly fileSystem: FileSystem;
  /** Of the task. */
  readonly folder: string;
  readonly vault: TaskVault;
  /** What the history holds, by path. */
  readonly deliverables: ReadonlyMap<string, SavedFile>;
  /** Without them only the index goes along. */
  readonly withFiles: boolean;
}

/** The files of a bundle: those of the task, the carried ones, the index. */
export class CarriedPack {
  /** Filled while `files` is read. */
  readonly carried: Listed[] = [];
  readonly leftOut: SkippedFile[] = [];
  readonly #packing: Packing;
  readonly #lines: string[] = [];

  constructor(packing: Packing) {
    this.#packing = packing;
  }

  /** Errors: BUNDLE_TOO_LARGE for a file that is too large to be sealed whole; those of reading. */
  async *files(ofTask: AsyncIterable<TaskFile>): AsyncGenerator<TaskFile> {
    for await (const file of ofTask) yield this.#bind(file);
    if (this.#packing.withFiles) yield* this.#carry();
    const index = { files: this.carried, others: digestOf(this.#lines) };
    yield this.#seal(INDEX, Buffer.from(JSON.stringify(index)));
  }

  async *#carry(): AsyncGenerator<TaskFile> {
    const { fileSystem, folder, deliverables } = this.#packing;
    for await (const { path, leftOut } of walkFolder(fileSystem, folder)) {
      if (leftOut !== undefined) {
        this.leftOut.push({ file: path, reason: leftOut });
        continue;
      }
      const content = await readContent(fileSystem, join(folder, path));
      if (content === undefined || deliverables.get(path)?.sha256 === content.sha256) continue;
      const bytes = await collect(path, content);
      this.carried.push({ path, size: bytes.length, sha256: sha256Hex(bytes) });
      yield this.#bind(this.#seal(nameAt(this.carried.length), bytes));
    }
  }

  #bind(file: TaskFile): TaskFile {
    this.#lines.push(lineOf(file));
    return file;
  }

  #seal(name: string, plain: Uint8Array): TaskFile {
    const { vault } = this.#packing;
    const sealer = vault.createSealer("blob");
    const line = formatBlobHeader({ taskId: vault.taskId, name, rawBytes: plain.length, seal: sealer.header });
    const chunks: Uint8Array[] = [line];
    for (let chunk = 0; chunk < countChunks(plain.length); chunk += 1) {
      const start = chunk * LIMITS.blobChunkBytes;
      chunks.push(sealChunk(sealer, line, { chunk, plain: plain.subarray(start, start + LIMITS.blobChunkBytes) }));
    }
    return { key: `${FOLDER}${name}.bin`, bytes: Buffer.concat(chunks) };
  }
}

async function collect(path: string, { sizeBytes, pieces }: FileContent): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const requireRoom = (bytes: number): void => {
    if (bytes <= LIMITS.carriedFileBytesMax) return;
    throw new SplashdownError(
      "BUNDLE_TOO_LARGE",
      `${path} is over ${LIMITS.carriedFileBytesMax} bytes, the most that a bundle carries of one file (--without-files leaves such files out)`,
      { details: { file: path, size_max: LIMITS.carriedFileBytesMax } },
    );
  };
  requireRoom(sizeBytes);
  for await (const piece of pieces()) {
    parts.push(piece);
    size += piece.length;
    requireRoom(size);
  }
  return Buffer.concat(parts);
}

function nameAt(number: number): string {
  return String(number).padStart(8, "0");
}

function lineOf(file: TaskFile): string {
  return `${nameTaskFile(file)} ${sha256Hex(file.bytes)}`;
}

function digestOf(lines: readonly string[]): string {
  return sha256Hex(lines.join("\n"));
}

/** The files of a bundle that belong to the store, as they came. */
export function withoutCarried(files: readonly TaskFile[]): TaskFile[] {
  return files.filter(({ key }) => key?.startsWith(FOLDER) !== true);
}

/**
 * Opens what a bundle carries beside the history.
 *
 * Shape: contents by path. Errors: BUNDLE_CORRUPT; KEY_MISSING, KEY_WRONG, SEAL_MISSING.
 */
export function openCarried(files: readonly TaskFile[], vault: TaskVault): Map<string, Uint8Array> {
  const index = files.at(-1);
  if (index?.key !== `${FOLDER}${INDEX}.bin`) throw corrupt("it does not end with its index");
  const { listed, others } = parseIndex(unseal(vault, index, INDEX));
  if (others !== digestOf(files.slice(0, -1).map(lineOf))) throw corrupt("not all of it is of one export");
  const found = new Map<string, Uint8Array>();
  for (const [at, { path, size, sha256 }] of listed.entries()) {
    const name = nameAt(at + 1);
    const bytes = unseal(vault, requireFile(files, name), name);
    if (bytes.length !== size || sha256Hex(bytes) !== sha256) throw corrupt(`${path} is not what its index says`);
    if (!isFolderPath(path) || found.has(path))
      throw corrupt(`${JSON.stringify(path.slice(0, 100))} is no path of a task's file`);
    found.set(path, bytes);
  }
  return found;
}

function requireFile(files: readonly TaskFile[], name: string): TaskFile {
  const file = files.find(({ key }) => key === `${FOLDER}${name}.bin`);
  if (file === undefined) throw corrupt(`the carried file ${name} is missing`);
  return file;
}

function unseal(vault: TaskVault, { bytes }: TaskFile, name: string): Buffer {
  try {
    const { header, line } = parseBlobHeader(bytes.subarray(0, BLOB_HEADER_BYTES_MAX));
    const isOurs = header.taskId === vault.taskId && header.name === name;
    if (!isOurs || computeBlobFileBytes(line.length, header.rawBytes) !== bytes.length)
      throw corrupt(`the carried file ${name} is another one`);
    const opener = vault.createOpener("blob", header.seal);
    const chunks: Buffer[] = [];
    for (let chunk = 0; chunk < countChunks(header.rawBytes); chunk += 1) {
      const { offset, length } = computeChunkPlace(line.length, header.rawBytes, chunk);
      chunks.push(openChunk(opener, { header, line }, { chunk, sealed: bytes.subarray(offset, offset + length) }));
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (!isErrorCode(error, "BLOB_CORRUPT")) throw error;
    throw corrupt(`the carried file ${name} cannot be read`, error);
  }
}

function parseIndex(bytes: Buffer): { readonly listed: readonly Listed[]; readonly others: string } {
  const value = JSON.parse(bytes.toString("utf8")) as JsonValue;
  const { files, others } = isJsonObject(value) ? value : {};
  if (!Array.isArray(files) || typeof others !== "string") throw corrupt("its index is malformed");
  return { listed: (files as readonly JsonValue[]).map(readListed), others };
}

function readListed(value: JsonValue): Listed {
  const { path, size, sha256 } = isJsonObject(value) ? value : {};
  if (typeof path === "string" && typeof size === "number" && typeof sha256 === "string") return { path, size, sha256 };
  throw corrupt("its index has a malformed entry");
}

function corrupt(what: string, cause?: unknown): SplashdownError {
  return new SplashdownError("BUNDLE_CORRUPT", `the bundle is damaged: ${what}`, { cause });
}
