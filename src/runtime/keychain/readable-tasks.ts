/** Goes through the tasks of a store without letting one bad folder stand in the way of the others (R12). */
import { messageOf, SplashdownError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { Store, TaskStore } from "../../store/contract/contract.js";

/** So many are read side by side where all are looked at, each with its whole history in memory meanwhile. */
export const TASKS_AT_ONCE = 8;

/**
 * Every task that can be opened, one after the other; one that cannot, because its folder is not safe, is said and
 * passed over.
 *
 * Shape: in the order of names; the caller closes each.
 */
export async function* openReadable(from: { readonly store: Store; readonly log: Log }): AsyncGenerator<TaskStore> {
  const { store, log } = from;
  for (const name of await store.tasks()) {
    const task = await store.task(name).catch((error: unknown) => {
      if (!(error instanceof SplashdownError) || error.code === "INTERNAL") throw error;
      log.warn(`task ${name} was skipped: ${messageOf(error)}`);
      return undefined;
    });
    if (task !== undefined) yield task;
  }
}
