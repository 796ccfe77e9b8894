import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { onListKey } from "../live/keys.js";
import { scrollToRow, selectRows } from "../model/windowed-rows.js";

interface PoolProps {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  /** What a row holds; called for those on the screen only. */
  readonly row: (index: number) => ComponentChildren;
  /** Another list than before: it begins at the top. */
  readonly listKey?: string;
  readonly selected?: number;
  readonly onSelect?: (index: number) => void;
  readonly onOpen?: (index: number) => void;
  /** Stays at the end while the list grows, unless scrolled away. */
  readonly isTail?: boolean;
  readonly head?: ComponentChildren;
}

/** A list of any length: some forty elements that are filled anew while it scrolls. */
export function Pool(props: PoolProps) {
  const { label, count, rowHeight, row, listKey, onSelect, onOpen, isTail, head } = props;
  const box = useRef<HTMLDivElement>(null);
  const [frame, setFrame] = useState({ scrollTop: 0, viewHeight: 600 });
  const [own, setOwn] = useState(-1);
  const selected = props.selected ?? own;
  const atEnd = useRef(true);
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop, clientHeight: viewHeight, scrollHeight } = element;
    atEnd.current = scrollTop + viewHeight >= scrollHeight - rowHeight;
    setFrame((old) => (old.scrollTop === scrollTop && old.viewHeight === viewHeight ? old : { scrollTop, viewHeight }));
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    box.current?.scrollTo(0, 0);
  }, [listKey]);
  useLayoutEffect(() => {
    if (isTail === true && atEnd.current) box.current?.scrollTo(0, box.current.scrollHeight);
  }, [count, isTail]);
  const list = { count, rowHeight, ...frame };
  useLayoutEffect(() =>
    onListKey({
      move: (by) => {
        const next = Math.min(count - 1, Math.max(0, selected < 0 ? 0 : selected + by));
        const top = scrollToRow(list, next);
        if (top !== undefined) box.current?.scrollTo(0, top);
        setOwn(next);
        onSelect?.(next);
      },
      open: () => {
        if (selected >= 0 && selected < count) (onOpen ?? onSelect)?.(selected);
      },
    }),
  );
  const { first, end, height, top } = selectRows(list);
  const rows = Array.from({ length: Math.max(0, end - first) }, (_none, at) => first + at);
  return (
    <div class="pool" role="grid" aria-label={label} aria-rowcount={count} ref={box} onScroll={measure} tabIndex={0}>
      {head}
      <div class="pool-space" style={{ height: `${height}px` }}>
        {rows.map((index, at) => (
          <div
            key={index % (rows.length || 1)}
            class={index === selected ? "pool-row selected" : "pool-row"}
            role="row"
            aria-rowindex={index + 1}
            aria-selected={index === selected}
            style={{ transform: `translateY(${top + at * rowHeight}px)`, height: `${rowHeight}px` }}
            onClick={() => {
              setOwn(index);
              (onOpen ?? onSelect)?.(index);
            }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
