/**
 * A child's input as a nameless file in memory.
 *
 * Node's own pipes are sockets: a child cannot open its /dev/stdin again (ENXIO), as many small programs do, and bash
 * takes a socket for a remote login and reads ~/.bashrc. A file has neither fault. It loses its name before it gets its
 * content, so nothing of it outlives the child that reads it, and it lies in memory. Where there is no such folder, or no
 * room, a pipe does.
 */
import { closeSync, constants, openSync, unlinkSync, writeSync } from "node:fs";
import { LIMITS } from "../base/limits.js";

const MEMORY_FOLDER = "/dev/shm";
const TRIES = 3;
let count = 0;

/** A descriptor that reads the bytes from the start; the caller closes it. `undefined`: use a pipe. */
export function openInputFile(bytes: Uint8Array): number | undefined {
  if (bytes.length > LIMITS.inputFileBytesMax) return undefined;
  const descriptor = openNameless();
  if (descriptor === undefined) return undefined;
  try {
    // Written by position, which leaves the place of reading at the start.
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done, bytes.length - done, done);
    return descriptor;
  } catch {
    closeSync(descriptor);
    return undefined;
  }
}

function openNameless(): number | undefined {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    count += 1;
    const file = `${MEMORY_FOLDER}/splashdown-${process.pid}-${count}`;
    try {
      const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
      unlinkSync(file);
      return descriptor;
    } catch {
      // Taken by an earlier process of this number, or there is no such folder.
    }
  }
  return undefined;
}
