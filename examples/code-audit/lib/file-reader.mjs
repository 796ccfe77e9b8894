/**
 * Owns reading: one bounded buffer, whatever the size of the file.
 *
 * F1: only regular files are opened, without following links and without ever waiting for a FIFO.
 * F2: no more than one MiB of a file is in memory at a time, besides its longest line (cut at LINE_BYTES_MAX).
 * F3: a file that cannot be read is a value with the reason, never an exception.
 * F4: the file is read as long as it was when it was opened, so that a growing file ends.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { Buffer } from "node:buffer";
import { absolutePath } from "./byte-paths.mjs";
import { classifyFile, decodeWide, FULL_READ_BYTES_MAX } from "./file-kinds.mjs";

const CHUNK_BYTES = 1024 * 1024;
const OVERLAP_BYTES = 512;
const SAFE_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const sharedChunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);

/**
 * Opens one file, classifies it and hands it to `use` while it is open.
 *
 * Shape: `use` gets `{...classification, path, sizeBytes, head, chunks}`. `head` is only valid until `chunks` is read.
 * `chunks()` yields `{text, line}` once: whole lines as latin1 text of at most about 1 MiB, and the number of their first.
 * Errors: none; an unreadable file has class `unreadable` and the reason.
 */
export function inspectFile(root, file, use) {
  if (file.error) return use(unreadable(file, `status cannot be read: ${file.error}`));
  let descriptor;
  try {
    descriptor = openSync(absolutePath(root, file.path), SAFE_FLAGS);
  } catch (error) {
    return use(unreadable(file, `cannot be opened: ${error.code ?? error.message}`));
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) return use(unreadable(file, "is no longer a regular file"));
    const head = readHead(descriptor, status.size);
    if (typeof head === "string") return use(unreadable(file, `cannot be read: ${head}`));
    const opened = { ...file, sizeBytes: status.size };
    const found = classifyFile(opened, head);
    return use({
      ...opened,
      ...found,
      head,
      chunks: () => readChunks({ descriptor, head, sizeBytes: status.size, encoding: found.encoding }),
    });
  } finally {
    closeSync(descriptor);
  }
}

function unreadable(file, reason) {
  return {
    ...file,
    class: "unreadable",
    reason,
    language: undefined,
    encoding: "",
    isUndecodable: false,
    isVeryLarge: false,
    head: Buffer.alloc(0),
    chunks: () => [],
  };
}

function readHead(descriptor, sizeBytes) {
  try {
    const count = fill(descriptor, { bytes: sharedChunk, from: 0, position: 0, end: Math.min(sizeBytes, CHUNK_BYTES) });
    return sharedChunk.subarray(0, count);
  } catch (error) {
    return error.code ?? error.message;
  }
}

function fill(descriptor, { bytes, from, position, end }) {
  let at = from;
  while (at < end) {
    const count = readSync(descriptor, bytes, at, end - at, position + at - from);
    if (count === 0) break;
    at += count;
  }
  return at;
}

/**
 * Yields the text of an open file in pieces that end at line ends.
 *
 * A line longer than a chunk is cut; the pieces overlap by OVERLAP_BYTES so that a token at the cut is seen whole once,
 * and such a piece carries `isContinuation`.
 */
function* readChunks({ descriptor, head, sizeBytes, encoding }) {
  if (encoding.startsWith("utf-16")) {
    yield* readWide({ descriptor, sizeBytes, encoding });
    return;
  }
  const end = Math.min(sizeBytes, FULL_READ_BYTES_MAX);
  let held = head.length;
  let position = held;
  let line = 1;
  let isContinuation = false;
  for (;;) {
    const isLast = held < CHUNK_BYTES || position >= end;
    const lineEnd = isLast ? held : sharedChunk.lastIndexOf(10, held - 1) + 1;
    const cut = lineEnd > 0 ? lineEnd : held;
    const text = sharedChunk.latin1Slice(0, cut);
    if (text.length > 0) yield { text, line, isContinuation };
    if (isLast) return;
    line += countIn(text);
    isContinuation = lineEnd <= 0;
    const keepFrom = isContinuation ? cut - OVERLAP_BYTES : cut;
    sharedChunk.copyWithin(0, keepFrom, held);
    held -= keepFrom;
    const wanted = Math.min(CHUNK_BYTES, held + (end - position));
    const filled = fill(descriptor, { bytes: sharedChunk, from: held, position, end: wanted });
    position += filled - held;
    if (filled < wanted) position = end;
    held = filled;
  }
}

function countIn(text) {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** UTF-16 text is rare and small: up to 8 MiB are decoded at once, the rest is left out. */
function* readWide({ descriptor, sizeBytes, encoding }) {
  const bytes = Buffer.allocUnsafe(Math.min(sizeBytes, 8 * CHUNK_BYTES));
  const count = fill(descriptor, { bytes, from: 0, position: 0, end: bytes.length });
  yield { text: decodeWide(bytes.subarray(0, count), encoding).toString("latin1"), line: 1, isContinuation: false };
}

/**
 * Calls `visit(text, number, isContinuation)` for every line of a file, without its line end.
 *
 * Shape: lines longer than a chunk arrive in pieces with the same number; all but the first are continuations.
 */
export function forEachLine(file, visit) {
  for (const chunk of file.chunks()) {
    const { text } = chunk;
    let number = chunk.line;
    let isContinuation = chunk.isContinuation;
    let from = 0;
    while (from < text.length) {
      const found = text.indexOf("\n", from);
      const end = found < 0 ? text.length : found;
      const stop = end > from && text.charCodeAt(end - 1) === 13 ? end - 1 : end;
      visit(text.slice(from, stop), number++, isContinuation);
      isContinuation = false;
      from = end + 1;
    }
  }
}

/** Reads a small file whole as UTF-8 text; `{error}` when it cannot be read or is larger than `sizeBytesMax`. */
export function readSmallText(root, path, sizeBytesMax) {
  let descriptor;
  try {
    descriptor = openSync(absolutePath(root, path), SAFE_FLAGS);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return { error: "is no regular file" };
    if (status.size > sizeBytesMax) return { error: `larger than ${sizeBytesMax} bytes` };
    const bytes = Buffer.allocUnsafe(status.size);
    const count = fill(descriptor, { bytes, from: 0, position: 0, end: bytes.length });
    return { text: bytes.toString("utf8", 0, count).replace(/^\ufeff/, "") };
  } catch (error) {
    return { error: error.code ?? error.message };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
