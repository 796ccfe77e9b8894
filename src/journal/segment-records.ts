/**
 * The records of one segment, opened with the task's key: which count, which are lost, and what the tail really is.
 *
 * J6: a record whose own hash fits is trusted only by its seal: when that does not fit, somebody changed it, and reading
 *     ends with JOURNAL_TAMPERED. A record whose hash does not fit counts when its seal opens (the damage was in a hash).
 * J15: records count only under a header that the segment's own key has sealed (segment-header.ts).
 * J7: a hole is torn only if nothing after it says that it was acknowledged (see record-body.ts on batches).
 * Records are opened when asked for, those next to damage at once.
 */
import { encodeBase64Url } from "../base/digest.js";
import { assert, isErrorCode, SplashdownError } from "../base/errors.js";
import { decodeEvent } from "../engine/model/event-codec.js";
import type { EngineEvent } from "../engine/model/events.js";
import type { SegmentId } from "../store/contract/contract.js";
import type { FileOpener, TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { decodeBody, type RecordBody } from "./record-body.js";
import { computeAad, hashLine, sealedBytesOf } from "./record-line.js";
import type { ReadHeader, SegmentHeader } from "./segment-header.js";
import type { Defect, SegmentScan, TailClass } from "./segment-scan.js";
import type { ScannedLine } from "./scanned-line.js";

export interface HistoryRecord {
  readonly n: number;
  readonly position: JournalPosition;
  readonly kind: string;
  /** Line of its segment, from 1. */
  readonly line: number;
  /** Everything before it in its segment was durable when it was written. */
  readonly isBatchStart: boolean;
  /** Opens and decodes it. Errors: JOURNAL_TAMPERED; FORMAT_VERSION for an event of a newer version. */
  decode(): EngineEvent;
}

export interface SegmentRecords {
  readonly id: SegmentId;
  readonly scan: SegmentScan;
  readonly header: SegmentHeader;
  /** Number of its first own record, of a whole segment of its first one; whether it is there or not. */
  readonly firstN: number;
  /** The copies it begins with, of records that the segment before holds (J13); none in a whole segment. */
  readonly repeated: readonly HistoryRecord[];
  /** Those that count, in order; numbers grow, gaps are what is lost. */
  readonly records: readonly HistoryRecord[];
  readonly tail: TailClass;
  readonly defects: readonly Defect[];
  /** Something that was written stood after the last record that counts, and cannot be read. */
  readonly hasLostTail: boolean;
}

interface Reading {
  readonly scan: SegmentScan;
  readonly opener: FileOpener;
  readonly isSealed: boolean;
  /** Number of its first line, repeated ones included. */
  readonly firstN: number;
}

/** The hash before a line and its own true hash. */
interface Proof {
  readonly prior: Buffer;
  readonly hash: Buffer;
}

/** A line that counts. Light, for there may be a million of them: what an intact line states is read when it is asked. */
class JournalRecord implements HistoryRecord {
  readonly n: number;
  readonly #reading: Reading;
  readonly #line: ScannedLine;
  readonly #salvaged: Proof | undefined;

  constructor(reading: Reading, line: ScannedLine, salvaged?: Proof) {
    this.n = line.n;
    this.#reading = reading;
    this.#line = line;
    this.#salvaged = salvaged;
  }

  get position(): JournalPosition {
    const { epoch, index } = this.#reading.scan.id;
    return { n: this.n, epoch, index, h: encodeBase64Url(this.#proof.hash) };
  }

  get kind(): string {
    return this.#line.kind;
  }

  get line(): number {
    return this.#line.line;
  }

  get isBatchStart(): boolean {
    return this.#open().isBatchStart;
  }

  decode(): EngineEvent {
    return decodeEvent(this.#line.kind, this.#open().json);
  }

  get #proof(): Proof {
    const proof = this.#salvaged ?? proofOf(this.#line);
    assert(proof !== undefined, "a record counts without a proof");
    return proof;
  }

  #open(): RecordBody {
    const body = openWith(this.#reading, this.#line, this.#proof.prior);
    if (body === undefined) throw tampered(this.#reading.scan, this.#line, "does not fit its seal");
    return body;
  }
}

/**
 * Opens the records of a segment whose header is known.
 *
 * Shape: `undefined` for a header that is not sealed and has no records under it: anybody can write such a line, so it
 * claims its epoch and says nothing.
 * Errors: KEY_MISSING, KEY_WRONG, SEAL_MISSING, FORMAT_VERSION of its seal; TASK_SWAPPED when it belongs to another task
 * or place; JOURNAL_TAMPERED when records stand under a header that is not sealed, or intact lines are not in the order
 * they were written.
 */
export function openSegmentRecords(scan: SegmentScan, read: ReadHeader, vault: TaskVault): SegmentRecords | undefined {
  const { header } = read;
  requireOwnPlace(scan, header, vault);
  const opener = openHead(scan, read, vault);
  if (opener === undefined) return undefined;
  const ownN = (header.prev?.n ?? 0) + 1;
  const reading: Reading = { scan, opener, isSealed: header.seal.key !== undefined, firstN: ownN - header.repeats };
  const good = proveGood(reading);
  const rest = scan.lines.slice(scan.goodCount);
  const tail = scan.tail === "torn" && wasAcknowledged(reading, rest) ? "damaged" : scan.tail;
  const all = tail === "damaged" ? [...good, ...salvage(reading, rest, good.length)] : good;
  const defects = tail === "damaged" && scan.tail === "torn" ? [...scan.defects, ...scan.tornDefects] : scan.defects;
  return {
    id: scan.id,
    scan,
    header,
    ...divide(all, header.isWhole === true ? reading.firstN : ownN),
    tail,
    defects,
    hasLostTail: tail === "damaged" && hasLostTail(defects, scan, all.at(-1)?.line),
  };
}

/** Errors: as `openSegmentRecords`. */
function openHead(scan: SegmentScan, { header, seal }: ReadHeader, vault: TaskVault): FileOpener | undefined {
  const isAlone = scan.lines.length === 0;
  try {
    const opener = vault.createOpener("journal", header.seal);
    if (opener.isHeadSealed(seal.text, seal.tag)) return opener;
  } catch (error) {
    // The key is the one it names, and has not made it.
    if (!isAlone || !isErrorCode(error, "KEY_WRONG")) throw error;
  }
  if (isAlone) return undefined;
  throw new SplashdownError(
    "JOURNAL_TAMPERED",
    `the header of segment ${nameOf(scan.id)} was changed: it does not fit its seal`,
    { details: { segment: nameOf(scan.id), line: 1 } },
  );
}

/** Whether the segment's own key has sealed its header; false where that cannot be tried. */
export function isSealed({ header, seal }: ReadHeader, vault: TaskVault): boolean {
  try {
    return vault.createOpener("journal", header.seal).isHeadSealed(seal.text, seal.tag);
  } catch {
    return false;
  }
}

/** What counts begins with `firstN`; what stands before it is repeated. */
function divide(
  all: readonly JournalRecord[],
  firstN: number,
): Pick<SegmentRecords, "firstN" | "repeated" | "records"> {
  const first = all.findIndex(({ n }) => n >= firstN);
  const count = first < 0 ? all.length : first;
  return { firstN, repeated: all.slice(0, count), records: count === 0 ? all : all.slice(count) };
}

function requireOwnPlace(scan: SegmentScan, header: SegmentHeader, vault: TaskVault): void {
  const { id } = scan;
  if (header.taskId === vault.taskId && header.id.epoch === id.epoch && header.id.index === id.index) return;
  throw new SplashdownError("TASK_SWAPPED", `segment ${nameOf(id)} is another task's or stood elsewhere`, {
    details: { segment: nameOf(id), statedTask: header.taskId, statedSegment: nameOf(header.id), task: vault.taskId },
  });
}

/** The segment as people find it: the beginning of its file's name. */
export function nameOf(id: SegmentId): string {
  return `${String(id.epoch).padStart(8, "0")}-${String(id.index).padStart(4, "0")}`;
}

/** What fits the chain, in its order, must stand under the numbers it was written with. */
function proveGood(reading: Reading): JournalRecord[] {
  const { lines, goodCount } = reading.scan;
  const good: JournalRecord[] = [];
  for (const line of lines) {
    if (good.length === goodCount) break;
    if (line.n !== reading.firstN + good.length) throw tampered(reading.scan, line, "is not in its place");
    good.push(new JournalRecord(reading, line));
  }
  return good;
}

function proveByHash(reading: Reading, line: ScannedLine): JournalRecord | undefined {
  return proofOf(line) === undefined ? undefined : new JournalRecord(reading, line);
}

function proofOf({ prior, stated }: ScannedLine): Proof | undefined {
  return prior === undefined || stated === undefined ? undefined : { prior, hash: stated };
}

function tampered(scan: SegmentScan, line: ScannedLine, what: string): SplashdownError {
  return new SplashdownError(
    "JOURNAL_TAMPERED",
    `record ${line.n} in line ${line.line} of segment ${nameOf(scan.id)} ${what}`,
    {
      details: { segment: nameOf(scan.id), line: line.line, n: line.n },
    },
  );
}

/** True when a record after the first defect began a batch: all before it in the file had been synced. */
function wasAcknowledged(reading: Reading, rest: readonly ScannedLine[]): boolean {
  const firstDefect = reading.scan.tornDefects[0]?.line ?? Infinity;
  return rest.some((line) => line.line > firstDefect && openLine(reading, line)?.body.isBatchStart === true);
}

function salvage(reading: Reading, rest: readonly ScannedLine[], goodCount: number): JournalRecord[] {
  const proven: JournalRecord[] = [];
  let least = reading.firstN + goodCount;
  for (const [at, line] of rest.entries()) {
    const item = line.n < least ? undefined : proveNearDamage(reading, line, rest[at + 1]);
    if (item === undefined) continue;
    proven.push(item);
    least = line.n + 1;
  }
  return proven;
}

function proveNearDamage(
  reading: Reading,
  line: ScannedLine,
  next: ScannedLine | undefined,
): JournalRecord | undefined {
  const proven = proveByHash(reading, line);
  if (proven !== undefined) return proven;
  const prior = reading.isSealed ? openLine(reading, line)?.prior : findPlainPrior(reading, line, next);
  if (prior === undefined) return undefined;
  return new JournalRecord(reading, line, { prior, hash: hashLine(reading.scan.bytes, line, prior) });
}

/** Without a seal only the line after can say that this one is right and its stated hash is wrong. */
function findPlainPrior(reading: Reading, line: ScannedLine, next: ScannedLine | undefined): Buffer | undefined {
  const confirmed = next?.prior;
  if (confirmed === undefined || line.stated?.equals(confirmed) === true) return undefined;
  return line.priors.find((prior) => hashLine(reading.scan.bytes, line, prior).equals(confirmed));
}

function openLine(reading: Reading, line: ScannedLine): { body: RecordBody; prior: Buffer } | undefined {
  const priors = line.prior === undefined ? line.priors : [line.prior];
  for (const prior of priors) {
    const body = openWith(reading, line, prior);
    if (body !== undefined) return { body, prior };
  }
  return undefined;
}

function openWith(reading: Reading, line: ScannedLine, prior: Buffer): RecordBody | undefined {
  const part = line.n - reading.firstN;
  const sealed = sealedBytesOf(reading.scan.bytes, line);
  // A number far beyond the file's lines is a damaged one; no seal has it.
  if (part < 0 || part > reading.scan.bytes.length || sealed === undefined) return undefined;
  try {
    return decodeBody(reading.opener.open(part, computeAad(prior, line.n, line.kind), sealed));
  } catch {
    return undefined;
  }
}

function hasLostTail(defects: readonly Defect[], scan: SegmentScan, lastLine = 1): boolean {
  if (scan.lines.some((line) => line.line > lastLine)) return true;
  return defects.some((defect) => defect.line > lastLine && defect.what !== "stray_bytes");
}
