/**
 * The history of a task as its segments tell it: what counts, what is lost, what stands off the chain.
 *
 * Owns: reading. What to do about loss, which snapshot to start from and whether to go on is recovery/'s choice.
 * J8: reading changes no byte and needs no claim; with a living writer the torn tail is its write in flight.
 * J9: records are numbered without gaps; a gap is named as lost, never bridged in silence.
 */
import { SplashdownError } from "../base/errors.js";
import type { JsonObject } from "../base/json.js";
import type { EngineEvent } from "../engine/model/events.js";
import type { SegmentId, TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import { judgeStanding, type RecordStanding, type RememberedRecord } from "./anchored.js";
import { compareSegments, statesHash, walkChain, type Chain, type ChainLink } from "./chain.js";
import type { JournalPosition } from "./position.js";
import { nameOf, type HistoryRecord, type SegmentRecords } from "./segment-records.js";
import { scanSegment, type SegmentScan, type TailClass } from "./segment-scan.js";

/** Records that were written and cannot be read. Shape: both ends included; no `to`: nobody can say how many. */
export interface LostRange {
  readonly from: number;
  readonly to: number | undefined;
}

export interface Damage {
  readonly segment: string;
  /** Of the file, from 1; absent for a segment that is not there. */
  readonly line?: number;
  /** `unsealed`: a header that its key has not sealed, as anybody can write one; it is no part of the history. */
  readonly what: "header" | "hash" | "form" | "stray_bytes" | "missing" | "unsealed";
}

export interface SegmentSummary {
  readonly segment: string;
  readonly sizeBytes: number;
  readonly records: number;
  readonly onChain: boolean;
  readonly tail: TailClass;
  readonly droppedBytes: number;
}

/** Scans of one task's segments, kept between two readings so that equal bytes are verified once. */
export type ScanCache = Map<string, SegmentScan>;

export interface HistoryOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  readonly cache?: ScanCache;
  readonly signal?: AbortSignal;
}

/**
 * Reads all segments, verifies the chain, and says what the history is.
 *
 * Errors: the STORE_* and KEY_* codes, SEAL_MISSING, FORMAT_*, TASK_SWAPPED, JOURNAL_TAMPERED; CANCELLED by the signal.
 * Damage is in the answer. Records are opened when asked for, so a seal that does not fit may show only then.
 */
export async function readHistory(options: HistoryOptions): Promise<History> {
  const { task, vault, signal } = options;
  const cache = options.cache ?? new Map<string, SegmentScan>();
  const scans: SegmentScan[] = [];
  for (const entry of await task.segments()) {
    if (signal?.aborted === true)
      throw new SplashdownError("CANCELLED", "reading the journal was cancelled", { cause: signal.reason });
    scans.push(await loadScan(task, entry, cache));
  }
  return new History(scans, walkChain(scans, vault));
}

async function loadScan(
  task: TaskStore,
  entry: SegmentId & { sizeBytes: number },
  cache: ScanCache,
): Promise<SegmentScan> {
  const id: SegmentId = { epoch: entry.epoch, index: entry.index };
  const bytes = entry.sizeBytes === 0 ? Buffer.alloc(0) : await task.read(id);
  // Read anew in any case: after a claim the store makes durable what it reads, and only that may be built upon.
  const known = cache.get(nameOf(id));
  if (known !== undefined && known.bytes.equals(bytes)) return known;
  const scan = scanSegment(id, bytes);
  cache.set(nameOf(id), scan);
  return scan;
}

/** A segment that counts: which of its records do. */
export interface HistorySegment {
  readonly id: SegmentId;
  readonly firstN: number;
  readonly lastN: number;
  readonly sizeBytes: number;
}

export class History {
  /** Those that count, oldest first. Numbers grow; gaps are in `lost`. */
  readonly records: readonly HistoryRecord[];
  /** The last record that counts; `undefined` in a task that never began. */
  readonly head: JournalPosition | undefined;
  /** Highest epoch with a durable header, and highest one claimed; 0 when there is none. */
  readonly epoch: number;
  readonly claimedEpoch: number;
  /** When the head's segment was opened, as its writer said. */
  readonly openedAt: string | undefined;
  readonly lost: readonly LostRange[];
  readonly damage: readonly Damage[];
  /** Records off the chain that can be read: what a superseded owner wrote too late. Never replayed. */
  readonly orphans: readonly HistoryRecord[];
  readonly segments: readonly SegmentSummary[];
  /** Those that count, oldest first. */
  readonly links: readonly HistorySegment[];
  readonly sizeBytes: number;
  /** First record that `prune --history` left, as the history itself says; 1 where it was never shortened. */
  readonly prunedBefore: number;
  readonly #chain: Chain;

