/**
 * Owns the scratch file that lets `duplicates` resume: hashed lines are too many for a milestone.
 *
 * At each milestone the lines hashed since the last one are appended to a file in the system's temporary folder; the
 * milestone holds its name, its length and a digest. Hashes cannot be turned back into lines. The folder is private
 * and removed at the end; after a crash without resume it stays until the system clears its temporary folder.
 *
 * L1: a spool that is missing, shorter, or does not fit its digest is not used: the search begins afresh.
 */
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Buffer } from "node:buffer";
import { createCloneIndex, reserve } from "./clone-index.mjs";

const FOLDER_PREFIX = "splashdown-code-audit-";
const SPOOL_BYTES_MAX = 256 * 1024 * 1024;

/** Appends what is new in `index` to the spool; answers what a milestone must hold, or `undefined` if it cannot be written. */
export function saveToSpool(spool, index) {
  try {
    spool.file ??= join(mkdtempSync(join(tmpdir(), FOLDER_PREFIX)), "lines");
    const files = index.files.slice(spool.files);
    const header = Buffer.from(`${JSON.stringify({ lines: index.length - spool.lines, files })}\n`, "utf8");
    const part = Buffer.concat([
      header,
      bytesOf(index.hashes, spool.lines, index.length),
      bytesOf(index.numbers, spool.lines, index.length),
    ]);
    appendFileSync(spool.file, part, { mode: 0o600 });
    spool.bytes += part.length;
    spool.digest = createHash("sha256").update(spool.digest).update(part).digest("hex");
    spool.files = index.files.length;
    spool.lines = index.length;
    return { ...spool };
  } catch {
    return undefined;
  }
}

/** A spool that does not exist yet. */
export function createSpool() {
  return { file: undefined, bytes: 0, digest: "", files: 0, lines: 0 };
}

/** Reads an index back; `undefined` when the spool is not what the milestone says (L1). */
export function restoreFromSpool(saved) {
  try {
    if (!basename(dirname(saved.file)).startsWith(FOLDER_PREFIX) || basename(saved.file) !== "lines") return undefined;
    if (saved.bytes > SPOOL_BYTES_MAX || statSync(saved.file).size < saved.bytes) return undefined;
    const index = readIndex(readFileSync(saved.file).subarray(0, saved.bytes), saved.digest);
    if (index) truncateSync(saved.file, saved.bytes);
    return index;
  } catch {
    return undefined;
  }
}

function readIndex(bytes, digestWanted) {
  const index = createCloneIndex();
  let digest = "";
  let at = 0;
  while (at < bytes.length) {
    const headerEnd = bytes.indexOf(10, at) + 1;
    const { lines, files } = JSON.parse(bytes.toString("utf8", at, headerEnd));
    const end = headerEnd + lines * 12;
    digest = createHash("sha256").update(digest).update(bytes.subarray(at, end)).digest("hex");
    reserve(index, index.length + lines);
    bytesOf(index.hashes, index.length, index.length + lines).set(bytes.subarray(headerEnd, headerEnd + lines * 8));
    bytesOf(index.numbers, index.length, index.length + lines).set(bytes.subarray(headerEnd + lines * 8, end));
    index.length += lines;
    index.files.push(...files);
    at = end;
  }
  return digest === digestWanted ? index : undefined;
}

function bytesOf(array, from, to) {
  const width = array.BYTES_PER_ELEMENT;
  return Buffer.from(array.buffer, array.byteOffset + from * width, (to - from) * width);
}

/** Removes the spool and its folder. */
export function removeSpool(spool) {
  if (spool.file !== undefined) rmSync(dirname(spool.file), { recursive: true, force: true });
}
