/** Creates a file for a person, outside any task: written whole under another name first, never over something. */
import { dirname, join } from "node:path";
import { errnoOf, messageOf, SplashdownError } from "../../../base/errors.js";
import type { FileHandle, FileSystem } from "../../../base/file-system.js";
import type { RandomSource } from "../../../base/random.js";

interface FileParts {
  readonly fileSystem: FileSystem;
  readonly random: RandomSource;
}

/**
 * Shape: the length of the file, which is durable on return; on any failure nothing of it stays.
 *
 * Errors: USAGE_INVALID when there is a file of that name; STORE_UNWRITABLE; those of the pieces.
 */
export async function createFile(
  { fileSystem, random }: FileParts,
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  const folder = dirname(path);
  const temporary = join(folder, `.${Buffer.from(random.bytes(8)).toString("hex")}.tmp`);
  const handle = await fileSystem.open(temporary, "create").catch(unwritable(path));
  try {
    const size = await writePieces(handle, path, pieces);
    await handle.sync().catch(unwritable(path));
    await fileSystem.link(temporary, path).catch(unwritable(path));
    await fileSystem.syncFolder(folder).catch(unwritable(path));
    return size;
  } finally {
    await handle.close().catch(() => undefined);
    await fileSystem.unlink(temporary).catch(() => undefined);
  }
}

async function writePieces(
  handle: FileHandle,
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  let size = 0;
  for await (const piece of pieces) {
    for (let rest = piece; rest.length > 0;) rest = rest.subarray(await handle.write(rest).catch(unwritable(path)));
    size += piece.length;
  }
  return size;
}

function unwritable(path: string): (error: unknown) => never {
  return (error) => {
    if (errnoOf(error) === "EEXIST")
      throw new SplashdownError("USAGE_INVALID", `there is a file ${path} already; choose another name`, {
        cause: error,
      });
    if (errnoOf(error) === "ENOENT")
      throw new SplashdownError("USAGE_INVALID", `there is no folder ${dirname(path)} to put a file in`, {
        cause: error,
      });
    throw new SplashdownError("STORE_UNWRITABLE", `${path} cannot be written (${errnoOf(error) ?? messageOf(error)})`, {
      details: { file: path, reason: errnoOf(error) ?? null },
      cause: error,
    });
  };
}
