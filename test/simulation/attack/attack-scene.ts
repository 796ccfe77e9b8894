/** A small task as two snapshots: how it was when it waited at its first gate, and as it is now, at the second one. */
import type { DiskModel } from "../../support/disk-model.js";
import { ModelFileSystem } from "../../support/model-file-system.js";
import { createDiskImage } from "../disk-image.js";
import { FaultyFileSystem } from "../faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../verbs/explored-place.js";
import { HOME, type StoreOf } from "../verbs/verb-room.js";

export const TASK = "t";

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

/** What the attacker has of a task: what was there at either time, as files or as rows. */
export interface AttackScene<Content> {
  /** The machine as it is now, with what is remembered outside the store. */
  readonly disk: DiskModel;
  readonly older: Content;
  readonly newer: Content;
  /** The older copy as it stands after it went on under later epochs on a machine that remembers nothing. */
  readonly elsewhere: Content;
}

/** Where the task is: in files of the disk, or in a database beside it. */
export interface Ground<Content> {
  readonly store?: StoreOf;
  take(disk: DiskModel): Promise<Content>;
  /** Puts all of it back; a folder is on the disk, of which there are copies. */
  readonly put?: (content: Content) => Promise<void>;
}

export async function createAttackScene<Content>(ground: Ground<Content>): Promise<AttackScene<Content>> {
  const disk = new FaultyFileSystem();
  const place = await ExploredPlace.open(
    { fileSystem: disk, now: () => disk.operationCount, seed: "attacked", store: ground.store },
    { workflow: PAYMENTS },
  );
  await place.run(TASK);
  await place.verbs.keys.rotate({ task: TASK }, { taskKey: true });
  const older = await ground.take(disk.disk);
  const elsewhere = await goOnElsewhere(ground, disk.disk);
  await ground.put?.(older);
  await place.verbs.answer({ task: TASK, answer: "y" });
  // The task's key stays: whoever has the older keyring opens everything with it.
  await place.verbs.keys.rotate({ task: TASK }, {});
  await place.verbs.resume({ task: TASK, workflow: place.workflow });
  await place.verbs.close();
  const acts = place.acts.map(({ step }) => step);
  if (acts.join() !== "p1,p2") throw new Error(`the task did ${acts.join()}`);
  return { disk: createDiskImage(disk.disk, { kind: "kill" }), older, newer: await ground.take(disk.disk), elsewhere };
}

const RESUMES = 6;

async function goOnElsewhere<Content>(ground: Ground<Content>, disk: DiskModel): Promise<Content> {
  const copy = createDiskImage(disk, { kind: "kill" });
  copy.findFolder(HOME).entries.delete(".local");
  const place = await ExploredPlace.open(
    { fileSystem: new ModelFileSystem(copy), now: () => 0, seed: "elsewhere", store: ground.store },
    { workflow: PAYMENTS },
  );
  for (let times = 0; times < RESUMES; times += 1) await place.verbs.resume({ task: TASK, workflow: place.workflow });
  await place.verbs.close();
  return ground.take(copy);
}
