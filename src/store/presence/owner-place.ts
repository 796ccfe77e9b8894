/**
 * Where a task of a database has its owner's presence and its reserve, since neither can be a plain row: a folder beside
 * the database's file here.
 */
import { join } from "node:path";
import { LIMITS } from "../../base/limits.js";
import type { TaskStore } from "../contract/contract.js";
import { OwnerPresence } from "./owner-presence.js";
import { ReserveFile } from "../files/reserve-file.js";
import { SafeFolders } from "../files/safe-folders.js";
import type { StoreParts } from "../contract/store-parts.js";

export interface OwnerPlace extends Pick<TaskStore, "announce" | "ownerState" | "releaseReserve" | "ensureReserve"> {
  /** The task was removed; what cannot be removed here costs room and nothing else. */
  clear(): Promise<void>;
}

/** One task of a database: its name, and the number of its row, which no later task of that name has. */
export interface TaskRow {
  readonly name: string;
  readonly id: number;
}

export interface OwnerFolderParts {
  /** Absolute folder; it and what it lies in are made with the first owner. */
  readonly root: string;
  readonly task: TaskRow;
  readonly store: StoreParts;
}

export function createOwnerFolder({ root, task, store }: OwnerFolderParts): OwnerPlace {
  const { fileSystem, random, machine, presence, platform, userId } = store;
  const folder = join(root, `${task.name}-${task.id}`);
  const folders = new SafeFolders({ fileSystem, userId, isWindows: platform === "win32" });
  const shared = { fileSystem, folders, random, folder };
  const reserve = new ReserveFile({ ...shared, sizeBytes: store.reserveBytes ?? LIMITS.ballastBytes });
  const owner = new OwnerPresence({ ...shared, machine, presence });
  const ensure = async () => {
    await folders.ensureRoot(root);
    await folders.ensureFolder(folder);
  };
  return {
    announce: async (facts) => {
      await ensure().catch(() => undefined);
      return owner.announce(facts);
    },
    ownerState: () => owner.ownerState(),
    releaseReserve: () => reserve.release(),
    ensureReserve: async () => {
      await ensure();
      return reserve.ensure();
    },
    clear: async () => {
      try {
        for (const name of await fileSystem.readdir(folder)) await fileSystem.unlink(join(folder, name));
        await fileSystem.rmdir(folder);
      } catch {
        // Nobody ever owned it, or it is somebody else's.
      }
    },
  };
}
