/** Which lanes a timeline shows, and the busy stretches its axis is made of. Pure. */
import type { TimelineLane, TimelineView } from "../../src/runtime/contract.js";
import type { Stretch } from "./folded-time.js";

export interface LaneChoice {
  /** Lanes in which nothing failed are left out. */
  readonly isOnlyFailed: boolean;
  /** Lanes that ended well are left out. */
  readonly isDoneHidden: boolean;
  readonly text: string;
}

export function selectLanes(
  lanes: readonly TimelineLane[],
  { isOnlyFailed, isDoneHidden, text }: LaneChoice,
): TimelineLane[] {
  const word = text.toLowerCase();
  return lanes.filter(({ path, spans }) => {
    if (isOnlyFailed && !spans.some(({ status }) => isBad(status))) return false;
    if (isDoneHidden && spans.at(-1)?.status === "completed") return false;
    return path.toLowerCase().includes(word);
  });
}

export function isBad(status: string): boolean {
  return status === "failed" || status === "crashed";
}

export function listBusy({ lanes, working, marks }: TimelineView): Stretch[] {
  const spans = lanes.flatMap((lane) => lane.spans.map(stretchOf));
  return [
    ...spans,
    ...working.map(stretchOf),
    ...marks.map(({ at }) => ({ from: Date.parse(at), to: Date.parse(at) })),
  ];
}

export function stretchOf({ from, to }: { readonly from: string; readonly to: string }): Stretch {
  return { from: Date.parse(from), to: Date.parse(to) };
}

/** The window after zooming by a factor around a place. Units: places of the axis, 0..1. */
export function zoomWindow(
  { start, end }: { readonly start: number; readonly end: number },
  { factor, around }: { readonly factor: number; readonly around: number },
): { readonly start: number; readonly end: number } {
  const width = Math.min(1, Math.max(1e-5, (end - start) * factor));
  const share = (around - start) / Math.max(1e-12, end - start);
  const from = Math.min(1 - width, Math.max(0, around - share * width));
  return { start: from, end: from + width };
}
