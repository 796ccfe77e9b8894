import { useRef } from "preact/hooks";
import type { TaskView } from "../../src/runtime/contract.js";
import { goTo, route } from "../live/navigation.js";
import { useResource } from "../live/resource.js";
import { picture, tasks, trouble } from "../live/state.js";
import { ApiError, taskPath } from "../live/api.js";
import { formatRoute, TABS, type Tab } from "../model/route.js";
import { statusOf } from "../model/task-list.js";
import { showText } from "../model/visible.js";
import { Command } from "../parts/command.js";
import { Empty, Failure, Loading } from "../parts/notice.js";
import { Status } from "../parts/status.js";
import { Text } from "../parts/text.js";
import { CheckpointsView } from "./checkpoints.js";
import { DecisionsView } from "./decisions.js";
import { EventsView } from "./events.js";
import { GraphPane } from "./graph.js";
import { OverviewView } from "./overview.js";
import { StepPanel } from "./step-panel.js";
import { StepsView } from "./steps.js";
import { TaskMetricsView } from "./task-metrics.js";
import { TimeSlider } from "./time-slider.js";
import { TimelinePane } from "./timeline.js";

export interface TaskPart {
  readonly view: TaskView;
  /** Changes whenever the task does. */
  readonly version: number;
}

const VIEWS: Readonly<Record<Tab, (part: TaskPart) => preact.JSX.Element | null>> = {
  overview: OverviewView,
  graph: GraphPane,
  timeline: TimelinePane,
  steps: StepsView,
  decisions: DecisionsView,
  checkpoints: CheckpointsView,
  events: EventsView,
  metrics: TaskMetricsView,
};

/** One task: its head, its views, and the step that is looked into beside them. */
export function TaskPage({ task }: { readonly task: string }) {
  const { tab, query } = route.value;
  const { at, step } = query;
  const { view, error, events } = useView(task, at);
  if (error !== undefined) return <Unreadable task={task} error={error} />;
  if (view === undefined) return <Loading />;
  const Tabbed = VIEWS[tab];
  return (
    <section class="view full task">
      <Head view={view} />
      <nav class="tabs" aria-label="views of the task">
        {TABS.map((name) => (
          <a key={name} href={tabAddress(task, name)} aria-current={tab === name ? "page" : undefined}>
            {name}
          </a>
        ))}
        <TimeSlider of={events} />
      </nav>
      <div class={step === undefined ? "panes" : "panes with-step"}>
        <div class="pane">
          <Tabbed view={view} version={versionOf(view)} />
        </div>
        {step !== undefined && <StepPanel task={task} step={step} version={versionOf(view)} />}
      </div>
    </section>
  );
}

interface ViewNow {
  readonly view?: TaskView | undefined;
  readonly error?: Error | undefined;
  /** The number of the last event. */
  readonly events?: number | undefined;
}

/** The task as it stands, or as it stood after an event; while another moment is read, the one before it stays. */
function useView(task: string, at: string | undefined): ViewNow {
  const past = useResource<TaskView>(at === undefined ? undefined : taskPath(task, `?at=${encodeURIComponent(at)}`));
  const first = useResource<TaskView>(picture.value?.task === task ? undefined : taskPath(task));
  const seen = useRef<TaskView | undefined>(undefined);
  if (at === undefined || past.value !== undefined) seen.current = past.value;
  const live = picture.value?.task === task ? picture.value.view : first.value;
  if (at !== undefined)
    return { view: seen.current ?? live, error: past.error, events: seen.current?.as_of?.of ?? live?.last_event };
  const told = trouble.value?.task === task ? trouble.value.error : undefined;
  const error = told === undefined ? undefined : new ApiError(told.code, told.message);
  return { view: live, events: live?.last_event, error: error ?? (live === undefined ? first.error : undefined) };
}

/** The selection and the moment stay when the view changes. */
function tabAddress(task: string, tab: Tab): string {
  const { at = "", step = "" } = route.value.query;
  return formatRoute({ place: "task", task, tab, query: { at, step } });
}

function versionOf({ last_event, status, size }: TaskView): number {
  return last_event + size + status.length;
}

function Head({ view }: { readonly view: TaskView }) {
  const { task, workflow, as_of, problem } = view;
  return (
    <div class="head">
      <h1>{showText(task)}</h1>
      <Status of={statusOf(view)} />
      {workflow !== undefined && workflow !== task && <span class="muted">{showText(workflow)}</span>}
      {view.forked_from !== undefined && (
        <a href={formatRoute({ place: "task", task: view.forked_from.task })}>
          fork of {showText(view.forked_from.task)}, checkpoint {view.forked_from.seq}
        </a>
      )}
      {as_of !== undefined && (
        <span class="pill">
          as it stood after event {as_of.event} of {as_of.of}
        </span>
      )}
      {problem !== undefined && <Text of={problem.message} />}
    </div>
  );
}

/** A task that no key opens here is known by its clear header, with the command that opens it. */
function Unreadable({ task, error }: { readonly task: string; readonly error: Error }) {
  const row = tasks.value?.get(task);
  return (
    <section class="view">
      <div class="head">
        <h1>{showText(task)}</h1>
        {row !== undefined && <Status of={statusOf(row)} />}
      </div>
      <Failure of={error} />
      {row?.problem !== undefined && (
        <Empty title={row.problem.message}>
          <Command of={row.problem.hint} />
        </Empty>
      )}
      <button type="button" onClick={() => goTo({ place: "tasks" })}>
        All tasks
      </button>
    </section>
  );
}
