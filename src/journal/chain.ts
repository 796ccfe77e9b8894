/**
 * Which segments, and how much of each, are the history of a task.
 *
 * The walk begins at the highest segment with a durable header and follows `prev` back (J3). A header that does not fit
 * its hash is used when its seal fits all the same (J15); without encryption, when a `prev` that names a record which is
 * there with that very hash proves it. A link that cannot be followed is a gap, and the walk goes on at the next lower
 * segment as a guess: what it holds may be replayed only once somebody accepted the loss.
 * A header that fits its hash and is not sealed claims its epoch and is no part of the history; it is named as damage.
 * A whole segment ends the walk (J14): those below it are neither links nor orphans. One that looks torn although nothing
 * else is left, or although a later segment continues it, has lost its end.
 */
import { encodeBase64Url } from "../base/digest.js";
import { SplashdownError } from "../base/errors.js";
import type { SegmentId } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { continuedBy } from "./segment-header.js";
import { isSealed, nameOf, openSegmentRecords, type SegmentRecords } from "./segment-records.js";
import type { SegmentScan } from "./segment-scan.js";
import type { ScannedLine } from "./scanned-line.js";

export interface ChainLink {
  readonly segment: SegmentRecords;
  /** The last record of it that counts, as the segment after states; absent for the head and after a guess. */
  readonly cut: JournalPosition | undefined;
}

/** A broken place of the chain. `from` is unknown where the end before it is the only bound. */
export interface ChainBreak {
  readonly segment: string;
  readonly what: "header" | "missing" | "unsealed";
}

export interface Chain {
  /** Newest first. */
  readonly links: readonly ChainLink[];
  readonly breaks: readonly ChainBreak[];
  /** Segments above the head whose headers are damaged: what they held is lost. */
  readonly adrift: readonly SegmentScan[];
  /** Segments with a usable header that are no link. */
  readonly offChain: readonly SegmentRecords[];
  /** Whole segments whose writer has not put them in force (J14). */
  readonly opening: readonly SegmentId[];
}

interface Walk {
  /** Newest first. */
  readonly opened: readonly Opened[];
  readonly breaks: ChainBreak[];
}

type Opened = { readonly scan: SegmentScan; readonly records: SegmentRecords | undefined };

/**
 * Walks the chain.
 *
 * Shape: `scans` in any order; torn and absent headers are passed over.
 * Errors: those of `openSegmentRecords`; JOURNAL_TAMPERED when an intact segment is not the one a later header continues.
 */
export function walkChain(scans: readonly SegmentScan[], vault: TaskVault): Chain {
  const { opened, unsealed } = openAll(scans, vault);
  const head = opened.findIndex((item) => item.records !== undefined);
  const adrift = (head < 0 ? opened : opened.slice(0, head)).map((item) => item.scan);
  const breaks: ChainBreak[] = [
    ...unsealed.map((scan) => ({ segment: nameOf(scan.id), what: "unsealed" as const })),
    ...adrift.map((scan) => ({ segment: nameOf(scan.id), what: "header" as const })),
  ];
  const links: ChainLink[] = [];
  let at = head < 0 ? opened.length : head;
  let cut: JournalPosition | undefined;
  while (at < opened.length) {
    const records = opened[at]?.records;
    if (records === undefined) break;
    links.push({ segment: records, cut });
    cut = continuedBy(records.header);
    if (cut === undefined) break;
    const next = findLink({ opened, breaks }, at, cut);
    if (next.isGuess) cut = undefined;
    at = next.at;
  }
  const opening = scans.flatMap((scan) => (scan.opening === undefined ? [] : [scan.id]));
  return { links, breaks, adrift, offChain: listOffChain(opened, links), opening };
}

function listOffChain(opened: readonly Opened[], links: readonly ChainLink[]): SegmentRecords[] {
  const linked = new Set(links.map((link) => link.segment));
  const oldest = links.at(-1)?.segment;
  const begin = oldest?.header.isWhole === true ? oldest.id : undefined;
  return opened.flatMap(({ scan, records }) => {
    if (records === undefined || linked.has(records)) return [];
    return begin !== undefined && compareSegments(scan.id, begin) < 0 ? [] : [records];
  });
}

/** Newest first; what was only claimed is left out. `unsealed`: claimed by a header that is not sealed. */
function openAll(
  scans: readonly SegmentScan[],
  vault: TaskVault,
): { readonly opened: Opened[]; readonly unsealed: readonly SegmentScan[] } {
  const sound = scans.filter((scan) => scan.header.state === "good" || scan.header.state === "damaged");
  const durable = [...sound, ...findNeeded(scans, sound, vault)];
  durable.sort((first, second) => compareSegments(first.id, second.id));
  const lower: Opened[] = [];
  const unsealed: SegmentScan[] = [];
  for (const scan of durable) {
    const records = openOne(scan, vault, lower);
    if (records === undefined && scan.header.state === "good") unsealed.push(scan);
    else lower.push({ scan, records });
  }
  return { opened: lower.reverse(), unsealed };
}