  constructor(scans: readonly SegmentScan[], chain: Chain) {
    this.#chain = chain;
    const links = chain.links.toReversed();
    this.records = joinRecords(links);
    this.links = links.map(summariseLink);
    this.head = this.records.at(-1)?.position;
    const top = chain.links[0]?.segment;
    const durable = [...chain.adrift.map((scan) => scan.id.epoch), top?.id.epoch ?? 0];
    this.epoch = Math.max(0, ...durable);
    this.claimedEpoch = Math.max(0, ...scans.map((scan) => scan.id.epoch));
    this.openedAt = top?.header.timestamp;
    this.lost = findLost(this.records, chain);
    this.prunedBefore = findPrunedBefore(this.records);
    this.damage = listDamage(chain, this.prunedBefore);
    this.orphans = listOrphans(chain);
    const linked = new Map(chain.links.map((link) => [link.segment.scan, link.segment]));
    this.segments = scans.map((scan) => summarise(scan, linked.get(scan)));
    this.sizeBytes = scans.reduce((sum, scan) => sum + scan.bytes.length, 0);
  }

  /** The record of that number; `undefined` when it is lost or not yet there. */
  record(n: number): HistoryRecord | undefined {
    const at = this.#indexFrom(n);
    return this.records[at]?.n === n ? this.records[at] : undefined;
  }

