/**
 * Owns the search for duplicated blocks in hashed lines.
 *
 * Lines of all files stand one after another in typed arrays (12 bytes a line). Matching goes through them once, in
 * walk order: a window of WINDOW lines that occurred before begins a block, which grows as long as both places agree.
 *
 * D1: a block has at least WINDOW meaningful lines and never overlaps itself.
 * D2: every line is counted as duplicated at most once, and never at its first occurrence.
 * D3: a file equal to an earlier one is reported as such and not again as blocks.
 */

export const WINDOW = 6;
const LINES_MAX = 8_000_000;

/** An empty store of lines. */
export function createCloneIndex() {
  return { hashes: new Float64Array(65_536), numbers: new Uint32Array(65_536), length: 0, files: [] };
}

/** Appends the lines of one file; false when the store is full and the file was left out. */
export function appendFile(index, path, lines) {
  if (index.length + lines.length > LINES_MAX) return false;
  reserve(index, index.length + lines.length);
  const start = index.length;
  for (const { hash, number } of lines) {
    index.hashes[index.length] = hash;
    index.numbers[index.length++] = number;
  }
  index.files.push({ path, start, end: index.length });
  return true;
}

/** Makes room for at least `length` lines. */
export function reserve(index, length) {
  if (length <= index.hashes.length) return;
  const capacity = Math.max(length, index.hashes.length * 2);
  const hashes = new Float64Array(capacity);
  const numbers = new Uint32Array(capacity);
  hashes.set(index.hashes.subarray(0, index.length));
  numbers.set(index.numbers.subarray(0, index.length));
  index.hashes = hashes;
  index.numbers = numbers;
}

/**
 * Finds all duplicates.
 *
 * Shape: `{duplicatedLines, blocks: [{start, length, copies: [start…]}], identical: [{file, copies: [file…]}]}`;
 * positions are indexes of lines, files indexes of `index.files`.
 */
export function findClones(index) {
  const table = createTable(index);
  const byDigest = new Map();
  const blocks = new Map();
  const identical = new Map();
  let duplicatedLines = 0;
  for (let at = 0; at < index.files.length; at++) {
    const file = index.files[at];
    if (file.end - file.start < WINDOW) continue;
    const twin = findTwin(index, byDigest, at);
    if (twin === undefined) {
      duplicatedLines += matchFile(index, { table, blocks, file });
      continue;
    }
    duplicatedLines += file.end - file.start;
    const group = identical.get(twin);
    if (group) group.push(at);
    else identical.set(twin, [at]);
  }
  return {
    duplicatedLines,
    blocks: [...blocks.values()],
    identical: [...identical].map(([file, copies]) => ({ file, copies })),
  };
}

/** The earlier file with the same lines, or `undefined`; then this file is remembered. */
function findTwin(index, byDigest, at) {
  const { start, end } = index.files[at];
  let digest = end - start;
  for (let line = start; line < end; line++) digest = (Math.imul(digest, 31) + (index.hashes[line] | 0)) | 0;
  const candidates = byDigest.get(digest);
  if (candidates === undefined) {
    byDigest.set(digest, [at]);
    return undefined;
  }
  for (const candidate of candidates) {
    const earlier = index.files[candidate];
    if (
      earlier.end - earlier.start === end - start &&
      agreeFor(index, earlier.start, { start, limit: end - start }) === end - start
    )
      return candidate;
  }
  candidates.push(at);
  return undefined;
}

/** For how many lines two places agree, at most `limit`. */
function agreeFor(index, left, { start, limit }) {
  let length = 0;
  while (length < limit && index.hashes[left + length] === index.hashes[start + length]) length++;
  return length;
}

function matchFile(index, { table, blocks, file }) {
  let duplicated = 0;
  let at = file.start;
  while (at + WINDOW <= file.end) {
    const earlier = table.findOrAdd(at);
    const length = earlier < 0 ? 0 : growBlock(index, { earlier, at, file });
    if (length < WINDOW) {
      at++;
      continue;
    }
    for (let inner = at + 1; inner < at + length && inner + WINDOW <= file.end; inner++) table.findOrAdd(inner);
    addBlock(blocks, { start: earlier, length, copy: at });
    duplicated += length;
    at += length;
  }
  return duplicated;
}

function growBlock(index, { earlier, at, file }) {
  const other = index.files[fileAt(index, earlier)];
  const room = other === file ? at - earlier : other.end - earlier;
  return agreeFor(index, earlier, { start: at, limit: Math.min(file.end - at, room) });
}

function addBlock(blocks, { start, length, copy }) {
  const key = `${start}:${length}`;
  const block = blocks.get(key);
  if (block) block.copies.push(copy);
  else blocks.set(key, { start, length, copies: [copy] });
}

/** The index of the file that holds a line. */
export function fileAt(index, line) {
  let low = 0;
  let high = index.files.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (index.files[middle].start <= line) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A table of windows with open addressing; `findOrAdd` answers the first place of an equal window, or -1. */
function createTable(index) {
  let size = 1024;
  while (size < index.length * 2) size *= 2;
  const slots = new Int32Array(size);
  const { hashes } = index;
  const findOrAdd = (start) => {
    let key = 0;
    for (let at = start; at < start + WINDOW; at++) key = (Math.imul(key, 0x01000193) ^ (hashes[at] % 4294967296)) | 0;
    key ^= key >>> 15;
    for (let slot = key & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const held = slots[slot] - 1;
      if (held < 0) {
        slots[slot] = start + 1;
        return -1;
      }
      if (agreeFor(index, held, { start, limit: WINDOW }) === WINDOW) return held;
    }
  };
  return { findOrAdd };
}
