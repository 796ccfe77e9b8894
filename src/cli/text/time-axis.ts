/** Maps times to columns, with the time in which nobody worked cut down to one column. Pure. */

export interface Axis {
  readonly columns: number;
  readonly workedMs: number;
  /** Blanks, with `┊` where time was cut out. */
  emptyRow(): string[];
  /** First and last column of a stretch of time, both included; never a cut. */
  cells(from: string, to: string): [first: number, last: number];
  /** Where a time lies, 0..1 of the worked time. */
  share(at: string): number;
}

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  /** Worked before it. */
  readonly beforeMs: number;
  /** Its first column and how many it has. */
  readonly column: number;
  readonly columns: number;
}

export function createAxis(working: readonly { readonly from: string; readonly to: string }[], columns: number): Axis {
  const stretches = layOut(working, columns);
  const last = stretches.at(-1);
  const total = last === undefined ? 1 : last.column + last.columns;
  const workedMs = last === undefined ? 0 : last.beforeMs + last.toMs - last.fromMs;
  const cuts = stretches.slice(1).map(({ column }) => column - 1);
  const columnOf = (atMs: number): number => {
    const stretch = stretches.findLast(({ fromMs }) => fromMs <= atMs) ?? stretches[0];
    if (stretch === undefined) return 0;
    const length = stretch.toMs - stretch.fromMs;
    const share = length === 0 ? 0 : Math.min(1, Math.max(0, (atMs - stretch.fromMs) / length));
    return stretch.column + Math.min(stretch.columns - 1, Math.floor(share * stretch.columns));
  };
  return {
    columns: total,
    workedMs,
    emptyRow: () => Array.from({ length: total }, (_cell, at) => (cuts.includes(at) ? "┊" : " ")),
    cells: (from, to) => {
      const first = columnOf(Date.parse(from));
      return [first, Math.max(first, columnOf(Date.parse(to)))];
    },
    share: (at) => {
      const atMs = Date.parse(at);
      const stretch = stretches.findLast(({ fromMs }) => fromMs <= atMs);
      if (stretch === undefined || workedMs === 0) return 0;
      return Math.min(1, (stretch.beforeMs + Math.min(stretch.toMs, atMs) - stretch.fromMs) / workedMs);
    },
  };
}

function layOut(working: readonly { readonly from: string; readonly to: string }[], columns: number): Stretch[] {
  const spans = working.map(({ from, to }) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) }));
  const totalMs = spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const room = Math.max(spans.length, columns - spans.length + 1);
  const stretches: Stretch[] = [];
  let column = 0;
  let beforeMs = 0;
  for (const { fromMs, toMs } of spans) {
    const own = totalMs === 0 ? room / spans.length : (room * (toMs - fromMs)) / totalMs;
    const wide = Math.max(1, Math.round(own));
    stretches.push({ fromMs, toMs, beforeMs, column, columns: wide });
    column += wide + 1;
    beforeMs += toMs - fromMs;
  }
  return stretches;
}
