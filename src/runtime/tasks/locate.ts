/**
 * Finds a task by name, uuid or workflow name.
 *
 * Reading verbs take the newest of several and say so; acting verbs list them and refuse.
 */
import { SplashdownError } from "../../base/errors.js";
import { isUuid } from "../../base/ids.js";
import { formatCount } from "../../base/plain-text.js";
import type { TaskSummaryView } from "../views/task-views.js";

export interface LocateRequest {
  readonly reference: string;
  readonly purpose: "read" | "act";
  readonly notice: (message: string) => void;
}

/**
 * The name of the task meant.
 *
 * Errors: TASK_NOT_FOUND; TASK_AMBIGUOUS with all that fit.
 */
export function selectTask(tasks: readonly TaskSummaryView[], request: LocateRequest): string {
  const { reference, purpose, notice } = request;
  const byName = tasks.find((task) => task.task === reference);
  if (byName !== undefined) return byName.task;
  if (isUuid(reference)) {
    const byId = tasks.find((task) => task.workflow_id === reference);
    if (byId !== undefined) return byId.task;
  }
  const byWorkflow = tasks.filter((task) => task.workflow === reference);
  const [first, second] = [...byWorkflow].sort((a, b) => ((a.started_at ?? "") < (b.started_at ?? "") ? 1 : -1));
  if (first === undefined) {
    const text = `no task has the name, id or workflow ${reference}${tellUnread(tasks)}`;
    throw new SplashdownError("TASK_NOT_FOUND", text, { details: { task: reference } });
  }
  if (second === undefined) return first.task;
  const names = byWorkflow.map((task) => `${task.task} (${task.status})`);
  if (purpose === "act") {
    throw new SplashdownError(
      "TASK_AMBIGUOUS",
      `${names.length} tasks of workflow ${reference} fit: ${names.join(", ")}`,
      { details: { tasks: names } },
    );
  }
  notice(`${names.length} tasks of workflow ${reference} fit; the newest is taken: ${first.task}`);
  return first.task;
}

/** The workflow of a task that cannot be read is not known: it may be the one that is meant. */
function tellUnread(tasks: readonly TaskSummaryView[]): string {
  const codes = tasks.flatMap(({ workflow, problem }) => (workflow === undefined && problem ? [problem.code] : []));
  if (codes.length === 0) return "";
  const [is, whose] = codes.length === 1 ? ["is", "its name"] : ["are", "their names"];
  const why = [...new Set(codes)].join(", ");
  return `; ${formatCount(codes.length, "task")} cannot be read (${why}), and ${is} found by ${whose} alone`;
}
