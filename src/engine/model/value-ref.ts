import type { JsonValue } from "../../base/json.js";

/** A value inside the event, or by reference when it is large (256 KiB and more). */
export type ValueRef = { readonly inline: JsonValue } | { readonly blob: BlobRef };
export interface BlobRef {
  /** Object key below `blobs/`, a keyed digest. */
  readonly key: string;
  /** Length of the JSON text. */
  readonly sizeBytes: number;
  /** Keyed digest of the JSON text, for comparing without reading. */
  readonly digest: string;
}

/** A deliverable as it is recorded. */
export interface SavedFile {
  /** Relative to the task's folder: `phases/phase2/x.md` or `final/report.md`. */
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Text of the file (already redacted). */
  readonly content: ValueRef;
}
