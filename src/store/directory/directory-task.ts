/**
 * One task of a directory store: its log, its objects, its reserve and its owner, each in a file of its own here.
 *
 * Layout: `<root>/<task>/checkpoints/` holds all of it, `journal/` below it the log; the rest of the task's folder is
 * deliverables, which the store never touches.
 */
import { join } from "node:path";
import { LIMITS } from "../../base/limits.js";
import type {
  ByteRange,
  ObjectEntry,
  OwnerFacts,
  OwnerState,
  PresenceHandle,
  SegmentId,
  SegmentWriter,
  TaskStore,
} from "../contract/contract.js";
import { DirectoryLog } from "./directory-log.js";
import { DirectoryObjects } from "./directory-objects.js";
import { assertObjectPrefix } from "../contract/object-key.js";
import { OwnerPresence } from "../presence/owner-presence.js";
import { ReserveFile } from "../files/reserve-file.js";
import type { SafeFolders } from "../files/safe-folders.js";
import type { StoreParts } from "../contract/store-parts.js";

const CHECKPOINTS_FOLDER = "checkpoints";
const JOURNAL_FOLDER = "journal";

export interface TaskFolders {
  readonly task: string;
  readonly checkpoints: string;
  readonly journal: string;
}

export function computeTaskFolders(root: string, name: string): TaskFolders {
  const task = join(root, name);
  const checkpoints = join(task, CHECKPOINTS_FOLDER);
  return { task, checkpoints, journal: join(checkpoints, JOURNAL_FOLDER) };
}

export interface DirectoryTaskParts {
  readonly name: string;
  readonly paths: TaskFolders;
  readonly folders: SafeFolders;
  /** With a patient file system. */
  readonly store: StoreParts;
  readonly onClose: () => void;
}

export class DirectoryTask implements TaskStore {
  readonly name: string;
  readonly deliverablesFolder: string;
  readonly #parts: DirectoryTaskParts;
  readonly #log: DirectoryLog;
  readonly #objects: DirectoryObjects;
  readonly #reserve: ReserveFile;
  readonly #presence: OwnerPresence;
  readonly #watchers = new Set<() => void>();

  constructor(parts: DirectoryTaskParts) {
    const { paths, folders, store } = parts;
    const { fileSystem, random, machine, presence } = store;
    const shared = { fileSystem, folders, random, folder: paths.checkpoints };
    this.#parts = parts;
    this.name = parts.name;
    this.deliverablesFolder = paths.task;
    this.#log = new DirectoryLog({
      fileSystem,
      folders,
      folder: paths.journal,
      path: [paths.task, paths.checkpoints, paths.journal],
      isWindows: store.platform === "win32",
    });
    this.#objects = new DirectoryObjects(shared);
    this.#reserve = new ReserveFile({ ...shared, sizeBytes: store.reserveBytes ?? LIMITS.ballastBytes });
    this.#presence = new OwnerPresence({ ...shared, machine, presence });
  }

  claim(after?: number): Promise<number> {
    return this.#log.claim(after);
  }

  openSegment(epoch: number, header: Uint8Array, lines?: readonly Uint8Array[]): Promise<SegmentWriter> {
    return this.#log.openSegment(epoch, header, lines);
  }

  confirm(epoch: number): Promise<boolean> {
    return this.#log.confirm(epoch);
  }

  segments(): Promise<(SegmentId & { readonly sizeBytes: number })[]> {
    return this.#log.segments();
  }

  read(id: SegmentId): Promise<Uint8Array> {
    return this.#log.read(id);
  }

  removeSegment(id: SegmentId): Promise<void> {
    return this.#log.removeSegment(id);
  }

  putOnce(key: string, bytes: Uint8Array): Promise<"created" | "exists"> {
    return this.#objects.putOnce(key, bytes);
  }

  get(key: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    return this.#objects.get(key, range);
  }

  list(prefix: string): Promise<ObjectEntry[]> {
    return this.#objects.list(prefix);
  }

  remove(...keys: readonly string[]): Promise<void> {
    return this.#objects.remove(...keys);
  }

  destroy(key: string): Promise<undefined> {
    return this.#objects.destroy(key);
  }

  watch(prefix: string, hint: () => void): () => void {
    assertObjectPrefix(prefix);
    const { checkpoints } = this.#parts.paths;
    const stopWatching = this.#parts.store.watchFolder?.({ folder: checkpoints, prefix }, hint);
    const stop = () => {
      this.#watchers.delete(stop);
      stopWatching?.();
    };
    this.#watchers.add(stop);
    return stop;
  }

  sweep(): Promise<void> {
    return this.#objects.sweep();
  }

  releaseReserve(): Promise<boolean> {
    return this.#reserve.release();
  }

  ensureReserve(): Promise<boolean> {
    return this.#reserve.ensure();
  }

  announce(facts: OwnerFacts): Promise<PresenceHandle> {
    return this.#presence.announce(facts);
  }

  ownerState(): Promise<OwnerState> {
    return this.#presence.ownerState();
  }

  async close(): Promise<void> {
    for (const stop of this.#watchers) stop();
    await this.#log.close();
    this.#parts.onClose();
  }
}
