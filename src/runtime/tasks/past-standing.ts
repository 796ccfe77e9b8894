/** A task as it stood right after one of its events. Reads only. */
import { SplashdownError } from "../../base/errors.js";
import { formatPlainValue } from "../../base/plain-value.js";
import { readHistory, type ScanCache } from "../../journal/history.js";
import { foldUntil } from "../../recovery/fold.js";
import type { TaskStore } from "../../store/contract/contract.js";
import type { Services } from "../services/services.js";
import type { TaskView } from "../views/task-views.js";
import { viewDeliverables, viewQuestion } from "../views/views.js";
import { viewGuidance } from "./guidance-view.js";
import { openTask, resolveValue, viewStanding } from "./reading.js";
import { measureTask } from "./task-size.js";

/**
 * What `show` tells, folded no further than event `n` (from 1). Who owns the task, where it lives and what would go on with
 * it are of today and left out.
 *
 * Errors: USAGE_INVALID for a number that no event has; CHECKPOINT_NOT_FOUND for one that `prune --history` cut off; those
 * of reading.
 */
export async function viewTaskAt(services: Services, task: TaskStore, n: number): Promise<TaskView> {
  const opened = await services.audit.watch({ task, verb: "show" }, openTask(services, task));
  await services.audit.note(opened, { event: "read", verb: "show", details: { past: true } });
  const cache: ScanCache = new Map();
  const last = (await readHistory({ ...opened, cache })).head?.n ?? 0;
  if (n > last)
    throw new SplashdownError("USAGE_INVALID", `${task.name} has events 1 to ${last}, and no event ${n}`, {
      details: { task: task.name },
    });
  const { state } = await foldUntil({ ...opened, until: n, cache });
  const questions = [...state.questions.values()].map((question) => viewQuestion(task.name, question));
  return {
    ...viewStanding(state, state.task?.status ?? "running"),
    task: task.name,
    workflow_id: opened.vault.taskId,
    folder: task.deliverablesFolder,
    encrypted: opened.vault.encrypted,
    as_of: { event: n, of: last },
    questions,
    guidance: viewGuidance(state, []),
    unread: [],
    open_questions: questions.filter(({ status }) => status === "open").length,
    deliverables: viewDeliverables(state),
    damage: [],
    size: await measureTask(task),
    output:
      state.task?.output === undefined ? undefined : formatPlainValue(await resolveValue(opened, state.task.output)),
  };
}
