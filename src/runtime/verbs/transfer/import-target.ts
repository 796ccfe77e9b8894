/**
 * A task that comes from elsewhere gets its place: checkpoints into the store, the files of its folder beside them.
 *
 * T1: what was interrupted is no task, and the same command begins it anew. Files of its folder that were written by then
 *     are whole, and equal to what would be written again. Nothing is ever written over.
 */
import { join } from "node:path";
import { SplashdownError } from "../../../base/errors.js";
import type { JsonObject } from "../../../base/json.js";
import { LIMITS } from "../../../base/limits.js";
import { requireOwnerGone } from "../../../recovery/liveness.js";
import type { Store, TaskStore } from "../../../store/contract/contract.js";
import { isArriving, type TaskFile, writeTask } from "../../../transfer/copy-task.js";
import type { FileContent } from "../../../transfer/folder-files.js";
import { FolderWriter } from "../../../transfer/folder-writer.js";
import { hasNoRecords } from "../../keychain/unopened-task.js";
import type { Services } from "../../services/services.js";

type Ports = Pick<Services, "fileSystem" | "random" | "clock">;

export interface Arrival {
  readonly store: Store;
  readonly place: TaskStore;
  readonly files: AsyncIterable<TaskFile> | Iterable<TaskFile>;
  /** Where it comes from. */
  readonly mark: JsonObject;
  /** Files of its folder, by path. */
  readonly deliverables: ReadonlyMap<string, FileContent>;
}

/**
 * Writes a task into a place of `openArrivalPlace`.
 *
 * Errors: USAGE_INVALID when another file is in the way of a deliverable, and the place is taken back; the STORE_* codes.
 */
export async function arrive(ports: Ports, { store, place, files, mark, deliverables }: Arrival): Promise<void> {
  const { fileSystem, random } = ports;
  const writer = new FolderWriter({ fileSystem, random, folder: place.deliverablesFolder });
  for (const [path, content] of deliverables)
    if ((await writer.compare(path, content)) === "other") throw await inTheWay(store, place, path);
  const finish = async (): Promise<void> => {
    for (const [path, content] of deliverables) await writer.write(path, content);
  };
  await writeTask(place, files, { mark, finish });
}

async function inTheWay(store: Store, place: TaskStore, path: string): Promise<SplashdownError> {
  await place.claim();
  await store.removeTask(place.name);
  const file = join(place.deliverablesFolder, path);
  return new SplashdownError("USAGE_INVALID", `there is another file ${file} already, and nothing is written over it`, {
    details: { task: place.name, file },
  });
}

const BESIDE = { besideFiles: true } as const;

/** A new place, or that of an arrival that was interrupted, be it before its mark, made anew; `undefined`: taken. */
export async function openArrivalPlace(ports: Ports, store: Store, name: string): Promise<TaskStore | undefined> {
  const place = await store.createTask(name, BESIDE);
  if (place !== undefined) return place;
  const there = await store.task(name);
  if (there === undefined) return undefined;
  const isUnfinished = await abandon(ports, there);
  await there.close();
  if (!isUnfinished) return undefined;
  await store.removeTask(name);
  return store.createTask(name, BESIDE);
}

/** Errors: OWNER_ALIVE, OWNER_UNCLEAR. */
async function abandon({ clock }: Ports, place: TaskStore): Promise<boolean> {
  const isEmpty = await hasNoRecords(place);
  if (isEmpty) await requireOwnerGone({ task: place, clock, takeOver: false, watchMs: LIMITS.ownerWatchMs });
  const isUnfinished = isEmpty || (await isArriving(place));
  if (isUnfinished) await place.claim();
  return isUnfinished;
}
