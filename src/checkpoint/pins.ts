/**
 * Which checkpoints people pinned: their files are never removed, and the history before them stays.
 *
 * A pin is a message about a checkpoint, and so is taking it back: `control/pin-<checkpoint id>-<number>`, left by whoever
 * has the key. The highest number counts; odd ones pin, even ones take back. No claim is needed, and a running owner sees it
 * at its next removal. Its presence is what counts, in whichever generation of the task's key (after the `~` of its
 * object's name); the sealed content tells who left it and why.
 *
 * C9: nothing that is only removed is ever news: an older message that comes back (a process carried it over while a newer
 * one was left) changes nothing.
 */
import { isUuid, type CheckpointId } from "../base/ids.js";
import type { TaskStore } from "../store/contract/contract.js";

export const PIN_PREFIX = "control/pin-";
const ABOUT = /^(.*)-([1-9]\d{0,8})$/;

export function pinKeyOf(id: CheckpointId, number: number): string {
  return `${PIN_PREFIX}${id}-${number}`;
}

/** True where the message of that number pins; 0 stands for none. */
export function isPinning(number: number): boolean {
  return number % 2 === 1;
}

export interface PinMessage {
  readonly id: CheckpointId;
  readonly number: number;
  /** What the message is about, in every generation. */
  readonly about: string;
}

/**
 * Messages about pins of all checkpoints, whether the history has them or not, or of one.
 *
 * Shape: the highest number first; once for each generation that it stands in.
 */
export async function listPinMessages(
  store: Pick<TaskStore, "list">,
  of?: CheckpointId,
): Promise<readonly PinMessage[]> {
  const entries = await store.list(of === undefined ? PIN_PREFIX : `${PIN_PREFIX}${of}-`);
  const messages = entries.flatMap(({ key }) => {
    const about = /^(.*)~\d+$/.exec(key)?.[1] ?? "";
    const [, id = "", number = ""] = ABOUT.exec(about.slice(PIN_PREFIX.length)) ?? [];
    return isUuid(id) ? [{ id: id as CheckpointId, number: Number(number), about }] : [];
  });
  return messages.sort((left, right) => right.number - left.number);
}

/** Ids of the pinned checkpoints, whether the history has them or not. */
export async function listPinned(store: Pick<TaskStore, "list">): Promise<ReadonlySet<CheckpointId>> {
  const newest = new Map<CheckpointId, number>();
  for (const { id, number } of await listPinMessages(store)) if (!newest.has(id)) newest.set(id, number);
  return new Set([...newest].flatMap(([id, number]) => (isPinning(number) ? [id] : [])));
}
