/** Finds tasks and checkpoints by what people type: names, ids, workflow names, sequences, `phaseN`, files, `latest`. */
import { writeCommand } from "../../base/command-text.js";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { selectCheckpoint } from "../../checkpoint/listing.js";
import type { CheckpointEntry, TaskState } from "../../engine/model/state.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { selectTask } from "./locate.js";
import { openReadable } from "../keychain/readable-tasks.js";
import { readState, type OpenedTask } from "./reading.js";
import { requireOneHome } from "./residence.js";
import type { Services } from "../services/services.js";
import { listSummaries } from "./summaries.js";

/**
 * What a task is looked for: to read it; to act on the task; to act on it and have it live here from now on; to tend the
 * files of this very copy, whichever is at home.
 */
export type Purpose = "read" | "act" | "act_here" | "tend";

/**
 * Opens the task meant; the caller closes it.
 *
 * Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS; to act on it also TASK_TWIN and TASK_DISPLACED, unless it is to live here.
 */
export async function findTask(services: Services, reference: string, purpose: Purpose): Promise<TaskStore> {
  const task = await openTask(services, reference, purpose);
  if (purpose !== "act") return task;
  try {
    await requireOneHome(services, task);
    return task;
  } catch (error) {
    await task.close();
    throw error;
  }
}

async function openTask(services: Services, reference: string, purpose: Purpose): Promise<TaskStore> {
  const direct = await services.store.task(reference).catch(() => undefined);
  if (direct !== undefined) return direct;
  const name = await selectName(services, reference, purpose === "read" ? "read" : "act");
  const task = await services.store.task(name);
  if (task === undefined)
    throw new SplashdownError("TASK_NOT_FOUND", `task ${name} is gone`, { details: { task: name } });
  return task;
}

async function selectName(services: Services, reference: string, purpose: "read" | "act"): Promise<string> {
  const summaries = await listSummaries(services);
  try {
    return selectTask(summaries, { reference, purpose, notice: (message) => services.log.warn(message) });
  } catch (error) {
    if (isErrorCode(error, "TASK_NOT_FOUND")) await requireNotTrashed(services, reference);
    throw error;
  }
}

/** Errors: TASK_NOT_FOUND for a task in the trash, with the command that brings it back. */
export async function requireNotTrashed({ store }: Pick<Services, "store">, name: string): Promise<void> {
  if (!(await store.trash()).some((each) => each.name === name)) return;
  const text = `task ${name} is in the trash; bring it back with: ${writeCommand("store restore", [name])}`;
  throw new SplashdownError("TASK_NOT_FOUND", text, { details: { task: name } });
}

export interface FoundCheckpoint extends OpenedTask {
  readonly checkpoint: CheckpointEntry;
  /** The state of the whole task, as of now. */
  readonly state: TaskState;
}

/**
 * Finds a checkpoint: `REFERENCE` over all tasks, or `TASK:REFERENCE` in one. The caller closes its task.
 *
 * Errors: CHECKPOINT_NOT_FOUND; CHECKPOINT_AMBIGUOUS with all that fit; TASK_NOT_FOUND.
 */
export async function findCheckpoint(
  services: Services,
  text: string,
  { verb, within }: { readonly verb: string; readonly within?: string | undefined },
): Promise<FoundCheckpoint> {
  const wanted = parseReference(text, within);
  const isOneOfMany = wanted.task === undefined;
  const tasks = wanted.task === undefined ? await openAll(services) : [await findTask(services, wanted.task, "read")];
  const found: FoundCheckpoint[] = [];
  for (const task of tasks) {
    const candidate = await findIn(services, task, { ...wanted, verb, isOneOfMany });
    if (candidate === undefined) await task.close();
    else found.push(candidate);
  }
  const [only, second] = found;
  if (only === undefined) {
    throw new SplashdownError("CHECKPOINT_NOT_FOUND", `no checkpoint fits ${text}`, {
      details: { checkpoint: text, ...(wanted.task === undefined ? {} : { task: wanted.task }) },
    });
  }
  if (second === undefined) return only;
  const places = found.map(({ task, checkpoint }) => `${task.name}:${checkpoint.seq}`);
  for (const { task } of found) await task.close();
  throw new SplashdownError("CHECKPOINT_AMBIGUOUS", `${places.length} checkpoints fit ${text}: ${places.join(", ")}`, {
    details: { checkpoints: places },
  });
}

interface Reference {
  readonly task: string | undefined;
  readonly checkpoint: string;
}

/** `TASK:REFERENCE`, or a reference within a given task or over all. */
function parseReference(text: string, within: string | undefined): Reference {
  const colon = text.lastIndexOf(":");
  if (within !== undefined || colon <= 0) return { task: within, checkpoint: text };
  return { task: text.slice(0, colon), checkpoint: text.slice(colon + 1) };
}

/** The task a checkpoint id belongs to. Errors: as `findCheckpoint`. */
export async function findTaskOfCheckpoint(services: Services, id: string): Promise<TaskStore> {
  return (await findCheckpoint(services, id, { verb: "resume" })).task;
}

async function openAll(services: Services): Promise<TaskStore[]> {
  const tasks: TaskStore[] = [];
  for await (const task of openReadable(services)) tasks.push(task);
  return tasks;
}

/** With many tasks to look through, one that cannot be read is passed over and said. */
async function findIn(
  services: Services,
  task: TaskStore,
  { checkpoint: reference, verb, isOneOfMany }: Reference & { readonly verb: string; readonly isOneOfMany: boolean },
): Promise<FoundCheckpoint | undefined> {
  try {
    const reading = readState(services, task);
    const { folded, ...opened } = await (isOneOfMany ? reading : services.audit.watch({ task, verb }, reading));
    const { entry } = selectCheckpoint(
      folded.state.checkpoints.map((checkpoint) => ({ entry: checkpoint })),
      reference,
      task.name,
    );
    return { ...opened, checkpoint: entry, state: folded.state };
  } catch (error) {
    if (isOneOfMany && isErrorCode(error, "CHECKPOINT_NOT_FOUND")) return undefined;
    if (!isOneOfMany || !(error instanceof SplashdownError)) throw error;
    services.log.warn(`task ${task.name} was skipped: ${error.message}`);
    return undefined;
  }
}
