/**
 * Which rows of a long list are on the screen. The list is one pool of elements that are filled anew while it scrolls.
 *
 * A browser knows no element higher than some millions of pixels; beyond that the scroll bar stands for shares of the
 * list instead of pixels, and the last row can still be reached.
 */
export interface ListFrame {
  readonly count: number;
  /** Pixels, as the three below. */
  readonly rowHeight: number;
  readonly viewHeight: number;
  readonly scrollTop: number;
}

export interface RowWindow {
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
  /** Of the whole list, in pixels. */
  readonly height: number;
  /** Where the first row of the window lies, in pixels from the top of the list. */
  readonly top: number;
}

export const HEIGHT_MAX = 8_000_000;
const BEYOND = 6;

export function selectRows({ count, rowHeight, viewHeight, scrollTop }: ListFrame): RowWindow {
  const full = count * rowHeight;
  const height = Math.min(full, HEIGHT_MAX);
  const onScreen = Math.ceil(viewHeight / rowHeight) + 1;
  const reach = Math.max(1, height - viewHeight);
  const at = Math.min(Math.max(0, scrollTop), reach);
  const exact = full === height ? at / rowHeight : ((at / reach) * Math.max(0, full - viewHeight)) / rowHeight;
  const first = Math.max(0, Math.floor(exact) - BEYOND);
  const end = Math.min(count, Math.floor(exact) + onScreen + BEYOND);
  return { first, end, height, top: at - (exact - first) * rowHeight };
}

/** Where to scroll so that a row is seen; `undefined` where it is seen already. */
export function scrollToRow(frame: ListFrame, row: number): number | undefined {
  const { count, rowHeight, viewHeight, scrollTop } = frame;
  const full = count * rowHeight;
  const reach = Math.max(1, Math.min(full, HEIGHT_MAX) - viewHeight);
  const stretch = full <= HEIGHT_MAX ? 1 : Math.max(0, full - viewHeight) / reach;
  const seenFrom = scrollTop * stretch;
  const top = row * rowHeight;
  if (top < seenFrom) return top / stretch;
  if (top + rowHeight > seenFrom + viewHeight) return Math.max(0, top + rowHeight - viewHeight) / stretch;
  return undefined;
}
