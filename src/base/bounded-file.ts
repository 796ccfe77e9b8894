/**
 * Reads a file that a person or a folder names, never more of it than is wanted: its size is judged before a byte is read,
 * and what has no size (a pipe, a device) is left at the limit.
 */
import { constants, fstat, open as openDescriptor, read as readDescriptor, close as closeDescriptor } from "node:fs";
import { promisify } from "node:util";
import { SplashdownError } from "./errors.js";

const open = promisify(openDescriptor);
const stat = promisify(fstat);
const close = promisify(closeDescriptor);
const PIECE_BYTES = 1024 * 1024;

/** Whether what is no regular file may be read: a pipe that a person names as an argument. */
export interface BoundedReading {
  readonly sizeBytesMax: number;
  readonly mayBePipe?: boolean;
}

/**
 * The whole file.
 *
 * Errors: VALUE_TOO_LARGE over the limit; STORE_UNSAFE for what is no regular file where that is demanded; Node's own.
 */
export async function readBoundedFile(
  path: string,
  { sizeBytesMax, mayBePipe = false }: BoundedReading,
): Promise<Buffer> {
  // Without it the opening of a pipe that nobody writes to would wait for ever.
  const descriptor = await open(path, constants.O_RDONLY | (mayBePipe ? 0 : (constants.O_NONBLOCK ?? 0)));
  try {
    const stats = await stat(descriptor);
    if (stats.isDirectory()) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
    if (!stats.isFile() && !mayBePipe)
      throw new SplashdownError("STORE_UNSAFE", `${path} is not a regular file`, { details: { path } });
    if (stats.isFile() && stats.size > sizeBytesMax) throw tooLarge(path, sizeBytesMax);
    return await readUpTo(descriptor, path, sizeBytesMax);
  } finally {
    await close(descriptor);
  }
}

async function readUpTo(descriptor: number, path: string, sizeBytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const piece = await readPiece(descriptor, Math.min(PIECE_BYTES, sizeBytesMax + 1 - size));
    if (piece.length === 0) return Buffer.concat(pieces);
    pieces.push(piece);
    size += piece.length;
    if (size > sizeBytesMax) throw tooLarge(path, sizeBytesMax);
  }
}

function readPiece(descriptor: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  return new Promise((resolve, reject) => {
    readDescriptor(descriptor, buffer, 0, length, null, (error, count) =>
      error === null ? resolve(buffer.subarray(0, count)) : reject(error),
    );
  });
}

function tooLarge(path: string, sizeBytesMax: number): SplashdownError {
  return new SplashdownError("VALUE_TOO_LARGE", `${path} is larger than ${sizeBytesMax} bytes`, {
    details: { path, sizeBytesMax },
  });
}
