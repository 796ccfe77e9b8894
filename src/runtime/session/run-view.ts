/** The view of how a task stands after this process did its part, or found that nothing was to be done. */
import type { JsonObject } from "../../base/json.js";
import { formatPlainValue } from "../../base/plain-value.js";
import type { QuestionId } from "../../base/ids.js";
import type { QuestionEntry, TaskEntry, TaskState } from "../../engine/model/state.js";
import { describeLostAnswers } from "../tasks/lost-answers.js";
import type { QuestionView, RunView } from "../views/task-views.js";
import { resolveValue, viewQuestions, type OpenedTask } from "../tasks/reading.js";
import type { Services } from "../services/services.js";
import { chooseNext, countSteps, formatTime, viewDeliverables, viewFailures, viewMetrics } from "../views/views.js";
import { listUnacknowledgedKeys } from "../keychain/acknowledged-keys.js";

export interface RunViewParts {
  readonly opened: OpenedTask;
  readonly state: TaskState;
  readonly how: RunView["how"];
  readonly recovery?: JsonObject;
  readonly notices?: readonly string[];
}

export async function viewRun(services: Services, parts: RunViewParts): Promise<RunView> {
  const { opened, state, how, recovery, notices = [] } = parts;
  const { task, vault } = opened;
  const questions = (await viewQuestions(opened, state)).filter(({ status }) => status === "open");
  const lost = await describeLostAnswers(opened, listNamed(state, questions));
  const end = viewEnd(state.task);
  const isDone = state.task?.status === "done" || state.task?.status === "partial";
  const reminders = isDone && how !== "finished_before" && vault.encrypted ? await remindOfKeys(services) : [];
  return {
    ...end,
    task: task.name,
    workflow_id: vault.taskId,
    questions,
    next: chooseNext({ task: task.name, ...end, openQuestions: questions.length, origin: state.task }),
    deliverables: viewDeliverables(state),
    folder: task.deliverablesFolder,
    how,
    steps: countSteps(state),
    ...viewFailures(state),
    metrics: viewMetrics(state),
    notices: [...notices, ...lost, ...reminders],
    output:
      state.task?.output === undefined ? undefined : formatPlainValue(await resolveValue(opened, state.task.output)),
    recovery,
  };
}

function listNamed({ questions }: TaskState, named: readonly QuestionView[]): QuestionEntry[] {
  return named.flatMap(({ id }) => questions.get(id as QuestionId) ?? []);
}

/** A task that never started counts as crashed. */
function viewEnd(task: TaskEntry | undefined) {
  if (task === undefined) return { workflow: "", status: "crashed", reason: "", exit_status: 0, resumable: true };
  return {
    workflow: task.definition.name,
    status: task.status,
    reason: task.reason ?? "",
    exit_status: task.exitStatus ?? 0,
    resumable: task.resumable,
    resume_at: task.resumeAtMs === undefined ? undefined : formatTime(task.resumeAtMs),
  };
}

async function remindOfKeys(services: Services): Promise<string[]> {
  const keys = await listUnacknowledgedKeys({ access: services.keys, fileSystem: services.fileSystem });
  return keys.map(
    (key) => `key ${key.fingerprint} in ${key.path} is not marked as backed up; copy it, then: splashdown keys ack`,
  );
}
