import { useMemo } from "preact/hooks";
import type { TimelineView } from "../../src/runtime/contract.js";
import { taskPath } from "../live/api.js";
import { route, setQuery } from "../live/navigation.js";
import { useResource } from "../live/resource.js";
import { foldIdle, type Axis } from "../model/folded-time.js";
import { listBusy, selectLanes, zoomWindow } from "../model/timeline-lanes.js";
import { Empty, Failure, Loading } from "../parts/notice.js";
import { Pool } from "../parts/pool.js";
import type { TaskPart } from "./task-page.js";
import { LaneRow, Scale, type AxisWindow } from "./timeline-lane.js";
import { LaneTable } from "./timeline-table.js";

/** When every step ran: a lane each, a bar for each attempt; time in which nothing happened is folded. */
export function TimelinePane({ view, version }: TaskPart) {
  const { value, error, isLoading } = useResource<TimelineView>(taskPath(view.task, "/timeline"), version);
  const axis = useMemo(
    () => value && foldIdle(listBusy(value), { from: Date.parse(value.from), to: Date.parse(value.to) }),
    [value],
  );
  if (error !== undefined) return <Failure of={error} />;
  if (isLoading || value === undefined || axis === undefined) return <Loading />;
  if (value.lanes.length === 0) return <Empty title="No step has begun" />;
  return <Timeline value={value} axis={axis} />;
}

function Timeline({ value, axis }: { readonly value: TimelineView; readonly axis: Axis }) {
  const { query } = route.value;
  const { q = "", only = "", table = "", step } = query;
  const lanes = selectLanes(value.lanes, { text: q, isOnlyFailed: only === "failed", isDoneHidden: only === "open" });
  const window = { start: Number(query["x0"] ?? 0), end: Number(query["x1"] ?? 1) };
  const select = (index: number): void => setQuery({ step: lanes[index]?.step ?? "" });
  return (
    <>
      <Tools window={window} />
      {table === "1" ? (
        <LaneTable lanes={lanes} />
      ) : (
        <Pool
          label="lanes"
          count={lanes.length}
          rowHeight={26}
          listKey={q + only}
          selected={lanes.findIndex((lane) => lane.step === step)}
          onSelect={select}
          head={<Scale value={value} axis={axis} window={window} />}
          row={(index) => <LaneRow lane={lanes[index]} axis={axis} window={window} />}
        />
      )}
    </>
  );
}

function Tools({ window }: { readonly window: AxisWindow }) {
  const { q = "", only = "", table = "" } = route.value.query;
  const zoom = (factor: number): void =>
    setWindow(zoomWindow(window, { factor, around: (window.start + window.end) / 2 }));
  const move = (share: number): void => {
    const by = Math.max(-window.start, Math.min(1 - window.end, share * (window.end - window.start)));
    setWindow({ start: window.start + by, end: window.end + by });
  };
  const chip = (value: string, label: string) => (
    <button
      type="button"
      class="chip"
      aria-pressed={only === value}
      onClick={() => setQuery({ only: only === value ? "" : value })}
    >
      {label}
    </button>
  );
  return (
    <div class="filters" role="search">
      {chip("failed", "only failed")}
      {chip("open", "hide done")}
      <button
        type="button"
        class="chip"
        aria-pressed={table === "1"}
        onClick={() => setQuery({ table: table === "1" ? "" : "1" })}
      >
        show as table
      </button>
      <span class="zoom">
        <button type="button" class="quiet" aria-label="earlier" onClick={() => move(-0.5)}>
          ‹
        </button>
        <button type="button" class="quiet" aria-label="zoom out" onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" class="quiet" aria-label="zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" class="quiet" aria-label="later" onClick={() => move(0.5)}>
          ›
        </button>
        {(window.start > 0 || window.end < 1) && (
          <button type="button" class="quiet" onClick={() => setWindow({ start: 0, end: 1 })}>
            whole
          </button>
        )}
      </span>
      <input
        data-search
        type="search"
        aria-label="search lanes"
        placeholder="search  /"
        value={q}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
    </div>
  );
}

function setWindow({ start, end }: AxisWindow): void {
  const isWhole = start <= 0 && end >= 1;
  setQuery({ x0: isWhole ? "" : start.toFixed(6), x1: isWhole ? "" : end.toFixed(6) });
}