export function compareSegments(first: SegmentId, second: SegmentId): number {
  return first.epoch - second.epoch || first.index - second.index;
}

/** Whole segments that look torn and were not: nothing lies below them, or a later one continues them. */
function findNeeded(
  scans: readonly SegmentScan[],
  sound: readonly SegmentScan[],
  vault: TaskVault,
): readonly SegmentScan[] {
  if (scans.every(({ opening }) => opening === undefined)) return [];
  return chooseNeeded(
    scans,
    sound.filter(({ header }) => "read" in header && header.read !== undefined && isSealed(header.read, vault)),
  );
}

function chooseNeeded(scans: readonly SegmentScan[], sound: readonly SegmentScan[]): SegmentScan[] {
  return scans.flatMap(({ id, opening }) => {
    if (opening === undefined) return [];
    const isNeeded =
      !sound.some((other) => compareSegments(other.id, id) < 0) || sound.some((other) => isContinuing(other, id));
    return isNeeded ? [opening] : [];
  });
}

function isContinuing({ header }: SegmentScan, id: SegmentId): boolean {
  const prev = "read" in header ? header.read?.header.prev : undefined;
  return prev !== undefined && isAt(id, prev);
}

function openOne(scan: SegmentScan, vault: TaskVault, lower: readonly Opened[]): SegmentRecords | undefined {
  const { header } = scan;
  if (header.state === "good") return openSegmentRecords(scan, header.read, vault);
  if (header.state !== "damaged" || header.read === undefined) return undefined;
  const { prev, isWhole, seal } = header.read.header;
  const hasSealKey = seal.key !== undefined;
  if (!hasSealKey && !isProvenPrev(prev, lower) && !(isWhole === true && lower.length === 0)) return undefined;
  try {
    return openSegmentRecords(scan, header.read, vault);
  } catch {
    return undefined;
  }
}

function isProvenPrev(prev: JournalPosition | undefined, lower: readonly Opened[]): boolean {
  if (prev === undefined) return lower.every(({ records }) => records !== undefined && records.records.length === 0);
  const target = lower.find(({ scan }) => isAt(scan.id, prev))?.records;
  return target !== undefined && statesHash(target, prev) === true;
}

function isAt(id: SegmentId, position: JournalPosition): boolean {
  return id.epoch === position.epoch && id.index === position.index;
}

/** Whether the segment's record of that number has that hash; `undefined` when the record cannot be read. */
export function statesHash(segment: SegmentRecords, position: JournalPosition): boolean | undefined {
  const { lines, goodCount } = segment.scan;
  // Numbers of intact lines follow each other: most questions are answered by one look.
  const at = position.n - (lines[0]?.n ?? 0);
  const expected = at < goodCount ? lines[at] : undefined;
  if (expected?.n === position.n && states(expected, position.h)) return true;
  const candidates = lines.filter((line) => line.n === position.n);
  return candidates.length === 0 ? undefined : candidates.some((line) => states(line, position.h));
}

function states(line: ScannedLine, hash: string): boolean {
  return line.hashes.some((candidate) => encodeBase64Url(candidate) === hash);
}

/** Where the walk goes on from a segment that continues `prev`: there, or at a guess, which is noted as a break. */
function findLink(walk: Walk, from: number, prev: JournalPosition): { at: number; isGuess: boolean } {
  const { opened, breaks } = walk;
  const at = opened.findIndex(({ scan }, place) => place > from && isAt(scan.id, prev));
  const target = opened[at];
  if (target?.records !== undefined) {
    requireContinued(target.records, prev);
    return { at, isGuess: false };
  }
  breaks.push({ segment: nameOf(prev), what: target === undefined ? "missing" : "header" });
  const next = opened.findIndex(({ scan, records }) => records !== undefined && isBefore(scan.id, prev));
  return { at: next < 0 ? opened.length : next, isGuess: true };
}

function isBefore(id: SegmentId, position: JournalPosition): boolean {
  return id.epoch < position.epoch || (id.epoch === position.epoch && id.index < position.index);
}

function requireContinued(segment: SegmentRecords, prev: JournalPosition): void {
  if (statesHash(segment, prev) !== false || !segment.records.some((record) => record.n === prev.n)) return;
  throw new SplashdownError(
    "JOURNAL_TAMPERED",
    `segment ${nameOf(segment.id)} is not the one that a later segment continues`,
    {
      details: { segment: nameOf(segment.id), n: prev.n },
    },
  );
}
