/**
 * `keys shred`: destroys the keys of one task, so that its sealed files are noise wherever copies of them are.
 *
 * Whoever lives and owns the task holds its key in memory, so it must be gone. The mark comes first, then every keyring
 * file is written over and removed, newest last: interrupted, the verb is simply given again. Deliverables are plain
 * files and stay; so does what a keyring that was copied away still opens, and what a disk keeps of bytes written over.
 * Source: STORAGE section 2.3.
 */
import { SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { requireOwnerGone } from "../../../recovery/liveness.js";
import type { TaskStore } from "../../../store/contract/contract.js";
import { inspectKeyring } from "../../../vault/keyring-view.js";
import type { ShredOptions, ShredView } from "../../views/bundle-views.js";
import { findTask } from "../../tasks/finding.js";
import { whileOpen } from "../../tasks/reading.js";
import type { Services } from "../../services/services.js";
import { readShredMark, writeShredMark } from "../../keychain/shred-mark.js";
import { formatTime } from "../../views/views.js";

const FIRST_KEYRING = "keyring-1.json";

/** Errors: TASK_NOT_FOUND, OWNER_ALIVE, OWNER_UNCLEAR; USAGE_INVALID where nothing is sealed or the answer was no. */
export async function shredKeys(services: Services, reference: string, options: ShredOptions = {}): Promise<ShredView> {
  return whileOpen(await findTask(services, reference, "tend"), async (task) => {
    const keyrings = await listKeyrings(task);
    const mark = await readShredMark(task);
    if (keyrings.length === 0) {
      if (mark !== undefined) return { ...view(task, keyrings, false), ...(await destroyAgain(task)) };
      throw new SplashdownError("USAGE_INVALID", `task ${task.name} has no keyring: nothing in it is sealed`, {
        details: { verb: "keys shred", task: task.name },
      });
    }
    const plan = view(task, keyrings, true);
    if (options.confirm !== undefined && !(await options.confirm(plan))) return { ...plan, shredded: false };
    await requireOwnerGone({ task, clock: services.clock, takeOver: false, watchMs: LIMITS.ownerWatchMs });
    return { ...plan, ...(await destroy(services, task, keyrings)) };
  });
}

async function destroy(
  services: Services,
  task: TaskStore,
  keyrings: readonly string[],
): Promise<Pick<ShredView, "may_remain">> {
  // Whoever was taken for dead and is not must not go on writing what nobody can read.
  await task.claim();
  await noteIfOpen(services, task);
  const { task: taskId } = (await inspectKeyring(task).catch(() => undefined)) ?? {};
  await writeShredMark(task, { at: formatTime(services.clock.nowMs()), by: services.environment.user });
  let left: string | undefined;
  // What is left after the last one is left of all.
  for (const key of keyrings) left = await task.destroy(key);
  if (taskId !== undefined) await services.keys.memory.raiseToDestroyed(taskId);
  return viewRemains(left);
}

/** What kept bytes of them the first time may be gone now. */
async function destroyAgain(task: TaskStore): Promise<Pick<ShredView, "may_remain">> {
  return viewRemains(await task.destroy(FIRST_KEYRING));
}

function viewRemains(left: string | undefined): Pick<ShredView, "may_remain"> {
  return left === undefined ? {} : { may_remain: [left] };
}

/** Destroying needs no key: a lost one is a good reason to. Where one is at hand, the trail says it under its seal. */
async function noteIfOpen(services: Services, task: TaskStore): Promise<void> {
  const vault = await services.keys.open(task).catch(() => undefined);
  if (vault === undefined) return;
  const generations = (await inspectKeyring(task))?.keys.map(({ id }) => id) ?? [];
  const details = { keys: generations };
  await services.audit.note({ task, vault }, { event: "shredded", verb: "keys shred", details });
}

async function listKeyrings(task: TaskStore): Promise<string[]> {
  return (await task.list("keyring-")).map(({ key }) => key);
}

function view(task: TaskStore, keyrings: readonly string[], shredded: boolean): ShredView {
  return { task: task.name, shredded, keyrings, folder: task.deliverablesFolder };
}
