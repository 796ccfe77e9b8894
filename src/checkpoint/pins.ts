/**
 * Which checkpoints people pinned: their files are never removed, and the history before them stays.
 *
 * A pin is a message about a checkpoint, `control/pin-<checkpoint id>`, left and removed by whoever has the key: no claim is
 * needed, and a running owner sees it at its next removal. Its presence is what counts, in whichever generation of the
 * task's key (after the `~` of its object's name); the sealed content tells who pinned it and why.
 */
import { isUuid, type CheckpointId } from "../base/ids.js";
import type { TaskStore } from "../store/contract.js";

export const PIN_PREFIX = "control/pin-";

export function pinKeyOf(id: CheckpointId): string {
  return `${PIN_PREFIX}${id}`;
}

/** Ids of the pinned checkpoints, whether the history has them or not. */
export async function listPinned(store: Pick<TaskStore, "list">): Promise<ReadonlySet<CheckpointId>> {
  const ids = (await store.list(PIN_PREFIX)).map(
    ({ key }) => /^(.*)~\d+$/.exec(key.slice(PIN_PREFIX.length))?.[1] ?? "",
  );
  return new Set(ids.filter(isUuid) as CheckpointId[]);
}
