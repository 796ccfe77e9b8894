/**
 * The end of a history, without reading the rest: enough to say how a task stands, cheap for a thousand tasks.
 *
 * Reads the highest segment that has records, nothing before it; what is damaged elsewhere does not show here.
 */
import type { SegmentId, TaskStore } from "../store/contract.js";
import type { TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { openSegmentRecords, type HistoryRecord, type SegmentRecords } from "./segment-records.js";
import { scanSegment, type SegmentScan } from "./segment-scan.js";

export interface JournalEnd {
  /** The last records that count, oldest first; all of one segment. */
  readonly records: readonly HistoryRecord[];
  /** Highest epoch with a durable header; 0 when there is none. */
  readonly epoch: number;
  /** The end itself is damaged: records after the last may be lost. */
  readonly isDamaged: boolean;
  readonly sizeBytes: number;
}

/**
 * Reads the end.
 *
 * Errors: those of `readHistory`.
 */
export async function readJournalEnd({ task, vault }: { task: TaskStore; vault: TaskVault }): Promise<JournalEnd> {
  const entries = (await task.segments()).toReversed();
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  const search: Search = { epoch: 0, isDamaged: false, cut: undefined };
  for (const entry of entries) {
    if (entry.sizeBytes === 0 || (search.cut !== undefined && isAbove(entry, search.cut))) continue;
    const segment = look(
      scanSegment({ epoch: entry.epoch, index: entry.index }, await task.read(entry)),
      vault,
      search,
    );
    if (segment === undefined) continue;
    const last = search.cut?.n ?? Infinity;
    const records = segment.records.filter((record) => record.n <= last);
    search.cut = segment.header.prev;
    if (records.length > 0 || search.cut === undefined) return { ...search, records, sizeBytes };
  }
  return { ...search, records: [], sizeBytes };
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
  const segment = openSegmentRecords(scan, header.header, vault);
  search.epoch = Math.max(search.epoch, scan.id.epoch);
  if (search.cut === undefined && segment.hasLostTail) search.isDamaged = true;
  return segment;
}

function isAbove(entry: SegmentId, cut: JournalPosition): boolean {
  return entry.epoch > cut.epoch || (entry.epoch === cut.epoch && entry.index > cut.index);
}
