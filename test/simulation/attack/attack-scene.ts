/** A small task as two snapshots: how it was when it waited at its first gate, and as it is now, at the second one. */
import type { DiskModel, DiskNode } from "../../support/disk-model.js";
import { contentOf } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { createDiskImage } from "../disk-image.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../verbs/explored-place.js";
import { HOME } from "../verbs/verb-room.js";

export const TASK = "t";
export const FOLDER = `${MODEL_ROOT}/${TASK}/checkpoints`;

const gate = (name: string, next: string) => ({
  name,
  type: "human_gate",
  prompt: `${name}?`,
  options: [{ label: "Y", value: "y", route: next }],
});

/** Three payments with a gate between them: none of the first two may ever be made again. */
export const PAYMENTS: WorkflowOf = (call) => ({
  workflow: { name: "pay", entry_point: "p1" },
  agents: [
    { name: "p1", function: call("p1"), effects: "external", routes: [{ to: "g1" }] },
    gate("g1", "p2"),
    { name: "p2", function: call("p2"), effects: "external", routes: [{ to: "g2" }] },
    gate("g2", "p3"),
    { name: "p3", function: call("p3"), effects: "external", routes: [{ to: "$end" }] },
  ],
  output: { p1: "{{ p1.output.did }}", p3: "{{ p3.output.did }}" },
});

export type Files = ReadonlyMap<string, Buffer>;

export interface AttackScene {
  /** The machine as it is now: the task, and what is remembered outside its folder. */
  readonly disk: DiskModel;
  /** Of the task's folder, by path below it. */
  readonly older: Files;
  readonly newer: Files;
  /** The older copy as it stands after it went on under later epochs on a machine that remembers nothing. */
  readonly elsewhere: Files;
}

export function filesOf(disk: DiskModel): Files {
  const files = new Map<string, Buffer>();
  const walk = (node: DiskNode, path: string): void => {
    if (node.kind === "folder") for (const [name, child] of node.entries) walk(child, `${path}/${name}`);
    else if (node.kind === "file" && !/\/(?:\.|owner-)/.test(path))
      files.set(path.slice(1), Buffer.from(contentOf(node)));
  };
  walk(disk.find(FOLDER), "");
  return files;
}

export async function createAttackScene(): Promise<AttackScene> {
  const disk = new FaultyFileSystem();
  const place = await ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: "attacked" },
    { workflow: PAYMENTS },
  );
  await place.run(TASK);
  await place.verbs.keys.rotate({ task: TASK }, { taskKey: true });
  const older = filesOf(disk.disk);
  const elsewhere = await goOnElsewhere(disk.disk);
  await place.verbs.answer({ task: TASK, answer: "y" });
  // The task's key stays: whoever has the older keyring opens everything with it.
  await place.verbs.keys.rotate({ task: TASK }, {});
  await place.verbs.resume({ task: TASK, workflow: place.workflow });
  await place.verbs.close();
  const acts = place.acts.map(({ step }) => step);
  if (acts.join() !== "p1,p2") throw new Error(`the task did ${acts.join()}`);
  return { disk: createDiskImage(disk.disk, { kind: "kill" }), older, newer: filesOf(disk.disk), elsewhere };
}

const RESUMES = 6;

async function goOnElsewhere(disk: DiskModel): Promise<Files> {
  const copy = createDiskImage(disk, { kind: "kill" });
  copy.findFolder(HOME).entries.delete(".local");
  const place = await ExploredPlace.open(
    { fileSystem: new ModelFileSystem(copy), now: () => 0, seed: "elsewhere" },
    { workflow: PAYMENTS },
  );
  for (let times = 0; times < RESUMES; times += 1) await place.verbs.resume({ task: TASK, workflow: place.workflow });
  await place.verbs.close();
  return filesOf(copy);
}
