/**
 * The store in a folder: one folder per task, nothing else (`file:PATH`).
 *
 * A task exists when its `checkpoints/journal` does: that folder is made last and exclusively, when the names of all
 * others are durable. So an interrupted creation leaves no task, the next creation of that name finishes what it finds,
 * and whoever finds a task need make only the journal's own name durable; its claim does.
 * The root is the user's own choice: it may be a link and have any mode. Everything below it is ours and is checked.
 */
import { join } from "node:path";
import { errnoOf, SplashdownError } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import { LIMITS } from "../../base/limits.js";
import type { CreateOptions, Store, StoreManifest, TaskStore, TrashedTask } from "../contract/contract.js";
import { OBJECT_BYTES_MAX } from "./directory-objects.js";
import { computeTaskFolders, DirectoryTask, type TaskFolders } from "./directory-task.js";
import { DirectoryTrash, isTrashName } from "./directory-trash.js";
import { isTaskName } from "../contract/object-key.js";
import { RetryingFileSystem } from "../files/retrying-file-system.js";
import { isAbsent, SafeFolders, writeWhole } from "../files/safe-folders.js";
import { hasErrno, withStoreErrors } from "../contract/store-failure.js";
import type { StoreParts } from "../contract/store-parts.js";
import { createTempName, isTempName } from "../files/temp-name.js";

const PROBE_TEXT = "splashdown probe\n";
/** What a task has beside its journal. */
const FILES_OF_TASK = /^(?:keyring-|checkpoint_|audit$|blobs$|control$)/;
/** Of a folder that still holds something. */
const STILL_USED = new Set(["ENOTEMPTY", "EEXIST"]);

export interface DirectoryStoreOptions {
  /** Absolute path of the root; made when the first task is. */
  readonly root: string;
  readonly address: string;
  readonly parts: StoreParts;
}

export class DirectoryStore implements Store {
  readonly manifest: StoreManifest = {
    kind: "file",
    multiProcess: true,
    durable: true,
    reserve: true,
    objectBytesMax: OBJECT_BYTES_MAX,
    lineBytesMax: LIMITS.recordBytesMax,
  };
  readonly address: string;
  readonly #root: string;
  readonly #parts: StoreParts;
  readonly #fileSystem: FileSystem;
  readonly #folders: SafeFolders;
  readonly #trash: DirectoryTrash;
  readonly #open = new Set<DirectoryTask>();

