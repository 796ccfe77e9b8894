/**
 * Finds a task by name, uuid or workflow name.
 *
 * Reading verbs take the newest of several and say so; acting verbs list them and refuse.
 */
import { SplashdownError } from "../base/errors.js";
import { isUuid } from "../base/ids.js";
import type { TaskSummaryView } from "./task-views.js";

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
    throw new SplashdownError("TASK_NOT_FOUND", `no task has the name, id or workflow ${reference}`, {
      details: { task: reference },
    });
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