  /** Records from a number on, oldest first. */
  recordsFrom(n: number): readonly HistoryRecord[] {
    return this.records.slice(this.#indexFrom(n));
  }

  /** The last batch of the history, which its writer may not have seen synced: what who continues it repeats (J13). */
  lastBatch(): EngineEvent[] {
    const batch: EngineEvent[] = [];
    let next: HistoryRecord | undefined;
    for (let at = this.records.length - 1; at >= 0 && next?.isBatchStart !== true; at -= 1) {
      const record = this.records[at];
      if (record === undefined || !isBefore(record, next)) break;
      batch.push(record.decode());
      next = record;
    }
    return batch.reverse();
  }

  /** Whether a record that was remembered elsewhere is part of this history (anchored.ts). */
  standingOf(remembered: RememberedRecord): RecordStanding {
    const found = this.record(remembered.n)?.position;
    return judgeStanding({ remembered, found, links: this.#chain.links, lost: this.lost });
  }

  /**
   * True when a snapshot at this position describes this history: its segment is a link, not beyond the cut, and where
   * the record can still be read its hash is the same.
   */
  covers(position: JournalPosition): boolean {
    if (this.#chain.adrift.some((scan) => isIn(scan.id, position))) return true;
    const link = this.#chain.links.find(({ segment }) => isIn(segment.id, position));
    if (link === undefined) return this.#isGone(position);
    if (position.n < link.segment.firstN) return false;
    if (link.cut !== undefined && position.n > link.cut.n) return false;
    return statesHash(link.segment, position) !== false;
  }

  /**
   * A snapshot is written when its record is durable. So where its segment would be the newest and has no header any more,
   * or is not there at all, the segment was emptied or removed: nobody can have superseded what came last.
   */
  #isGone(position: JournalPosition): boolean {
    const { links, offChain, opening } = this.#chain;
    const [head] = links;
    if (head !== undefined && compareSegments(position, head.segment.id) <= 0) return false;
    return !offChain.some(({ id }) => isIn(id, position)) && !opening.some((id) => isIn(id, position));
  }

  /** No header counts: of what was written nothing but files beside the journal can tell. */
  get isEmpty(): boolean {
    return this.#chain.links.length === 0 && this.#chain.adrift.length === 0;
  }

  /** What recovery reports of the tails and the damage, in snake_case. */
  report(): JsonObject {
    const tails = this.segments.filter((segment) => segment.tail !== "clean");
    return {
      journal_bytes: this.sizeBytes,
      records: this.records.length,
      orphans: this.orphans.length,
      tails: tails.map(({ segment, tail, droppedBytes }) => ({ segment, tail, dropped_bytes: droppedBytes })),
      damage: this.damage.map(({ segment, line, what }) => ({ segment, line: line ?? null, what })),
      lost: this.lost.map(({ from, to }) => ({ from, to: to ?? null })),
    };
  }

  #indexFrom(n: number): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.records[middle]?.n ?? 0) < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The record right before another one, of the same segment. */
function isBefore({ n, position }: HistoryRecord, next: HistoryRecord | undefined): boolean {
  return next === undefined || (n === next.n - 1 && isIn(position, next.position));
}

function isIn(id: SegmentId, position: JournalPosition): boolean {
  return id.epoch === position.epoch && id.index === position.index;
}

/** What counts of every link; where the end of one is lost, the copy that the next one begins with (J13). */
function joinRecords(links: readonly ChainLink[]): readonly HistoryRecord[] {
  const [only] = links;
  if (only !== undefined && links.length === 1) return countedRecords(only);
  const records: HistoryRecord[] = [];
  for (const [at, link] of links.entries()) {
    const missing = at === 0 ? [] : findMissing(link.segment.repeated, records);
    if (missing.length > 0) {
      records.push(...missing);
      records.sort((first, second) => first.n - second.n);
    }
    for (const record of countedRecords(link)) records.push(record);
  }
  return records;
}

function findMissing(repeated: readonly HistoryRecord[], records: readonly HistoryRecord[]): HistoryRecord[] {
  const known = new Set<number>();
  for (let at = records.length - 1; at >= 0; at -= 1) {
    const n = records[at]?.n ?? 0;
    if (n < (repeated[0]?.n ?? Infinity)) break;
    known.add(n);
  }
  return repeated.filter(({ n }) => !known.has(n));
}

function countedRecords({ segment, cut }: ChainLink): readonly HistoryRecord[] {
  const { records } = segment;
  if (cut === undefined || (records.at(-1)?.n ?? 0) <= cut.n) return records;
  return records.filter((record) => record.n <= cut.n);
}

function findLost(records: readonly HistoryRecord[], chain: Chain): LostRange[] {
  const lost: LostRange[] = [];
  let expected = 1;
  for (const { n } of records) {
    if (n > expected) lost.push({ from: expected, to: n - 1 });
    expected = Math.max(expected, n + 1);
  }
  const head = chain.links[0]?.segment;
  const continued = head?.header.prev?.n ?? 0;
  if (continued >= expected) {
    lost.push({ from: expected, to: continued });
    expected = continued + 1;
  }
  if (chain.adrift.length > 0 || head?.hasLostTail === true) lost.push({ from: expected, to: undefined });
  return lost;
}

/** Asked only where the beginning is not there: what a sealed record says was removed on purpose is no damage. */
function findPrunedBefore(records: readonly HistoryRecord[]): number {
  const [first] = records;
  if (first === undefined || first.n === 1) return 1;
  const pruned = records.flatMap((record) => (record.kind === "prune" ? [record.decode()] : []));
  const before = pruned.flatMap((event) =>
    "history" in event && event.history !== undefined ? [event.history.before] : [],
  );
  return Math.max(1, ...before);
}

function listDamage(chain: Chain, prunedBefore: number): Damage[] {
  const oldest = chain.links.at(-1)?.segment;
  const isShortened = oldest !== undefined && oldest.firstN > 1 && oldest.firstN <= prunedBefore;
  const cut = isShortened && oldest.header.prev !== undefined ? nameOf(oldest.header.prev) : undefined;
  const breaks = chain.breaks.filter(({ segment, what }) => what !== "missing" || segment !== cut);
  const found: Damage[] = breaks.map(({ segment, what }) => ({ segment, what }));
  for (const { segment } of chain.links.toReversed()) {
    for (const defect of segment.defects)
      found.push({ segment: nameOf(segment.id), line: defect.line, what: defect.what });
  }
  return found;
}

function listOrphans(chain: Chain): HistoryRecord[] {
  const beyond = chain.links.flatMap(({ segment, cut }) =>
    cut === undefined || (segment.records.at(-1)?.n ?? 0) <= cut.n
      ? []
      : segment.records.filter((record) => record.n > cut.n),
  );
  return [...beyond, ...chain.offChain.flatMap((segment) => segment.records)];
}

function summariseLink({ segment, cut }: ChainLink): HistorySegment {
  const lastN = cut?.n ?? segment.records.at(-1)?.n ?? segment.firstN - 1;
  return { id: segment.id, firstN: segment.firstN, lastN, sizeBytes: segment.scan.bytes.length };
}

function summarise(scan: SegmentScan, linked: SegmentRecords | undefined): SegmentSummary {
  return {
    segment: nameOf(scan.id),
    sizeBytes: scan.bytes.length,
    records: linked?.records.length ?? scan.lines.length,
    onChain: linked !== undefined,
    tail: linked?.tail ?? scan.tail,
    droppedBytes: scan.droppedBytes,
  };
}
