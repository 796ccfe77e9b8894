/** `questions`: what people are asked, over all tasks of a store or one of them. Reads only. */
import { messageOf, SplashdownError } from "../../../base/errors.js";
import { mapInWindow } from "../../../base/window.js";
import { readTask } from "../../../recovery/fold.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { openReadable, TASKS_AT_ONCE } from "../../keychain/readable-tasks.js";
import type { Services } from "../../services/services.js";
import { findTask } from "../../tasks/finding.js";
import { openTask, viewQuestions, whileOpen } from "../../tasks/reading.js";
import { sortQuestions } from "../../views/question-order.js";
import type { OpenQuestionView, QuestionsView } from "../../views/face-views.js";

/**
 * Questions that nobody has answered, of all tasks or of the named one.
 *
 * Shape: the oldest question first; a task that cannot be read is in `passed_over`. Errors: with a name those of reading
 * that task, TASK_NOT_FOUND among them.
 */
export async function listQuestions(services: Services, reference?: string): Promise<QuestionsView> {
  if (reference !== undefined) {
    const task = await findTask(services, reference, "read");
    return { questions: sortQuestions(await whileOpen(task, () => readQuestions(services, task))), passed_over: [] };
  }
  const tasks: TaskStore[] = [];
  for await (const task of openReadable(services)) tasks.push(task);
  const passedOver: QuestionsView["passed_over"][number][] = [];
  const found = await mapInWindow(tasks, TASKS_AT_ONCE, (task) =>
    whileOpen(task, () => readQuestions(services, task)).catch((error: unknown) => {
      if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
      passedOver.push({ task: task.name, why: messageOf(error) });
      return [];
    }),
  );
  return { questions: sortQuestions(found.flat()), passed_over: passedOver };
}

async function readQuestions(services: Services, task: TaskStore): Promise<OpenQuestionView[]> {
  const opened = await services.audit.watch({ task, verb: "questions" }, openTask(services, task));
  await services.audit.note(opened, { event: "read", verb: "questions" });
  const { state } = await readTask(opened);
  const workflow = state.task?.definition.name;
  return (await viewQuestions(opened, state))
    .filter(({ status }) => status === "open")
    .map((question) => ({ task: task.name, ...(workflow === undefined ? {} : { workflow }), question }));
}
