/** Whether all that a state refers to is there, before anything acts on that state. */
import { errorCodeOf, SplashdownError } from "../base/errors.js";
import type { TaskState } from "../engine/model/state.js";
import type { TaskStore } from "../store/contract/contract.js";
import type { TaskVault } from "../vault/contract.js";
import { createBlobShelf } from "./blobs/blobs.js";
import { NamedBlobs } from "./history-cut.js";

/**
 * Looks at the file of every large value that the state names: presence, name, length and the seal of its end.
 *
 * Errors: BLOB_CORRUPT with the files; what else is wrong with one (key, storage).
 */
export async function requireValues(
  { task, vault }: { readonly task: TaskStore; readonly vault: TaskVault },
  state: TaskState,
): Promise<void> {
  const named = new NamedBlobs();
  named.addState(state);
  if (named.keys.size === 0) return;
  const shelf = createBlobShelf({ store: task, vault });
  const bad: string[] = [];
  for (const key of named.keys) {
    try {
      await shelf.probe(key);
    } catch (error) {
      if (!DAMAGED.has(errorCodeOf(error) ?? "")) throw error;
      bad.push(key);
    }
  }
  if (bad.length === 0) return;
  throw new SplashdownError(
    "BLOB_CORRUPT",
    `${bad.length === 1 ? "a large value" : `${bad.length} large values`} of ${task.name} cannot be read: ${bad.slice(0, 5).join(", ")}; nothing ran`,
    { details: { task: task.name, files: bad } },
  );
}

const DAMAGED: ReadonlySet<string> = new Set([
  "BLOB_CORRUPT",
  "TASK_SWAPPED",
  "FORMAT_NOT_OURS",
  "SEAL_MISSING",
  "KEY_WRONG",
]);
