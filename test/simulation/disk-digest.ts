/** What is to be seen of a disk, as one digest: two disks with the same one look alike to whoever opens them. */
import { createHash } from "node:crypto";
import { sha256Hex } from "../../src/base/digest.js";
import { contentOf, type DiskModel, type DiskNode } from "../support/disk-model.js";

/** Every name with kind, mode, owner, links and bytes. What is still pending of it is not part: it shows only in a later power cut. */
export function digestOfDisk(disk: DiskModel): string {
  const hash = createHash("sha256");
  const walk = (node: DiskNode, path: string): void => {
    hash.update(`${path}\0${node.kind} ${node.mode} ${node.uid} ${describe(node)}\n`);
    if (node.kind !== "folder") return;
    for (const name of [...node.entries.keys()].sort()) {
      const child = node.entries.get(name);
      if (child !== undefined) walk(child, `${path}/${name}`);
    }
  };
  walk(disk.root, "");
  return hash.digest("hex");
}

function describe(node: DiskNode): string {
  if (node.kind === "folder") return "";
  return node.kind === "file" ? `${node.links} ${sha256Hex(contentOf(node))}` : node.target;
}
