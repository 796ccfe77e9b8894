/** `quarantine/`: files of a task that are no use, whole as they were found, each with the reason beside it. */
import type { TaskStore } from "../store/contract/contract.js";

type Objects = Pick<TaskStore, "get" | "putOnce" | "remove">;

/** Moves an object there. Shape: its key now; the key it would have where it was not there any more. Errors: STORE_*. */
export async function setObjectAside(store: Objects, key: string, reason: string): Promise<string> {
  const bytes = await store.get(key);
  if (bytes === undefined) return `quarantine/${key}`;
  const moved = await putFree(store, `quarantine/${key}`, bytes);
  await store.putOnce(`${moved}.reason.txt`, Buffer.from(`${reason}\n`));
  // Somebody else may have set it aside meanwhile, and a good one may stand there.
  const standing = await store.get(key);
  if (standing !== undefined && Buffer.compare(standing, bytes) === 0) await store.remove(key);
  return moved;
}

/** Under the name, or the name and a number: a file of that name may have been set aside before. */
async function putFree(store: Objects, name: string, bytes: Uint8Array): Promise<string> {
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? name : `${name}.${count}`;
    if ((await store.putOnce(key, bytes)) === "created") return key;
    const there = await store.get(key);
    if (there !== undefined && Buffer.compare(there, bytes) === 0) return key;
  }
}
