/**
 * What the bytes of one segment are, with no key: header, lines, which of them fit the hash chain, how the file ends.
 *
 * J4: a crash can only leave a torn tail: bytes without a newline, or with NULs, after the last good record. Everything
 *     else that does not fit is damage. A last line whose own hash verifies counts even without its newline; stray bytes
 *     after it make the tail damaged.
 * J5: a header without its newline and with nothing after it is torn, as if the epoch had only been claimed. The records it
 *     repeats (J13) come with it in one write, so it is torn too where they are not all there, and where NULs stand in that
 *     write and no own record follows. A whole segment (J14) is torn until an own record follows its repeated ones. Any
 *     other header that does not fit is damage, never an empty epoch.
 * A line is tried against the stated hash of the line before and against the computed one, so that damage to a stated
 * hash costs nothing. Where a newline inside was damaged, records are found again by how they begin.
 * Source: STORAGE section 1.7.
 */
import type { SegmentId } from "../store/contract/contract.js";
import { readIntactLine } from "./intact-line.js";
import {
  HASH_FIELD_BYTES,
  hashAt,
  hashLine,
  hashTextAt,
  parseHashField,
  parseRecordLine,
  type RecordLine,
} from "./record-line.js";
import { fitsOwnHash, parseSegmentHeader, type ParsedHeader } from "./segment-header.js";
import type { ScannedLine } from "./scanned-line.js";

const NEWLINE = 0x0a;
/** More bad lines in a row than this have lost the chain anyway. */
const PRIORS_MAX = 4;
/** How a record of the writer's own begins, and one that it repeats. */
const OWN_START = Buffer.from('{"n":');
const REPEATED_START = Buffer.from('{"r":');
const RECORD_END = Buffer.from('"}');

export type TailClass = "clean" | "torn" | "damaged";

export interface Defect {
  readonly line: number;
  readonly what: "header" | "hash" | "form" | "stray_bytes";
}

export interface SegmentScan {
  readonly id: SegmentId;
  readonly bytes: Buffer;
  readonly header: { readonly state: "absent" | "torn" } | ParsedHeader;
  /** Every line that has the form of a record, in file order. */
  readonly lines: readonly ScannedLine[];
  /** How many of `lines`, from the first, follow each other without a defect. */
  readonly goodCount: number;
  readonly tail: TailClass;
  /** Bytes after the last good record that are not part of it. */
  readonly droppedBytes: number;
  /** What is damaged; empty for clean and torn segments. */
  readonly defects: readonly Defect[];
  /** What `defects` would be if the torn tail were damage: its records were acknowledged after all. */
  readonly tornDefects: readonly Defect[];
  /** Of a whole segment that is torn: what it would be if nothing else were left. */
  readonly opening?: SegmentScan;
}

interface Walk {
  readonly bytes: Buffer;
  readonly lines: ScannedLine[];
  readonly defects: Defect[];
  priors: readonly Buffer[];
  goodCount: number;
  /** End of the unbroken run of good lines, its newline included. */
  goodEnd: number;
}

/**
 * Scans a segment's bytes.
 *
 * Errors: FORMAT_NOT_OURS, FORMAT_VERSION, JOURNAL_TAMPERED of its header; damage is in the answer.
 */
export function scanSegment(id: SegmentId, content: Uint8Array): SegmentScan {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const nothing = { id, bytes, lines: [], goodCount: 0, defects: [], tornDefects: [] };
  if (bytes.length === 0) return { ...nothing, header: { state: "absent" }, tail: "clean", droppedBytes: 0 };
  const newline = bytes.indexOf(NEWLINE);
  const headerEnd = newline < 0 ? bytes.length : newline;
  if (isTornHeader(bytes, newline)) {
    return { ...nothing, header: { state: "torn" }, tail: "torn", droppedBytes: bytes.length };
  }
  const header = parseSegmentHeader(bytes.subarray(0, headerEnd));
  const bodyStart = Math.min(bytes.length, headerEnd + 1);
  const walk: Walk = { bytes, lines: [], defects: [], priors: header.hashes, goodCount: 0, goodEnd: bodyStart };
  if (header.state === "damaged") walk.defects.push({ line: 1, what: "header" });
  walkLines(walk, header.state === "good" ? walkIntact(walk, headerEnd) : { start: bodyStart, line: 2 });
  const scan = concludeScan(id, header, walk);
  if (!isTornOpening(scan)) return scan;
  const torn: SegmentScan = { ...nothing, header: { state: "torn" }, tail: "torn", droppedBytes: bytes.length };
  return isWhole(scan) ? { ...torn, opening: scan } : torn;
}

/** The records repeated after the header come with it in one write: without all of them the epoch was only claimed. */
function isTornOpening(scan: SegmentScan): boolean {
  const { header, lines, goodCount, tail, bytes } = scan;
  if (header.state !== "good") return false;
  const { repeats, prev } = header.read.header;
  const lastRepeated = prev?.n ?? 0;
  if (isWhole(scan)) return !lines.some(({ n, start }) => n > lastRepeated && startsAt(bytes, start, OWN_START));
  return tail !== "damaged" && goodCount < repeats && lines.every(({ n }) => n <= lastRepeated);
}

function isWhole({ header }: SegmentScan): boolean {
  return header.state === "good" && header.read.header.isWhole === true;
}

function startsAt(bytes: Buffer, at: number, start: Buffer): boolean {
  return bytes.subarray(at, at + start.length).equals(start);
}

/** An only line that is not whole, or NULs in what can be but one write. */
function isTornHeader(bytes: Buffer, newline: number): boolean {
  if (newline < 0) return !fitsOwnHash(bytes);
  if (!bytes.includes(0)) return false;
  // What follows NULs can be the rest of the same write only as long as no own record was written.
  return bytes.indexOf(OWN_START) < 0 && !fitsOwnHash(bytes.subarray(0, newline));
}

