/**
 * Whether a record that was remembered elsewhere is still part of a history.
 *
 * It was remembered while no later owner had claimed the task, so every later owner has read it: it is on the chain, or a
 * sealed header says why it is not there in its first form. Anything else is another history, whatever its epoch.
 */
import type { ChainLink } from "./chain.js";

/** A record that was durable, and confirmed, at some time. */
export interface RememberedRecord {
  readonly epoch: number;
  readonly n: number;
  readonly h: string;
}

/** `copied`: a later owner wrote it once more; `lost`: it stood where records are lost or were removed on purpose. */
export type RecordStanding = "there" | "copied" | "lost" | "absent";

export interface StandingQuestion {
  readonly remembered: RememberedRecord;
  /** Where the history has the record of that number. */
  readonly found: RememberedRecord | undefined;
  /** Newest first. */
  readonly links: readonly ChainLink[];
  readonly lost: readonly { readonly from: number; readonly to: number | undefined }[];
}

export function judgeStanding({ remembered, found, links, lost }: StandingQuestion): RecordStanding {
  const { epoch, n, h } = remembered;
  if (found?.epoch === epoch && found.h === h) return "there";
  if (links.some((link) => isCopiedBy(link, remembered))) return "copied";
  const isInGap = lost.some(({ from, to }) => from <= n && n <= (to ?? Infinity));
  return isInGap && !isCutOff(links, remembered) ? "lost" : "absent";
}

/** A later segment begins with a copy of it: the last batch of an owner (J13), or the whole history (J14). */
function isCopiedBy({ segment: { header, id } }: ChainLink, { epoch, n, h }: RememberedRecord): boolean {
  const { prev, repeats } = header;
  if (prev === undefined || id.epoch <= epoch || n > prev.n || n <= prev.n - repeats) return false;
  return n < prev.n ? prev.epoch >= epoch : prev.epoch === epoch && prev.h === h;
}

/** The chain leaves the epoch of the record, or passes it by, before that record. */
function isCutOff(links: readonly ChainLink[], { epoch, n }: RememberedRecord): boolean {
  const at = links.findIndex(({ segment }) => segment.id.epoch <= epoch);
  const link = links[at];
  if (link?.cut === undefined) return false;
  return link.segment.id.epoch < epoch || n > link.cut.n;
}
