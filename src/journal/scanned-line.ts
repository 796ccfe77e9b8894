import type { RecordLine } from "./record-line.js";

export interface ScannedLine extends RecordLine {
  /** Of the file, counted from 1; the header is line 1. */
  readonly line: number;
  /** Hashes that may stand before it, most likely first. */
  readonly priors: readonly Buffer[];
  /** The one of them that this line's own hash confirms. */
  readonly prior: Buffer | undefined;
  /** What may be its true hash: stated, then computed from each prior. */
  readonly hashes: readonly Buffer[];
}
