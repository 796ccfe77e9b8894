/**
 * A time axis in which stretches where nothing happened take little room, so that a task that waited three days for a
 * person shows its minutes of work.
 *
 * Units: instants in milliseconds since the epoch; places on the axis 0..1.
 */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface AxisPiece extends Stretch {
  readonly isFolded: boolean;
  /** Where it begins and ends on the axis. */
  readonly start: number;
  readonly end: number;
}

export interface Axis {
  readonly pieces: readonly AxisPiece[];
  place(atMs: number): number;
  timeAt(place: number): number;
}

/** A folded stretch takes this share of the busy time, once. */
const FOLDED_SHARE = 0.04;
/** Idle time is folded when it is longer than this share of the busy time, and than a second. */
const IDLE_SHARE = 0.15;

export function foldIdle(busy: readonly Stretch[], { from, to }: Stretch): Axis {
  const end = Math.max(to, from + 1);
  const merged = mergeStretches(busy.map((part) => ({ from: Math.max(from, part.from), to: Math.min(end, part.to) })));
  const busyMs = merged.reduce((sum, part) => sum + part.to - part.from, 0);
  const longMs = Math.max(1000, busyMs * IDLE_SHARE);
  const cuts = findCuts(merged, { from, to: end }, longMs);
  const openMs = cuts.reduce((sum, piece) => sum + (piece.isFolded ? 0 : piece.to - piece.from), 0);
  const foldedMs = Math.max(1, openMs) * FOLDED_SHARE;
  const widthOf = (piece: { isFolded: boolean } & Stretch): number =>
    piece.isFolded ? foldedMs : piece.to - piece.from;
  const whole = cuts.reduce((sum, piece) => sum + widthOf(piece), 0) || 1;
  let at = 0;
  const pieces = cuts.map((piece) => {
    const start = at;
    at += widthOf(piece) / whole;
    return { ...piece, start, end: at };
  });
  return { pieces, place: (atMs) => placeOn(pieces, atMs), timeAt: (place) => timeOn(pieces, place) };
}

/** In order, those that touch or overlap as one. */
export function mergeStretches(parts: readonly Stretch[]): Stretch[] {
  const merged: Stretch[] = [];
  for (const part of parts.filter((one) => one.to >= one.from).sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && part.from <= last.to)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, part.to) };
    else merged.push(part);
  }
  return merged;
}

function findCuts(
  merged: readonly Stretch[],
  { from, to }: Stretch,
  longMs: number,
): ({ isFolded: boolean } & Stretch)[] {
  const cuts: ({ isFolded: boolean } & Stretch)[] = [];
  let open = from;
  let last = from;
  const fold = (until: number): void => {
    if (until - last <= longMs) return;
    if (last > open) cuts.push({ from: open, to: last, isFolded: false });
    cuts.push({ from: last, to: until, isFolded: true });
    open = until;
  };
  for (const part of merged) {
    fold(part.from);
    last = Math.max(last, part.to);
  }
  fold(to);
  if (to > open || cuts.length === 0) cuts.push({ from: open, to, isFolded: false });
  return cuts;
}

function placeOn(pieces: readonly AxisPiece[], atMs: number): number {
  const piece = pieces.find(({ to }) => atMs <= to) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const share = Math.min(1, Math.max(0, (atMs - piece.from) / Math.max(1, piece.to - piece.from)));
  return piece.start + share * (piece.end - piece.start);
}

function timeOn(pieces: readonly AxisPiece[], place: number): number {
  const piece = pieces.find(({ end }) => place <= end) ?? pieces.at(-1);
  if (piece === undefined) return 0;
  const share = Math.min(1, Math.max(0, (place - piece.start) / Math.max(1e-12, piece.end - piece.start)));
  return piece.from + share * (piece.to - piece.from);
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 604_800_000,
];

/** Round instants within open pieces, at most `most` over the window. Shape: `window` in places of the axis. */
export function listTicks(
  axis: Axis,
  window: { readonly start: number; readonly end: number },
  most: number,
): number[] {
  const seen = axis.pieces.filter(({ isFolded, start, end }) => !isFolded && end > window.start && start < window.end);
  const spans = seen.map((piece) => ({
    from: Math.max(piece.from, axis.timeAt(Math.max(window.start, piece.start))),
    to: Math.min(piece.to, axis.timeAt(Math.min(window.end, piece.end))),
  }));
  const whole = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const step = STEPS_MS.find((ms) => whole / ms <= most) ?? 604_800_000;
  return spans.flatMap(({ from, to }) => {
    const first = Math.ceil(from / step) * step;
    return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_none, at) => first + at * step);
  });
}
