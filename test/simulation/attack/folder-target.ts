/** The attacks on a task's folder. */
import { contentOf, type DiskModel, type DiskNode, type FileNode, type FolderNode } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { createDiskImage } from "../disk-image.js";
import type { Files } from "../../support/task-rows.js";
import { createAttackScene, TASK } from "./attack-scene.js";
import { createMachine, newestKeyring, type AttackTarget } from "./attack-target.js";
import { listAttacks } from "./attacks.js";

const FOLDER = `${MODEL_ROOT}/${TASK}/checkpoints`;

export async function createFolderTarget(): Promise<AttackTarget> {
  const scene = await createAttackScene({ take: async (disk) => filesOf(disk) });
  const keyring = newestKeyring(scene.newer.keys());
  return {
    close: async () => undefined,
    *attacks() {
      for (const { name, changes } of listAttacks(scene)) {
        const make = async () => {
          const disk = createDiskImage(scene.disk, { kind: "kill" });
          for (const [path, bytes] of changes) put(disk, path, bytes);
          return createMachine(disk, !disk.findFolder(FOLDER).entries.has(keyring));
        };
        yield { name, make };
      }
    },
  };
}

function filesOf(disk: DiskModel): Files {
  const files = new Map<string, Buffer>();
  const walk = (node: DiskNode, path: string): void => {
    if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
    else if (node.kind === "file" && !/\/(?:\.|owner-)/.test(path))
      files.set(path.slice(1), Buffer.from(contentOf(node)));
  };
  walk(disk.find(FOLDER), "");
  return files;
}

function put(disk: DiskModel, path: string, bytes: Buffer | undefined): void {
  const parts = path.split("/");
  const name = parts.pop() ?? "";
  const folder = disk.findFolder([FOLDER, ...parts].join("/"));
  if (bytes === undefined) folder.entries.delete(name);
  else folder.entries.set(name, createFile(disk, folder, { name, bytes }));
}

/** With the bytes as an attacker leaves them: durable, under the mode that the file had. */
function createFile(disk: DiskModel, folder: FolderNode, { name, bytes }: { name: string; bytes: Buffer }): FileNode {
  const file = disk.createFileNode([{ bytes, state: "synced" }]);
  const before = folder.entries.get(name);
  return before?.kind === "file" ? Object.assign(file, { mode: before.mode }) : file;
}
