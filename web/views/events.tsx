import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { EventView } from "../../src/runtime/contract.js";
import { read, taskPath } from "../live/api.js";
import { route, setQuery } from "../live/navigation.js";
import { now } from "../live/state.js";
import { formatClock } from "../model/figures.js";
import { showText } from "../model/visible.js";
import { Empty, Failure, Loading } from "../parts/notice.js";
import { Pool } from "../parts/pool.js";
import { Value } from "../parts/value.js";
import type { TaskPart } from "./task-page.js";

/** The journal as it grows. */
export function EventsView({ view, version }: TaskPart) {
  const { task } = view;
  const list = useSignal<readonly EventView[] | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const isPaused = useSignal(false);
  const chosen = useSignal<EventView | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    if (!isPaused.peek())
      readOn(task, list, stop.signal).catch((fault: Error) => {
        if (!stop.signal.aborted) error.value = fault;
      });
    return () => stop.abort();
  }, [task, version, isPaused.value]);
  if (error.value !== undefined) return <Failure of={error.value} />;
  if (list.value === undefined) return <Loading />;
  const { q = "", type = "" } = route.value.query;
  const rows = list.value.filter(
    (row) => (type === "" || row.type === type) && row.text.toLowerCase().includes(q.toLowerCase()),
  );
  return (
    <>
      <Filters all={list.value} q={q} type={type} isPaused={isPaused} />
      {rows.length === 0 ? (
        <Empty title="No event matches" />
      ) : (
        <Pool
          label="events"
          count={rows.length}
          rowHeight={30}
          listKey={q + type}
          isTail={!isPaused.value}
          onSelect={(index) => (chosen.value = rows[index])}
          row={(index) => <Row event={rows[index]} />}
        />
      )}
      {chosen.value !== undefined && <Chosen event={chosen.value} onClose={() => (chosen.value = undefined)} />}
    </>
  );
}

/** The server gives out so many at once; what follows is asked for from the last one on. */
async function readOn(
  task: string,
  list: Signal<readonly EventView[] | undefined>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const known = list.peek() ?? [];
    const after = known.at(-1)?.n ?? 0;
    const more = await read<readonly EventView[]>(taskPath(task, `/events?from=${after + 1}`));
    if (signal.aborted) return;
    list.value = [...known, ...more.filter(({ n }) => n > after)];
    if (more.length < 100) return;
  }
}

interface FilterProps {
  readonly all: readonly EventView[];
  readonly q: string;
  readonly type: string;
  readonly isPaused: { value: boolean };
}

function Filters({ all, q, type, isPaused }: FilterProps) {
  const types = [...new Set(all.map((event) => event.type))].sort();
  return (
    <div class="filters" role="search">
      <select
        aria-label="kind of event"
        value={type}
        onChange={(event) => setQuery({ type: event.currentTarget.value })}
      >
        <option value="">every kind</option>
        {types.map((one) => (
          <option key={one} value={one}>
            {one.replaceAll("_", " ")}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="chip"
        aria-pressed={isPaused.value}
        onClick={() => (isPaused.value = !isPaused.value)}
      >
        {isPaused.value ? "go on" : "pause"}
      </button>
      <span class="muted">{all.length} events</span>
      <input
        data-search
        type="search"
        aria-label="search events"
        placeholder="search  /"
        value={q}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
    </div>
  );
}

function Row({ event }: { readonly event: EventView | undefined }) {
  if (event === undefined) return null;
  return (
    <div class="events-grid cells">
      <span role="gridcell" class="number muted">
        {event.n}
      </span>
      <span role="gridcell" class="muted">
        {formatClock(event.at, now.value)}
      </span>
      <span role="gridcell" class="muted cut">
        {event.type.replaceAll("_", " ")}
      </span>
      <span role="gridcell" class="cut">
        {showText(event.text).replaceAll("\n", " ")}
      </span>
    </div>
  );
}

function Chosen({ event, onClose }: { readonly event: EventView; readonly onClose: () => void }) {
  return (
    <section class="chosen" aria-label={`event ${event.n}`}>
      <div class="head">
        <h2>
          event {event.n}, {event.type.replaceAll("_", " ")}
        </h2>
        <button type="button" class="quiet" onClick={() => setQuery({ at: String(event.n) })}>
          the task as it stood then
        </button>
        <button type="button" class="quiet right" aria-label="close" onClick={onClose}>
          ✕
        </button>
      </div>
      <Value of={event.event} />
    </section>
  );
}
