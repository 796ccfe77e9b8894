import { useSignal } from "@preact/signals";
import type { TaskSummaryView } from "../../src/runtime/contract.js";
import { goTo, route, setQuery } from "../live/navigation.js";
import { now, tasks } from "../live/state.js";
import { formatAgo, formatCost, formatSize, formatTokens } from "../model/figures.js";
import { formatRoute } from "../model/route.js";
import { countByStatus, selectTasks, statusOf, tellNow } from "../model/task-list.js";
import { showText } from "../model/visible.js";
import { Command } from "../parts/command.js";
import { Empty, Loading } from "../parts/notice.js";
import { Pool } from "../parts/pool.js";
import { Status } from "../parts/status.js";

const COLUMNS = [
  ["status", "Status", ""],
  ["task", "Task", ""],
  ["", "Now", ""],
  ["steps", "Steps", "number"],
  ["tokens", "Tokens", "number"],
  ["cost", "Cost", "number"],
  ["size", "Size", "number"],
  ["last", "Last event", "number"],
] as const;

/** All tasks of the store. */
export function TasksView() {
  const selected = useSignal(-1);
  const all = [...(tasks.value?.values() ?? [])];
  const { status = "", q: text = "", sort = "-last" } = route.value.query;
  const rows = selectTasks(all, { status, text, sort });
  const open = (index: number): void => {
    const task = rows[index]?.task;
    if (task !== undefined) goTo({ place: "task", task });
  };
  return (
    <section class="view full">
      <div class="head">
        <h1>Tasks</h1>
        <Filters all={all} status={status} text={text} />
      </div>
      {tasks.value === undefined ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Nothing isFiltered={all.length > 0} />
      ) : (
        <Pool
          label="tasks"
          count={rows.length}
          rowHeight={40}
          listKey={`${status} ${text} ${sort}`}
          selected={selected.value}
          onSelect={(index) => (selected.value = index)}
          onOpen={open}
          head={<Head sort={sort} />}
          row={(index) => <Row task={rows[index]} />}
        />
      )}
    </section>
  );
}

function Filters({ all, status, text }: { all: readonly TaskSummaryView[]; status: string; text: string }) {
  const chip = (value: string, count: number) => (
    <button
      key={value}
      type="button"
      class="chip"
      aria-pressed={status === value}
      onClick={() => setQuery({ status: status === value ? "" : value })}
    >
      {value === "" ? "all" : <Status of={value} small />} <span class="count">{count}</span>
    </button>
  );
  return (
    <div class="filters" role="search">
      {chip("", all.length)}
      {countByStatus(all).map(([value, count]) => chip(value, count))}
      <input
        data-search
        type="search"
        placeholder="search  /"
        aria-label="search tasks"
        value={text}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
    </div>
  );
}

function Head({ sort }: { readonly sort: string }) {
  return (
    <div class="pool-head tasks-grid" role="row">
      {COLUMNS.map(([column, title, kind]) => {
        const isSorted = column !== "" && sort.replace("-", "") === column;
        const order = isSorted ? (sort.startsWith("-") ? "descending" : "ascending") : undefined;
        return (
          <span key={title} role="columnheader" class={kind} aria-sort={order}>
            {column === "" ? (
              title
            ) : (
              <button
                type="button"
                class="quiet"
                onClick={() => setQuery({ sort: isSorted && !sort.startsWith("-") ? `-${column}` : column })}
              >
                {title}
                {isSorted && (order === "ascending" ? " ↑" : " ↓")}
              </button>
            )}
          </span>
        );
      })}
    </div>
  );
}

function Row({ task }: { readonly task: TaskSummaryView | undefined }) {
  if (task === undefined) return null;
  const { spent } = task;
  return (
    <div class="tasks-grid cells">
      <span role="gridcell">
        <Status of={statusOf(task)} />
      </span>
      <span role="gridcell" class="cut">
        <a href={formatRoute({ place: "task", task: task.task })}>{showText(task.task)}</a>
        {task.workflow !== undefined && task.workflow !== task.task && (
          <span class="muted"> {showText(task.workflow)}</span>
        )}
      </span>
      <span role="gridcell" class="cut muted" title={showText(tellNow(task))}>
        {showText(tellNow(task))}
      </span>
      <span role="gridcell" class="number">
        {task.steps_done}
      </span>
      <span role="gridcell" class="number">
        {spent !== undefined && formatTokens(spent)}
      </span>
      <span role="gridcell" class="number">
        {spent !== undefined && formatCost(spent)}
      </span>
      <span role="gridcell" class="number muted">
        {formatSize(task.size)}
      </span>
      <span role="gridcell" class="number muted">
        {task.last_event_at !== undefined && formatAgo(Date.parse(task.last_event_at), now.value)}
      </span>
    </div>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No task matches">
        <button type="button" onClick={() => setQuery({ status: "", q: "" })}>
          Show all
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No task yet">
      <p>A task is one run of a workflow. It appears here as soon as it starts, whoever starts it.</p>
      <Command of="splashdown init" />
      <Command of="splashdown run workflow.yaml" />
    </Empty>
  );
}
