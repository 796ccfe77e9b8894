/**
 * The end of a history, without reading the rest: enough to say how a task stands, cheap for a thousand tasks.
 *
 * Reads the highest segment that has records, and those before it only as long as the caller has not seen enough; what is
 * damaged elsewhere does not show here.
 */
import type { SegmentId, TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { openSegmentRecords, type HistoryRecord, type SegmentRecords } from "./segment-records.js";
import { continuedBy } from "./segment-header.js";
import { scanSegment, type SegmentScan } from "./segment-scan.js";

export interface JournalEnd {
  /** The last records that count, oldest first; of as many whole segments as were read. */
  readonly records: readonly HistoryRecord[];
  /** Highest epoch with a durable header; 0 when there is none. */
  readonly epoch: number;
  /** The end itself is damaged: records after the last may be lost. */
  readonly isDamaged: boolean;
  readonly sizeBytes: number;
}

export interface JournalEndOptions {
  readonly task: TaskStore;
  readonly vault: TaskVault;
  /** Whether these last records tell what is wanted; absent: any do. Shape: not empty, oldest first. */
  readonly isEnough?: (records: readonly HistoryRecord[]) => boolean;
}

/**
 * Reads the end.
 *
 * Errors: those of `readHistory`.
 */
export async function readJournalEnd({ task, vault, isEnough }: JournalEndOptions): Promise<JournalEnd> {
  const entries = (await task.segments()).toReversed();
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  const search: Search = { epoch: 0, isDamaged: false, cut: undefined };
  let records: readonly HistoryRecord[] = [];
  for (const entry of entries) {
    if (entry.sizeBytes === 0 || (search.cut !== undefined && isAbove(entry, search.cut))) continue;
    const segment = look(
      scanSegment({ epoch: entry.epoch, index: entry.index }, await task.read(entry)),
      vault,
      search,
    );
    if (segment === undefined) continue;
    const last = search.cut?.n ?? Infinity;
    records = [...segment.records.filter((record) => record.n <= last), ...records];
    search.cut = continuedBy(segment.header);
    if (search.cut === undefined || (records.length > 0 && isEnough?.(records) !== false)) break;
  }
  return { ...search, records, sizeBytes };
}

interface Search {
  epoch: number;
  isDamaged: boolean;
  /** The last record that counts of what is looked for. */
  cut: JournalPosition | undefined;
}

/** The segment, when it has a sound header; what else it tells goes into the search. */
function look(scan: SegmentScan, vault: TaskVault, search: Search): SegmentRecords | undefined {
  const { header } = scan;
  if (header.state === "damaged") search.isDamaged = true;
  if (header.state !== "good") return undefined;
  const segment = openSegmentRecords(scan, header.read, vault);
  if (segment === undefined) return undefined;
  search.epoch = Math.max(search.epoch, scan.id.epoch);
  if (search.cut === undefined && segment.hasLostTail) search.isDamaged = true;
  return segment;
}

function isAbove(entry: SegmentId, cut: JournalPosition): boolean {
  return entry.epoch > cut.epoch || (entry.epoch === cut.epoch && entry.index > cut.index);
}
