/** Short truths about all tasks: status from recovery's scan, name of the workflow and times from the journal's ends. */
import { errorCodeOf } from "../base/errors.js";
import { ERROR_TABLE } from "../base/error-table.js";
import { readHistory } from "../journal/history.js";
import { scanTasks, type ScannedTask } from "../recovery/scan.js";
import type { TaskStore } from "../store/contract.js";
import type { TaskSummaryView } from "./contract.js";
import type { Services } from "./services.js";
import { formatTime } from "./views.js";

/** Shape: in the order of names. A task that cannot be read is one entry with its problem. */
export async function listSummaries(services: Services): Promise<TaskSummaryView[]> {
  const scanned = await scanTasks({ store: services.store, openVault: (task) => services.keys.open(task) });
  return Promise.all(scanned.map((entry) => summarise(services, entry)));
}

async function summarise(services: Services, entry: ScannedTask): Promise<TaskSummaryView> {
  const task = await services.store.task(entry.name);
  const details = task === undefined ? NOTHING : await readDetails(services, task, entry);
  const { problem, closed } = entry;
  return {
    task: entry.name,
    status: entry.status,
    size: details.size,
    ...(entry.taskId === undefined ? {} : { workflow_id: entry.taskId }),
    ...(entry.lastAtMs === undefined ? {} : { last_event_at: formatTime(entry.lastAtMs) }),
    ...(closed?.resumeAtMs === undefined ? {} : { resume_at: formatTime(closed.resumeAtMs) }),
    ...(details.workflow === undefined ? {} : { workflow: details.workflow, started_at: details.startedAt ?? "" }),
    ...(details.stepsDone === undefined ? {} : { steps_done: details.stepsDone }),
    ...(problem === undefined
      ? {}
      : {
          problem: {
            code: problem.code,
            message: problem.message,
            hint: ERROR_TABLE[problem.code].hint.replace("{task}", entry.name),
          },
        }),
  };
}

interface Details {
  readonly size: number;
  readonly workflow?: string;
  readonly startedAt?: string;
  readonly stepsDone?: number;
}

const NOTHING: Details = { size: 0 };

async function readDetails(services: Services, task: TaskStore, entry: ScannedTask): Promise<Details> {
  try {
    const size = await measureTask(task);
    if (entry.problem !== undefined && entry.taskId === undefined) return { size };
    const history = await readHistory({ task, vault: await services.keys.open(task) });
    const first = history.records[0]?.decode();
    if (first?.type !== "task_started") return { size };
    const stepsDone = history.records.filter((record) => record.kind === "completion").length;
    return { size, workflow: first.definition.name, startedAt: formatTime(first.atMs), stepsDone };
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return NOTHING;
  } finally {
    await task.close();
  }
}

/** Bytes of a task's journal and objects. */
async function measureTask(task: TaskStore): Promise<number> {
  const [segments, objects] = await Promise.all([task.segments(), task.list("")]);
  return [...segments, ...objects].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