/** Takes the whole lines that follow an intact header, up to the first that does not fit; says where that begins. */
function walkIntact(walk: Walk, headerEnd: number): { start: number; line: number } {
  const { bytes, lines } = walk;
  let prior = hashTextAt(bytes, headerEnd);
  let priorEnd = headerEnd;
  for (;;) {
    const place = { start: priorEnd + 1, end: bytes.indexOf(NEWLINE, priorEnd + 1), line: lines.length + 2, priorEnd };
    const read = place.end < 0 ? undefined : readIntactLine(bytes, place, prior);
    if (read === undefined) break;
    lines.push(read.line);
    prior = read.hash;
    priorEnd = place.end;
  }
  walk.goodCount = lines.length;
  walk.goodEnd = Math.min(bytes.length, priorEnd + 1);
  if (lines.length > 0) walk.priors = [hashAt(bytes, priorEnd)];
  return { start: walk.goodEnd, line: lines.length + 2 };
}

function walkLines(walk: Walk, from: { readonly start: number; readonly line: number }): void {
  let { start } = from;
  for (let number = from.line; start < walk.bytes.length; number += 1) {
    const newline = walk.bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? walk.bytes.length : newline;
    const parsed = parseRecordLine(walk.bytes, start, end);
    if (parsed === undefined) walkBroken(walk, { start, end, number, hasNewline: newline >= 0 });
    else takeLine(walk, parsed, { line: number, next: newline < 0 ? end : end + 1 });
    start = end + 1;
  }
}

function takeLine(walk: Walk, parsed: RecordLine, { line, next }: { line: number; next: number }): void {
  const { stated } = parsed;
  const prior = walk.priors.find((candidate) => stated?.equals(hashLine(walk.bytes, parsed, candidate)) === true);
  const hashes = prior === undefined || stated === undefined ? guessHashes(walk, parsed) : [stated];
  walk.lines.push({
    n: parsed.n,
    kind: parsed.kind,
    start: parsed.start,
    dataStart: parsed.dataStart,
    dataEnd: parsed.dataEnd,
    hashedEnd: parsed.hashedEnd,
    end: parsed.end,
    stated,
    line,
    priors: walk.priors,
    prior,
    hashes,
  });
  walk.priors = hashes;
  if (prior === undefined) walk.defects.push({ line, what: "hash" });
  else if (walk.goodCount === walk.lines.length - 1 && walk.defects.every((defect) => defect.what === "header")) {
    walk.goodCount += 1;
    walk.goodEnd = next;
  }
}

/** What the hash of a line that does not fit may be: as stated, or computed from what may stand before it. */
function guessHashes({ bytes, priors }: Walk, parsed: RecordLine): Buffer[] {
  const computed = priors.map((prior) => hashLine(bytes, parsed, prior));
  return (parsed.stated === undefined ? computed : [parsed.stated, ...computed]).slice(0, PRIORS_MAX);
}

/** Where the next record begins, from a place on; -1 when none does. */
function findStart(bytes: Buffer, from: number): number {
  const [own, repeated] = [bytes.indexOf(OWN_START, from), bytes.indexOf(REPEATED_START, from)];
  return own < 0 || repeated < 0 ? Math.max(own, repeated) : Math.min(own, repeated);
}

/** A line that has not the form: finds the records that begin in it. */
function walkBroken(walk: Walk, place: { start: number; end: number; number: number; hasNewline: boolean }): void {
  const { bytes } = walk;
  const before = walk.lines.length;
  const upToEnd = bytes.subarray(0, place.end);
  let chunkStart = findStart(upToEnd, place.start);
  while (chunkStart >= 0) {
    const following = findStart(upToEnd, chunkStart + 1);
    const chunkEnd = following < 0 ? place.end : following;
    const close = bytes.subarray(chunkStart, chunkEnd).lastIndexOf(RECORD_END);
    const parsed = close < 0 ? undefined : parseRecordLine(bytes, chunkStart, chunkStart + close + RECORD_END.length);
    if (parsed !== undefined) takeLine(walk, parsed, { line: place.number, next: parsed.end });
    chunkStart = following;
  }
  const isComplete = walk.lines.slice(before).some((line) => line.prior !== undefined);
  walk.defects.push({ line: place.number, what: isComplete ? "stray_bytes" : "form" });
  if (walk.lines.length > before) return;
  // Nothing of it can be read but, with luck, the hash it states.
  const stated = parseHashField(bytes, Math.max(place.start, place.end - HASH_FIELD_BYTES), place.end);
  walk.priors = stated === undefined ? [] : [stated];
}

function concludeScan(id: SegmentId, header: ParsedHeader, walk: Walk): SegmentScan {
  const { bytes, lines, goodCount, goodEnd } = walk;
  const rest = bytes.subarray(goodEnd);
  const shared = { id, bytes, header, lines, goodCount, droppedBytes: rest.length };
  const headerDefects = walk.defects.filter((defect) => defect.what === "header");
  if (walk.defects.length === headerDefects.length) {
    return { ...shared, tail: "clean", defects: headerDefects, tornDefects: [] };
  }
  const isStrayAfterGood = goodEnd === lines[goodCount - 1]?.end;
  const isTorn = rest.includes(0) || (!rest.includes(NEWLINE) && !isStrayAfterGood);
  if (!isTorn) return { ...shared, tail: "damaged", defects: walk.defects, tornDefects: [] };
  return { ...shared, tail: "torn", defects: headerDefects, tornDefects: walk.defects };
}
