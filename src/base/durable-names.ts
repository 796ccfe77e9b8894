/**
 * Folders and files whose names outlive a power cut, whoever made them.
 *
 * A name is durable when the folder it stands in was synced since. Whoever made it may have died before that; so who
 * relies on a path syncs all that it lies in, also what it only found. What was found need not be ours, and is synced as
 * far as we may. Source: STORAGE section 1.6.
 */
import { dirname } from "node:path";
import { errnoOf } from "./errors.js";
import type { FileSystem } from "./file-system.js";

/** Why a folder cannot be synced that is not ours, or whose file system knows no such thing. */
const NOT_OURS = new Set(["EACCES", "EPERM", "EROFS", "EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);

/** Makes a folder and what is missing around it. Shape: what was made, outermost first. Errors: as the platform gives them. */
export async function makeFolders(fileSystem: FileSystem, path: string): Promise<string[]> {
  try {
    await fileSystem.mkdir(path);
    return [path];
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return [];
    if (errno !== "ENOENT" || dirname(path) === path) throw error;
    const around = await makeFolders(fileSystem, dirname(path));
    return [...around, ...(await makeFolders(fileSystem, path))];
  }
}

export interface SettledNames {
  /** Made here, so that a sync which fails is a failure. */
  readonly made?: readonly string[];
  /** Durable already; the others are added. */
  readonly settled?: Set<string>;
}

/** Makes the names of a path and of all folders it lies in durable. Errors: as the platform gives them. */
export async function settleNames(fileSystem: FileSystem, path: string, names: SettledNames = {}): Promise<void> {
  const { made = [], settled } = names;
  const around = dirname(path);
  if (around === path) return;
  await settleNames(fileSystem, around, names);
  if (settled?.has(path) === true) return;
  try {
    // The entry `.`: it may be a link, and a link itself cannot be synced.
    await fileSystem.syncFolder(`${around}/.`);
  } catch (error) {
    if (made.includes(path) || !NOT_OURS.has(errnoOf(error) ?? "")) throw error;
  }
  settled?.add(path);
}
