import type { StepView } from "../../src/runtime/contract.js";
import { route, setQuery } from "../live/navigation.js";
import { now } from "../live/state.js";
import { formatClock, formatDuration, formatShare } from "../model/figures.js";
import { lookOf } from "../model/status.js";
import { showText } from "../model/visible.js";
import { Empty } from "../parts/notice.js";
import { Pool } from "../parts/pool.js";
import { Status } from "../parts/status.js";
import type { TaskPart } from "./task-page.js";

/** Every step in the order it began; attempts and visits are rows of their own. */
export function StepsView({ view }: TaskPart) {
  const { status = "", q = "", step } = route.value.query;
  const statuses = [...new Set(view.steps.map((row) => row.status))];
  const rows = view.steps.filter(
    (row) => (status === "" || row.status === status) && row.step.toLowerCase().includes(q.toLowerCase()),
  );
  const select = (index: number): void => {
    const found = rows[index];
    if (found !== undefined) setQuery({ step: found.step });
  };
  return (
    <>
      <div class="filters" role="search">
        {statuses.length > 1 &&
          statuses.map((value) => (
            <button
              key={value}
              type="button"
              class="chip"
              aria-pressed={status === value}
              onClick={() => setQuery({ status: status === value ? "" : value })}
            >
              <Status of={value} small />{" "}
              <span class="count">{view.steps.filter((row) => row.status === value).length}</span>
            </button>
          ))}
        <input
          data-search
          type="search"
          aria-label="search steps"
          placeholder="search  /"
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
      </div>
      {rows.length === 0 ? (
        <Empty
          title={view.steps.length === 0 ? "No step has begun" : `No step is ${lookOf(status).word} and matches`}
        />
      ) : (
        <Pool
          label="steps"
          count={rows.length}
          rowHeight={36}
          listKey={status + q}
          selected={rows.findIndex((row) => row.step === step)}
          onSelect={select}
          row={(index) => <Row step={rows[index]} />}
        />
      )}
    </>
  );
}

function Row({ step }: { readonly step: StepView | undefined }) {
  if (step === undefined) return null;
  const { status, path, attempt, kind, duration, confidence, error, reason, started_at, progress } = step;
  const told = error?.["message"] ?? reason ?? progress?.["message"];
  return (
    <div class="steps-grid cells">
      <span role="gridcell">
        <Status of={status} />
      </span>
      <span role="gridcell" class="cut" title={path}>
        {showText(path)}
        {attempt > 1 && <span class="muted"> attempt {attempt}</span>}
      </span>
      <span role="gridcell" class="muted">
        {kind}
      </span>
      <span role="gridcell" class="cut muted">
        {typeof told === "string" && showText(told)}
      </span>
      <span role="gridcell" class="number">
        {confidence !== undefined && formatShare(confidence)}
      </span>
      <span role="gridcell" class="number">
        {duration !== undefined && formatDuration(duration)}
      </span>
      <span role="gridcell" class="number muted">
        {formatClock(started_at, now.value)}
      </span>
    </div>
  );
}
