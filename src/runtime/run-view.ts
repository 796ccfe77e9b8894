/** The view of how a task stands after this process did its part, or found that nothing was to be done. */
import type { JsonObject } from "../base/json.js";
import type { TaskState } from "../engine/state.js";
import type { RunView } from "./contract.js";
import { listUnacknowledgedKeys } from "./keys-verbs.js";
import { resolveValue, type OpenedTask } from "./reading.js";
import type { Services } from "./services.js";
import { countSteps, formatTime, viewDeliverables, viewMetrics, viewOpenQuestions } from "./views.js";

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
  const entry = state.task;
  const isDone = entry?.status === "done" || entry?.status === "partial";
  const reminders = isDone && how !== "finished_before" && vault.encrypted ? await remindOfKeys(services) : [];
  return {
    task: task.name,
    workflow_id: vault.taskId,
    workflow: entry?.definition.name ?? "",
    status: entry?.status ?? "crashed",
    reason: entry?.reason ?? "",
    exit_status: entry?.exitStatus ?? 0,
    resumable: entry?.resumable ?? true,
    questions: viewOpenQuestions(task.name, state),
    deliverables: viewDeliverables(state),
    folder: task.deliverablesFolder,
    how,
    steps: countSteps(state),
    metrics: viewMetrics(state),
    notices: [...notices, ...reminders],
    ...(entry?.output === undefined ? {} : { output: await resolveValue(opened, entry.output) }),
    ...(entry?.resumeAtMs === undefined ? {} : { resume_at: formatTime(entry.resumeAtMs) }),
    ...(recovery === undefined ? {} : { recovery }),
  };
}

async function remindOfKeys(services: Services): Promise<string[]> {
  const keys = await listUnacknowledgedKeys({ access: services.keys, fileSystem: services.fileSystem });
  return keys.map(
    (key) => `key ${key.fingerprint} in ${key.path} is not marked as backed up; copy it, then: splashdown keys ack`,
  );
}
