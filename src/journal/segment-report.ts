/** What can be said of one segment without any key: for doctor, validate and people with only the file. */
import type { SegmentId } from "../store/contract/contract.js";
import { encodeBase64Url } from "../base/digest.js";
import type { SegmentHeader } from "./segment-header.js";
import { scanSegment, type Defect, type SegmentScan, type TailClass } from "./segment-scan.js";

export interface SegmentReport {
  readonly header: "absent" | "torn" | "good" | "damaged";
  readonly fields: SegmentHeader | undefined;
  /** Records that follow each other without a defect. */
  readonly goodRecords: number;
  /** Lines with the form of a record, good or not. */
  readonly records: number;
  readonly tail: TailClass;
  readonly droppedBytes: number;
  readonly defects: readonly Defect[];
  /** Number and stated hash of the last good record. */
  readonly last: { readonly n: number; readonly h: string } | undefined;
}

/**
 * Verifies a segment's form and hash chain. Finds order, loss and rot; what an attacker repaired takes the key to see.
 *
 * Shape: without the key a hole with NULs is called torn even where it was acknowledged; history.ts knows better.
 * Errors: FORMAT_NOT_OURS, FORMAT_VERSION, JOURNAL_TAMPERED of the header line.
 */
export function verifySegment(bytes: Uint8Array): SegmentReport {
  return createSegmentReport(scanSegment(UNNAMED, bytes));
}

const UNNAMED: SegmentId = { epoch: 1, index: 0 };

export function createSegmentReport(scan: SegmentScan): SegmentReport {
  const { header } = scan;
  const last = scan.lines[scan.goodCount - 1];
  return {
    header: header.state,
    fields: "read" in header ? header.read?.header : undefined,
    goodRecords: scan.goodCount,
    records: scan.lines.length,
    tail: scan.tail,
    droppedBytes: scan.droppedBytes,
    defects: scan.defects,
    last: last?.stated === undefined ? undefined : { n: last.n, h: encodeBase64Url(last.stated) },
  };
}
