/**
 * `store copy`: tasks from one store to another, sealed as they are, and proved byte by byte afterwards.
 *
 * The origin is only read, and its owner must be gone: two places of one task that both went on would do its steps twice.
 * Which of them goes on is the person's choice; the answer says so. Deliverables are files: where the other store keeps
 * them in another folder they are copied with all else that the task's folder holds, and nothing is written over.
 */
import { writeCommand } from "../../../base/command-text.js";
import { join } from "node:path";
import { SplashdownError } from "../../../base/errors.js";
import { LIMITS } from "../../../base/limits.js";
import { requireOwnerGone } from "../../../recovery/liveness.js";
import type { Store, TaskStore } from "../../../store/contract/contract.js";
import { isArriving, nameTaskFile, readTaskFiles, type TaskFile } from "../../../transfer/copy-task.js";
import { readContent, walkFolder, type FileContent } from "../../../transfer/folder-files.js";
import { FolderWriter } from "../../../transfer/folder-writer.js";
import type { Services } from "../../services/services.js";
import { arrive, openArrivalPlace } from "./import-target.js";
import type { StoreCopyOptions, StoreCopyView } from "../../views/store-views.js";
import { formatTime } from "../../views/views.js";

/**
 * Errors: STORE_UNSUPPORTED for an address; USAGE_INVALID for one store, or a task that is there already; TASK_NOT_FOUND;
 * OWNER_ALIVE, OWNER_UNCLEAR; STORE_FAILED when a copy is not its origin; the STORE_* codes.
 */
export async function copyStore(services: Services, options: StoreCopyOptions): Promise<StoreCopyView> {
  const from = services.openStore(options.from);
  const to = services.openStore(options.to);
  try {
    if (from.address === to.address) throw refuse(`both are ${from.address}`);
    const names = options.tasks ?? (await from.tasks());
    const tasks = [];
    for (const name of names) tasks.push(await copyTask(services, { from, to, name }));
    return { from: from.address, to: to.address, tasks };
  } finally {
    await from.close();
    await to.close();
  }
}

interface Way {
  readonly from: Store;
  readonly to: Store;
  readonly name: string;
}

async function copyTask(services: Services, { from, to, name }: Way): Promise<StoreCopyView["tasks"][number]> {
  const origin = await from.task(name);
  if (origin === undefined)
    throw new SplashdownError("TASK_NOT_FOUND", `there is no task ${name} in ${from.address}`, {
      details: { task: name, store: from.address },
    });
  await requireOwnerGone({ task: origin, clock: services.clock, takeOver: false, watchMs: LIMITS.ownerWatchMs });
  if (await isArriving(origin)) throw refuse(`${name} in ${from.address} is itself a copy that was not finished`);
  const deliverables = new Map<string, FileContent>();
  const place = await openArrivalPlace(services, to, name);
  if (place === undefined) throw refuse(`there is a task ${name} in ${to.address} already`);
  if (place.deliverablesFolder !== origin.deliverablesFolder) await collectFiles(services, origin, deliverables);
  const mark = { from: from.address, task: name, at: formatTime(services.clock.nowMs()) };
  await arrive(services, { store: to, place, files: readTaskFiles(origin), mark, deliverables });
  const { files, sizeBytes } = await prove(origin, place);
  await proveFiles(services, place, deliverables);
  const view = {
    task: name,
    files,
    size: sizeBytes,
    deliverables: place.deliverablesFolder,
    deliverables_copied: deliverables.size,
    next: writeCommand("show", [name], { "--store": to.address }),
  };
  await origin.close();
  await place.close();
  return view;
}

/** What cannot be copied is said. */
async function collectFiles(
  { fileSystem, log }: Services,
  { name, deliverablesFolder: folder }: TaskStore,
  found: Map<string, FileContent>,
): Promise<void> {
  for await (const { path, leftOut } of walkFolder(fileSystem, folder)) {
    if (leftOut !== undefined) log.warn(`${path} of ${name} is not copied: ${leftOut}`);
    const content = leftOut === undefined ? await readContent(fileSystem, join(folder, path)) : undefined;
    if (content !== undefined) found.set(path, content);
  }
}

/** Errors: STORE_FAILED naming the first file that differs. */
async function proveFiles(
  { fileSystem, random }: Services,
  { name, deliverablesFolder: folder }: TaskStore,
  files: ReadonlyMap<string, FileContent>,
): Promise<void> {
  const writer = new FolderWriter({ fileSystem, random, folder });
  for (const [path, content] of files) if ((await writer.compare(path, content)) !== "equal") throw differs(name, path);
}

/** Reads both through and through. Errors: STORE_FAILED naming the first file that differs. */
async function prove(origin: TaskStore, copy: TaskStore): Promise<{ files: number; sizeBytes: number }> {
  const copied = readTaskFiles(copy)[Symbol.asyncIterator]();
  let files = 0;
  let sizeBytes = 0;
  for await (const wanted of readTaskFiles(origin)) {
    const { value } = (await copied.next()) as IteratorResult<TaskFile, undefined>;
    const isSame =
      value !== undefined &&
      nameTaskFile(value) === nameTaskFile(wanted) &&
      Buffer.compare(value.bytes, wanted.bytes) === 0;
    if (!isSame) throw differs(origin.name, nameTaskFile(wanted));
    files += 1;
    sizeBytes += wanted.bytes.byteLength;
  }
  if ((await copied.next()).done !== true) throw differs(origin.name, "a file that only the copy has");
  return { files, sizeBytes };
}

function differs(task: string, file: string): SplashdownError {
  return new SplashdownError("STORE_FAILED", `the copy of ${task} is not its origin: ${file}`, {
    details: { task, file },
  });
}

function refuse(reason: string): SplashdownError {
  return new SplashdownError("USAGE_INVALID", `nothing is copied: ${reason}`, { details: { verb: "store copy" } });
}