  constructor(options: DirectoryStoreOptions) {
    this.address = options.address;
    this.#root = options.root;
    this.#fileSystem = new RetryingFileSystem(options.parts);
    this.#parts = { ...options.parts, fileSystem: this.#fileSystem };
    this.#folders = new SafeFolders({
      fileSystem: this.#fileSystem,
      userId: options.parts.userId,
      isWindows: options.parts.platform === "win32",
    });
    this.#trash = new DirectoryTrash({ root: options.root, fileSystem: this.#fileSystem, folders: this.#folders });
  }

  tasks(): Promise<string[]> {
    return withStoreErrors({ action: "listing", path: this.#root }, async () => {
      const names: string[] = [];
      for (const name of await this.#readRoot()) {
        if (!isTaskName(name)) continue;
        if (await this.#mayBeTask(name)) names.push(name);
      }
      return names.sort();
    });
  }

  async task(name: string): Promise<TaskStore | undefined> {
    if (!isTaskName(name)) return undefined;
    const paths = computeTaskFolders(this.#root, name);
    return withStoreErrors({ action: "opening", path: paths.task }, async () => {
      try {
        await this.#requireFolders(paths);
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
      return this.#openTask(name, paths);
    });
  }

  async createTask(name: string, options: CreateOptions = {}): Promise<TaskStore | undefined> {
    if (!isTaskName(name)) {
      throw new SplashdownError("TASK_NAME_INVALID", `not a task name: ${JSON.stringify(name.slice(0, 100))}`, {
        details: { name: name.slice(0, 100) },
      });
    }
    const paths = computeTaskFolders(this.#root, name);
    return withStoreErrors({ action: "creating", path: paths.task }, async () => {
      await this.#folders.ensureRoot(this.#root);
      if (!(await this.#isFree(paths, options))) return undefined;
      await this.#folders.ensureFolder(paths.task);
      await this.#folders.ensureFolder(paths.checkpoints);
      const isOurs = await this.#folders.ensureFolder(paths.journal);
      return isOurs ? this.#openTask(name, paths) : undefined;
    });
  }

  async removeTask(name: string): Promise<void> {
    if (!isTaskName(name)) return;
    const { task, checkpoints } = computeTaskFolders(this.#root, name);
    await withStoreErrors({ action: "removing", path: task }, () => this.#removeWhole(task, checkpoints));
  }

  trash(): Promise<TrashedTask[]> {
    return withStoreErrors({ action: "listing", path: this.#root }, async () =>
      this.#trash.list(await this.#readRoot()),
    );
  }

  async trashTask(name: string, atMs: number): Promise<boolean> {
    if (!isTaskName(name)) return false;
    return withStoreErrors({ action: "removing", path: join(this.#root, name) }, () => this.#trash.take(name, atMs));
  }

  async restoreTask(name: string): Promise<boolean> {
    if (!isTaskName(name)) return false;
    return withStoreErrors({ action: "restoring", path: join(this.#root, name) }, () => this.#trash.bringBack(name));
  }

  async purgeTask(name: string): Promise<boolean> {
    if (!isTaskName(name)) return false;
    const { task } = computeTaskFolders(this.#root, name);
    return withStoreErrors({ action: "removing", path: task }, async () => {
      const trashed = await this.#trash.find(name);
      if (trashed !== undefined) await this.#removeWhole(task, trashed.path);
      return trashed !== undefined;
    });
  }

  probe(): Promise<void> {
    return withStoreErrors({ action: "probing", path: this.#root }, async () => {
      await this.#folders.ensureRoot(this.#root);
      const path = join(this.#root, createTempName(this.#parts.random));
      const handle = await this.#fileSystem.open(path, "create");
      try {
        await writeWhole(handle, Buffer.from(PROBE_TEXT));
        await handle.sync();
      } finally {
        await handle.close().catch(() => undefined);
        await this.#fileSystem.unlink(path);
      }
      await this.#syncRoot();
    });
  }

  async close(): Promise<void> {
    for (const task of this.#open) await task.close();
  }

  async #removeWhole(task: string, folder: string): Promise<void> {
    await this.#takeAway(task, folder);
    for (const left of await this.#readRoot()) if (isTempName(left)) await this.#removeFolder(join(this.#root, left));
    try {
      await this.#fileSystem.rmdir(task);
    } catch (error) {
      if (!hasErrno(error, STILL_USED) && !isAbsent(error)) throw error;
    }
    await this.#syncRoot();
  }

  /** One change of name takes the task out of every list; what it held is then swept, also after a crash. */
  async #takeAway(task: string, folder: string): Promise<void> {
    if (!(await this.#folders.isFolder(folder))) return;
    await this.#fileSystem.rename(folder, join(this.#root, createTempName(this.#parts.random)));
    await this.#syncRoot();
    await this.#fileSystem.syncFolder(task);
  }

  /** What is no folder stays: a probe of somebody else. Links are removed, never followed. */
  async #removeFolder(path: string): Promise<void> {
    try {
      if ((await this.#fileSystem.lstat(path)).kind !== "folder") return;
      for (const name of await this.#fileSystem.readdir(path)) {
        const inner = join(path, name);
        if ((await this.#fileSystem.lstat(inner)).kind === "folder") await this.#removeFolder(inner);
        else await this.#fileSystem.unlink(inner);
      }
      await this.#fileSystem.rmdir(path);
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
  }

  #openTask(name: string, paths: TaskFolders): TaskStore {
    const onClose = () => void this.#open.delete(task);
    const task = new DirectoryTask({ name, paths, folders: this.#folders, store: this.#parts, onClose });
    this.#open.add(task);
    return task;
  }

  /** Free: nothing there, or only what an interrupted creation leaves behind; people's files where they may be there. */
  async #isFree(paths: TaskFolders, { besideFiles = false }: CreateOptions): Promise<boolean> {
    const names = await this.#readIfFolder(paths.task);
    if (names === undefined || names.length === 0) return true;
    const others = names.filter((name) => join(paths.task, name) !== paths.checkpoints);
    if (besideFiles ? others.some(isTrashName) : others.length > 0) return false;
    return ((await this.#readIfFolder(paths.checkpoints)) ?? []).length === 0;
  }

  async #readIfFolder(path: string): Promise<string[] | undefined> {
    try {
      await this.#folders.requireFolder(path);
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
    return this.#fileSystem.readdir(path);
  }

  async #requireFolders(paths: TaskFolders): Promise<void> {
    await this.#folders.requireFolder(paths.task);
    await this.#folders.requireFolder(paths.checkpoints);
    try {
      await this.#folders.requireFolder(paths.journal);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || !(await this.#holdsTask(paths))) throw error;
    }
  }

  /** A task's place is made with its journal's folder before anything else: with files of a task it was removed. */
  async #holdsTask({ checkpoints }: TaskFolders): Promise<boolean> {
    const names = await this.#fileSystem.readdir(checkpoints);
    return !names.includes("journal") && names.some((name) => FILES_OF_TASK.test(name));
  }

  /** What cannot be looked into is listed, so that it is reported by its name and hides no other (R12). */
  async #mayBeTask(name: string): Promise<boolean> {
    const paths = computeTaskFolders(this.#root, name);
    const { task, checkpoints, journal } = paths;
    try {
      for (const path of [task, checkpoints]) if (!(await this.#folders.isFolder(path))) return false;
      return (await this.#folders.isFolder(journal)) || (await this.#holdsTask(paths));
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return true;
    }
  }

  async #readRoot(): Promise<string[]> {
    try {
      return await this.#fileSystem.readdir(this.#root);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  /** The root may be a link; its own entry `.` is the folder behind it. */
  #syncRoot(): Promise<void> {
    return this.#fileSystem.syncFolder(`${this.#root}/.`);
  }
}
