/**
 * The end of a history, without reading the rest: enough to say how a task stands, cheap for a thousand tasks.
 *
 * Reads the highest segment that has records, nothing before it; what is damaged elsewhere does not show here.
 */
import type { SegmentId, TaskStore } from "../store/contract.js";
import type { TaskVault } from "../vault/contract.js";
import type { JournalPosition } from "./position.js";
import { openSegmentRecords, type HistoryRecord } from "./segment-records.js";
import { scanSegment } from "./segment-scan.js";

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
  const entries = [...(await task.segments())].reverse();
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  let epoch = 0;
  let isDamaged = false;
  let cut: JournalPosition | undefined;
  for (const entry of entries) {
    if (entry.sizeBytes === 0 || (cut !== undefined && isAbove(entry, cut))) continue;
    const scan = scanSegment({ epoch: entry.epoch, index: entry.index }, await task.read(entry));
    const { header } = scan;
    if (header.state === "damaged") isDamaged = true;
    if (header.state !== "good") continue;
    epoch = Math.max(epoch, entry.epoch);
    const segment = openSegmentRecords(scan, header.header, vault);
    isDamaged ||= cut === undefined && segment.hasLostTail;
    const last = cut?.n ?? Infinity;
    const records = segment.records.filter((record) => record.position.n <= last);
    if (records.length > 0) return { records, epoch, isDamaged, sizeBytes };
    if (segment.header.prev === undefined) break;
    cut = segment.header.prev;
  }
  return { records: [], epoch, isDamaged, sizeBytes };
}

function isAbove(entry: SegmentId, cut: JournalPosition): boolean {
  return entry.epoch > cut.epoch || (entry.epoch === cut.epoch && entry.index > cut.index);
}
