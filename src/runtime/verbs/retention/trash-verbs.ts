/**
 * `store trash|remove|restore|purge`: whole tasks to the trash of their store and back, and out of it for good.
 *
 * What goes to the trash is claimed first, so a superseded owner writes nothing into it. Source: FAULTS 11.
 */
import { SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { requireOwnerGone } from "../../../recovery/liveness.js";
import type { TaskStore, TrashedTask } from "../../../store/contract/contract.js";
import type { AuditEvent } from "../../audit/audit-file.js";
import { findTask } from "../../tasks/finding.js";
import { whileOpen } from "../../tasks/reading.js";
import { leaveHome, returnHome } from "../../tasks/residence.js";
import type { Services } from "../../services/services.js";
import type { TrashedTaskView, TrashOptions, TrashView } from "../../views/store-views.js";
import { formatTime } from "../../views/views.js";
import { DAY_MS } from "./task-retention.js";
import { measureTask } from "../../tasks/task-size.js";

export async function listTrash(services: Services): Promise<TrashView> {
  const tasks = (await services.store.trash()).map((each) => viewTrashed(services, each));
  return { action: "list", dry_run: false, tasks };
}

/** By hand, whatever its status. Errors: TASK_NOT_FOUND, TASK_AMBIGUOUS, OWNER_ALIVE, OWNER_UNCLEAR. */
export async function removeTasks(
  services: Services,
  references: readonly string[],
  options: TrashOptions = {},
): Promise<TrashView> {
  const names: string[] = [];
  const planned: TrashedTaskView[] = [];
  for (const reference of references) {
    await whileOpen(await findTask(services, reference, "tend"), async (task) => {
      names.push(task.name);
      planned.push({ task: task.name, size: await measureTask(task), deliverables: task.deliverablesFolder });
    });
  }
  return carryOut({ action: "remove", planned, options }, async () => {
    for (const name of names)
      await whileOpen(await findTask(services, name, "tend"), (task) => takeAway(services, task));
    return (await listTrash(services)).tasks.filter(({ task }) => names.includes(task));
  });
}

/** Errors: TASK_NOT_FOUND for what is not in the trash; those before it are restored then. */
export async function restoreTasks(services: Services, names: readonly string[]): Promise<TrashView> {
  const trash = await services.store.trash();
  const tasks: TrashedTaskView[] = [];
  for (const name of names) {
    const trashed = trash.find((each) => each.name === name);
    if (trashed === undefined || !(await services.store.restoreTask(name))) throw notInTrash(name);
    const task = await services.store.task(name);
    if (task !== undefined)
      await whileOpen(task, async () => {
        await returnHome(services, task);
        await note(services, task, { event: "restored", verb: "store restore" });
      });
    tasks.push(viewTrashed(services, trashed));
    services.log.info(`restored task ${name}`);
  }
  return { action: "restore", dry_run: false, tasks };
}

/** For good: the named ones, or all. Errors: TASK_NOT_FOUND for what is not in the trash. */
export async function purgeTasks(
  services: Services,
  names: readonly string[],
  options: TrashOptions = {},
): Promise<TrashView> {
  const trash = (await services.store.trash()).map((each) => viewTrashed(services, each));
  const missing = names.find((name) => !trash.some(({ task }) => task === name));
  if (missing !== undefined) throw notInTrash(missing);
  const planned = names.length === 0 ? trash : trash.filter(({ task }) => names.includes(task));
  return carryOut({ action: "purge", planned, options }, async () => {
    const gone: TrashedTaskView[] = [];
    for (const view of planned) {
      // Restored meanwhile by somebody else: then it is a task, and stays.
      if (!(await services.store.purgeTask(view.task))) continue;
      services.log.info(`purged task ${view.task}`);
      gone.push(view);
    }
    return gone;
  });
}

interface Removal extends Pick<TrashView, "action"> {
  readonly planned: readonly TrashedTaskView[];
  readonly options: TrashOptions;
}

async function carryOut(
  { action, planned, options }: Removal,
  act: () => Promise<readonly TrashedTaskView[]>,
): Promise<TrashView> {
  const plan: TrashView = { action, dry_run: true, tasks: planned };
  if (options.dryRun === true || planned.length === 0) return plan;
  if (options.confirm !== undefined && !(await options.confirm(plan))) return plan;
  return { action, dry_run: false, tasks: await act() };
}

async function takeAway(services: Services, task: TaskStore): Promise<void> {
  await requireOwnerGone({ task, clock: services.clock, takeOver: false, watchMs: LIMITS.ownerWatchMs });
  const epoch = await task.claim();
  await note(services, task, { event: "trashed", verb: "store remove" });
  await moveToTrash(services, task, epoch);
  services.log.info(`moved task ${task.name} to the trash`);
}

/** Look → act. Errors: OWNER_SUPERSEDED. */
export async function moveToTrash(services: Services, task: TaskStore, epoch: number): Promise<void> {
  const { store, clock } = services;
  if (!(await task.confirm(epoch)))
    throw new SplashdownError("OWNER_SUPERSEDED", `another process claimed task ${task.name}`, {
      details: { task: task.name },
    });
  await leaveHome(services, task);
  await store.trashTask(task.name, clock.nowMs());
}

/** Neither way needs a key; where one is at hand, the task's trail says it under its seal. */
async function note(services: Services, task: TaskStore, entry: { event: AuditEvent; verb: string }): Promise<void> {
  const vault = await services.keys.open(task).catch(() => undefined);
  if (vault !== undefined) await services.audit.note({ task, vault }, entry);
}

function viewTrashed({ settings }: Services, { name, trashedAtMs, sizeBytes }: TrashedTask): TrashedTaskView {
  const { trash_days: days } = settings.checkpoint_config;
  return {
    task: name,
    size: sizeBytes,
    trashed_at: formatTime(trashedAtMs),
    purged_after: formatTime(trashedAtMs + days * DAY_MS),
  };
}

function notInTrash(name: string): SplashdownError {
  return new SplashdownError("TASK_NOT_FOUND", `there is no task ${name} in the trash`, { details: { task: name } });
}
