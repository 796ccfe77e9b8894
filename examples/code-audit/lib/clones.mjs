/**
 * The search for duplicated blocks, over hashed lines of all files that stand one after another (12 bytes a line).
 *
 * A line counts when it is code with at least three letters or digits, and no import; it is compared with white space collapsed. A
 * window of WINDOW lines that occurred before begins a block, which grows as long as both places agree.
 *
 * D1: a block has at least WINDOW lines and never overlaps itself.
 * D2: every line is counted as duplicated at most once, and never at its first occurrence.
 * D3: a file with the same lines as an earlier one is reported as such and not again as blocks.
 */
import { createHash } from "node:crypto";
import { countLines } from "./measure.mjs";

export const WINDOW = 6;
const LINES_MAX = 8_000_000;
const LINE_LENGTH_MAX = 2000;
const IMPORT =
  /^(?:import\b|export\s+(?:\*|\{[^}]*\}|type\s+\{[^}]*\})\s+from\b|from\s+\S+\s+import\b|#\s*include\b|using\s+[\w.]+;|use\s+[\w:\\{},\s*]+;|require(?:_once|_relative)?\b|(?:const|var|let)\s+[\w${},\s:]+=\s*require\()/;

/** The lines of an open file that are compared: `[{text, number}]`. */
export function meaningfulLines(file) {
  const lines = [];
  countLines(file, ({ kind }, line, number) => {
    const text = line.slice(0, LINE_LENGTH_MAX).trim().replace(/\s+/g, " ");
    if (kind === "code" && /\w.*\w.*\w/.test(text) && !IMPORT.test(text)) lines.push({ text, number });
  });
  return lines;
}

/** An empty store of lines. */
export function createIndex() {
  return { hashes: new Float64Array(65_536), numbers: new Uint32Array(65_536), length: 0, files: [] };
}

/** Appends the lines of one file; false when the store is full and the file was left out. */
export function appendFile(index, path, lines) {
  const start = index.length;
  const end = start + lines.length;
  if (end > LINES_MAX) return false;
  if (end > index.hashes.length) {
    const grow = (array) => {
      const larger = new array.constructor(Math.max(end, array.length * 2));
      larger.set(array);
      return larger;
    };
    Object.assign(index, { hashes: grow(index.hashes), numbers: grow(index.numbers) });
  }
  lines.forEach(({ text, number }, at) => {
    index.hashes[start + at] = hashLine(text);
    index.numbers[start + at] = number;
  });
  index.length = end;
  index.files.push({ path, start, end });
  return true;
}

/** 53 bits, exact in a double: equal lines have equal hashes, unequal ones all but certainly not. */
function hashLine(text) {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995) ^ (high >>> 13);
  }
  low ^= low >>> 15;
  high ^= high >>> 16;
  return (high >>> 11) * 4294967296 + (low >>> 0);
}

/**
 * Finds all duplicates: `{duplicatedLines, blocks, identical}`. A block is `{start, length, copies: [start…]}` in indexes of lines,
 * a group of files with the same lines `[file…]` of `index.files`, the first one first.
 */
export function findClones(index) {
  const search = { index, findOrAdd: createTable(index), blocks: new Map() };
  const byDigest = new Map();
  let duplicatedLines = 0;
  for (const file of index.files) {
    const { start, end } = file;
    if (end - start < WINDOW) continue;
    const lines = index.hashes.subarray(start, end);
    const digest = createHash("sha256")
      .update(new Uint8Array(lines.buffer, lines.byteOffset, lines.byteLength))
      .digest("hex");
    const twins = byDigest.get(digest);
    if (twins === undefined) {
      byDigest.set(digest, [file]);
      duplicatedLines += matchFile(search, file);
    } else {
      twins.push(file);
      duplicatedLines += end - start;
    }
  }
  const identical = [...byDigest.values()].filter((files) => files.length > 1);
  return { duplicatedLines, blocks: [...search.blocks.values()], identical };
}

/** For how many lines two places agree, at most `limit`. */
function agreeFor({ hashes }, [left, right], limit) {
  let length = 0;
  while (length < limit && hashes[left + length] === hashes[right + length]) length++;
  return length;
}

function matchFile({ index, findOrAdd, blocks }, file) {
  let duplicated = 0;
  let at = file.start;
  while (at + WINDOW <= file.end) {
    const earlier = findOrAdd(at);
    const other = earlier < 0 ? undefined : fileAt(index, earlier);
    const room = other === file ? at - earlier : (other?.end ?? 0) - earlier;
    const length = other ? agreeFor(index, [earlier, at], Math.min(file.end - at, room)) : 0;
    if (length < WINDOW) {
      at++;
      continue;
    }
    for (let inner = at + 1; inner < at + length && inner + WINDOW <= file.end; inner++) findOrAdd(inner);
    const key = `${earlier}:${length}`;
    if (!blocks.has(key)) blocks.set(key, { start: earlier, length, copies: [] });
    blocks.get(key).copies.push(at);
    duplicated += length;
    at += length;
  }
  return duplicated;
}

/** The file that holds a line. */
export function fileAt({ files }, line) {
  let low = 0;
  let high = files.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (files[middle].start <= line) low = middle;
    else high = middle - 1;
  }
  return files[low];
}

/** A table of windows with open addressing: the answer is the first place of an equal window, or -1. */
function createTable(index) {
  const size = 2 ** Math.max(10, Math.ceil(Math.log2(index.length * 2 + 1)));
  const slots = new Int32Array(size);
  const { hashes } = index;
  return (start) => {
    let key = 0;
    for (let at = start; at < start + WINDOW; at++) key = (Math.imul(key, 0x01000193) ^ (hashes[at] % 4294967296)) | 0;
    key ^= key >>> 15;
    for (let slot = key & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const held = slots[slot] - 1;
      if (held < 0) {
        slots[slot] = start + 1;
        return -1;
      }
      if (agreeFor(index, [held, start], WINDOW) === WINDOW) return held;
    }
  };
}
