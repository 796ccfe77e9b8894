/**
 * The trash of a directory store: a task's `checkpoints/` under another name in the task's own folder, with the time it
 * went there. One change of name takes it there and one brings it back; meanwhile it is no task, and its name is taken.
 */
import { join } from "node:path";
import { errnoOf } from "../../base/errors.js";
import type { FileSystem } from "../../base/file-system.js";
import type { TrashedTask } from "../contract/contract.js";
import { computeTaskFolders } from "./directory-task.js";
import { isTaskName } from "../contract/object-key.js";
import { isAbsent, type SafeFolders } from "../files/safe-folders.js";

const NAME = /^trashed-\d{8}T\d{9}Z$/;

/** True for what a task's checkpoints are called in the trash. */
export function isTrashName(name: string): boolean {
  return NAME.test(name);
}

export interface DirectoryTrashParts {
  readonly root: string;
  readonly fileSystem: FileSystem;
  readonly folders: SafeFolders;
}

interface Trashed {
  readonly path: string;
  readonly atMs: number;
}

/** Errors: as the platform gives them. */
export class DirectoryTrash {
  readonly #parts: DirectoryTrashParts;

  constructor(parts: DirectoryTrashParts) {
    this.#parts = parts;
  }

  /** Of the names of a root. What cannot be looked into is listed among the tasks, and not here. */
  async list(names: readonly string[]): Promise<TrashedTask[]> {
    const found: TrashedTask[] = [];
    for (const name of names.filter(isTaskName)) {
      try {
        const trashed = await this.find(name);
        if (trashed === undefined) continue;
        found.push({ name, trashedAtMs: trashed.atMs, sizeBytes: await this.#measure(trashed.path) });
      } catch (error) {
        if (errnoOf(error) === undefined) throw error;
      }
    }
    return found.sort((first, second) => (first.name < second.name ? -1 : 1));
  }

  /** The newest of that name. */
  async find(name: string): Promise<Trashed | undefined> {
    const { root, fileSystem, folders } = this.#parts;
    const { task } = computeTaskFolders(root, name);
    if (!(await folders.isFolder(task))) return undefined;
    const names = (await fileSystem.readdir(task)).filter(isTrashName).sort();
    for (const each of names.reverse()) {
      const path = join(task, each);
      if (await folders.isFolder(path)) return { path, atMs: parseAtMs(each) };
    }
    return undefined;
  }

  async take(name: string, atMs: number): Promise<boolean> {
    const { task, checkpoints } = computeTaskFolders(this.#parts.root, name);
    return this.#rename(checkpoints, join(task, formatName(atMs)), task);
  }

  async bringBack(name: string): Promise<boolean> {
    const trashed = await this.find(name);
    const { task, checkpoints } = computeTaskFolders(this.#parts.root, name);
    if (trashed === undefined || (await this.#parts.folders.isFolder(checkpoints))) return false;
    return this.#rename(trashed.path, checkpoints, task);
  }

  async #rename(from: string, to: string, folder: string): Promise<boolean> {
    const { fileSystem, folders } = this.#parts;
    if (!(await folders.isFolder(from))) return false;
    try {
      await fileSystem.rename(from, to);
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
    await fileSystem.syncFolder(folder);
    return true;
  }

  /** Without the reserve and what else begins with a dot; links are counted as nothing and never followed. */
  async #measure(path: string): Promise<number> {
    const { fileSystem } = this.#parts;
    let total = 0;
    for (const name of (await fileSystem.readdir(path)).filter((each) => !each.startsWith("."))) {
      const inner = join(path, name);
      const stat = await fileSystem.lstat(inner);
      if (stat.kind === "folder") total += await this.#measure(inner);
      if (stat.kind === "file") total += stat.sizeBytes;
    }
    return total;
  }
}

function formatName(atMs: number): string {
  return `trashed-${new Date(atMs).toISOString().replaceAll(/[-:.]/g, "")}`;
}

function parseAtMs(name: string): number {
  const digits = name.replaceAll(/\D/g, "");
  const part = (from: number, to?: number) => Number(digits.slice(from, to));
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14), part(14));
}
