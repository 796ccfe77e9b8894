/**
 * How far `prune --history` may shorten a journal, and which blobs nothing names any more.
 *
 * C10: a segment goes only when the oldest verified file that stays covers all of it; never one of the last two epochs.
 *      So every record from that file on is there, and no damage of newer files costs anything.
 * Owns: the choice. Removing is retention's and the verb's; the journal's room reads. Source: STORAGE section 1.12.
 */
import type { JsonValue } from "../base/json.js";
import type { BlobRef } from "../engine/model/value-ref.js";
import { stateOf, withInlineState } from "../engine/fold/restore-state.js";
import { captureState, encodeCaptured } from "../engine/model/state-codec.js";
import type { CheckpointEntry, TaskState } from "../engine/model/state.js";
import type { History, HistorySegment } from "../journal/history.js";
import type { HistoryRecord } from "../journal/segment-records.js";
import type { LoadedSnapshot } from "./contract.js";
import { VERIFIED_MIN } from "./retention.js";

export interface HistoryCut {
  /** The first record that stays; 1: nothing goes. */
  readonly before: number;
  /** Those that count and go, oldest first. */
  readonly segments: readonly HistorySegment[];
  /** No way leads to them any more: oldest first. */
  readonly unreachable: readonly CheckpointEntry[];
  /** Why nothing goes, when nothing does. */
  readonly why?: string;
}

export interface CutQuestion {
  readonly history: Pick<History, "covers" | "lost" | "prunedBefore" | "links">;
  readonly checkpoints: readonly CheckpointEntry[];
  /** The verified files that stay. */
  readonly kept: readonly Pick<LoadedSnapshot, "position">[];
  /** Checkpoints that people pinned. */
  readonly pinned: readonly CheckpointEntry[];
  /** The epoch before the one that removes: it stays, and so does all after it. */
  readonly previousEpoch: number;
}

/** Chooses the cut. */
export function planHistoryCut(question: CutQuestion): HistoryCut {
  const { history, kept, pinned, previousEpoch } = question;
  const positions = kept.map(({ position }) => position).filter((position) => history.covers(position));
  const oldest = positions.reduce<(typeof positions)[number] | undefined>(
    (least, position) => (least === undefined || position.n < least.n ? position : least),
    undefined,
  );
  if (oldest === undefined || positions.length < VERIFIED_MIN)
    return nothing(`fewer than ${VERIFIED_MIN} verified files stay, so the journal is needed`);
  if (history.lost.some(({ to }) => to === undefined || to >= history.prunedBefore))
    return nothing("the journal is damaged, so nothing of it is removed");
  const needed = pinned.find(({ position }) => position < oldest.n);
  if (needed !== undefined)
    return nothing(`checkpoint ${needed.seq} is pinned and has no file that stays, so it needs the journal`);
  const holder = history.links.findIndex(({ id }) => id.epoch === oldest.epoch && id.index === oldest.index);
  const first = history.links.findIndex(({ id }, at) => at >= holder || id.epoch >= previousEpoch);
  if (first <= 0) return nothing("no segment lies before the oldest file that stays, but for the last two epochs");
  const before = history.links[first]?.firstN ?? 1;
  return {
    before,
    segments: history.links.slice(0, first),
    unreachable: findUnreachable({ ...question, before, files: positions.map(({ n }) => n) }),
  };
}

function nothing(why: string): HistoryCut {
  return { before: 1, segments: [], unreachable: [], why };
}

/** Checkpoints that no file and no unbroken run of records leads to. `files`: positions of the files that are there. */
export function findUnreachable(place: {
  readonly checkpoints: readonly CheckpointEntry[];
  readonly before: number;
  readonly files: readonly number[];
}): CheckpointEntry[] {
  const { checkpoints, before, files } = place;
  if (before <= 1) return [];
  const starts = files.filter((n) => n >= before - 1);
  const least = Math.min(...starts);
  return checkpoints.filter(({ position }) => position < least);
}

const BLOB_KEY = /blobs\/[a-z2-7]{2}\/[a-z2-7]{52}\.bin/g;

/** Keys of blobs that something which stays names. Anything that looks like a key counts: more is kept, never less. */
export class NamedBlobs {
  readonly keys = new Set<string>();

  addText(text: string): void {
    for (const [key] of text.matchAll(BLOB_KEY)) this.keys.add(key);
  }

  addState(state: TaskState): void {
    for (const piece of encodeCaptured(captureState(state))) this.addText(piece);
  }

  /** Also what a state that it carries in a blob names. Errors: those of `load`. */
  async addRecord(record: HistoryRecord, load: (ref: BlobRef) => Promise<JsonValue>): Promise<void> {
    const event = record.decode();
    this.addText(JSON.stringify(event));
    if (stateOf(event) !== undefined) this.addText(JSON.stringify(await withInlineState(event, load)));
  }
}
