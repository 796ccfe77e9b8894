/** What is explored: each verb that changes something, and what must hold whenever it is cut off. */
import type { RunView } from "../../../src/index.js";
import { contentOf, type DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { BUNDLE_SCENARIOS } from "./bundle-scenarios.js";
import type { ExploredPlace, WorkflowOf } from "./explored-place.js";
import { KEY_SCENARIOS } from "./key-scenarios.js";
import { eventsOf, pictureOfFiles, pictureOfTasks } from "./picture.js";
import type { Scenario } from "./scenario.js";
import { findUnaudited, limited, requireStatus, threeSteps, withBlobs } from "./scenario-parts.js";

const DAY_MS = 24 * 60 * 60 * 1000;
const settled =
  (workflow: object): WorkflowOf =>
  (call) => ({ ...threeSteps(call), ...workflow });

/** A file for every trigger, so that there is something to remove. */
const filed = settled({ performance_config: { async_writes: false } });

const both = async (place: ExploredPlace, task: string) => ({
  tasks: await pictureOfTasks(place),
  files: await pictureOfFiles(place, task),
});

const withTrash = async (place: ExploredPlace) => ({
  tasks: await pictureOfTasks(place),
  trash: (await place.verbs.store.trash()).tasks.map(({ task }) => task),
});

/** Late enough in its life that a checkpoint file is there. */
const ROTTEN_SHARE = 0.85;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "a task with a blob and a deliverable, its key made on the way",
    workflow: threeSteps,
    bodies: withBlobs,
    variables: {},
    prepare: async () => undefined,
    act: async (place, tell) => {
      await requireStatus(place.run("t"), "done");
      tell("done");
    },
    redo: (place) => requireStatus(place.goOn("t"), "done"),
    missing: async (place, looking) => {
      const { status } = await place.verbs.show("t");
      if (status !== "done") return `the task was done, and is ${status}`;
      return findUnaudited(place, looking, { task: "t", event: "started" });
    },
    picture: pictureOfTasks,
  },
  {
    name: "retention while a task runs",
    workflow: settled({
      checkpoint_config: { max_checkpoints: 2, max_checkpoints_per_phase: 1 },
      performance_config: { async_writes: false },
    }),
    prepare: async () => undefined,
    act: (place) => requireStatus(place.run("t"), "done"),
    redo: (place) => requireStatus(place.goOn("t"), "done"),
    picture: pictureOfTasks,
  },
  {
    name: "prune of files",
    workflow: filed,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    act: async (place, tell) => {
      const { tasks } = await place.verbs.checkpoints.prune({ task: "t", keep: 2 });
      if (tasks[0]?.action === "prune") tell("pruned");
    },
    redo: async (place) => void (await place.verbs.checkpoints.prune({ task: "t", keep: 2 })),
    missing: async (place, looking) => {
      const files = (await place.verbs.checkpoints.list("t")).filter(({ file }) => file !== undefined);
      if (files.length !== 2) return `two files were to stay, there are ${files.length}`;
      return findUnaudited(place, looking, { task: "t", event: "pruned" });
    },
    picture: (place) => both(place, "t"),
  },
  {
    name: "prune of the history",
    workflow: filed,
    bodies: withBlobs,
    prepare: async (place) => {
      await requireStatus(place.run("t"), "done");
      for (let time = 0; time < 2; time += 1)
        await requireStatus(place.verbs.resume({ task: "t", from: "3", workflow: place.workflow }), "done");
    },
    act: async (place) => {
      await place.verbs.checkpoints.prune({ task: "t", keep: 2, history: true });
    },
    redo: async (place) => void (await place.verbs.checkpoints.prune({ task: "t", keep: 2, history: true })),
    picture: (place) => both(place, "t"),
  },
  {
    name: "clear",
    workflow: filed,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    act: async (place) => void (await place.verbs.checkpoints.clear("t")),
    redo: async (place) => void (await place.verbs.checkpoints.clear("t")),
    picture: (place) => both(place, "t"),
  },
  {
    name: "a whole task that goes to the trash by age, and what was there goes for good",
    workflow: settled({ checkpoint_config: { retention_days: 2 } }),
    actsAtMs: 40 * DAY_MS,
    prepare: async (place) => {
      for (const task of ["old", "t", "u"]) await requireStatus(place.run(task), "done");
      await place.verbs.store.remove(["old"]);
    },
    act: async (place, tell) => {
      const { tasks } = await place.verbs.checkpoints.prune({});
      if (tasks.some(({ action }) => action === "trash")) tell("removed");
    },
    redo: async (place) => void (await place.verbs.checkpoints.prune({})),
    missing: async (place) =>
      (await place.verbs.list()).length === 1 ? undefined : "one task was to stay, which is the last done one",
    picture: withTrash,
    mayVanish: ["t"],
  },
  {
    name: "a task taken out of the trash, and another one removed from it for good",
    workflow: threeSteps,
    bodies: withBlobs,
    prepare: async (place) => {
      for (const task of ["t", "u", "v"]) await requireStatus(place.run(task), "done");
      await place.verbs.store.remove(["t", "u"]);
    },
    act: async (place, tell) => {
      await place.verbs.store.restore(["t"]);
      tell("restored");
      await place.verbs.store.purge(["u"]);
      tell("purged");
    },
    redo: async (place) => {
      await place.repeat(() => place.verbs.store.restore(["t"]), "TASK_NOT_FOUND");
      await place.repeat(() => place.verbs.store.purge(["u"]), "TASK_NOT_FOUND");
    },
    missing: async (place, { told }) => {
      const { status } = await place.verbs.show("t");
      if (status !== "done") return `the restored task was done, and is ${status}`;
      const left = (await place.verbs.store.trash()).tasks.map(({ task }) => task);
      return told.has("purged") && left.length > 0 ? `${left.join()} is in the trash still` : undefined;
    },
    picture: withTrash,
    untouched: ["v"],
  },
  {
    name: "fork",
    workflow: threeSteps,
    bodies: withBlobs,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    act: async (place, tell) => {
      await place.verbs.fork("t", { from: "4", task: "f" });
      tell("forked");
    },
    redo: async (place) => {
      await place.repeat(() => place.verbs.fork("t", { from: "4", task: "f" }), "USAGE_INVALID");
      await requireStatus(place.verbs.resume({ task: "f", workflow: place.workflow, takeOver: true }), "done");
    },
    finish: (place) => requireStatus(place.verbs.resume({ task: "f", workflow: place.workflow }), "done"),
    missing: async (place, looking) => {
      const fork = await place.repeat(() => place.verbs.show("f"), "TASK_NOT_FOUND", "TASK_NOT_STARTED");
      if (fork?.status !== "paused") return `the fork was made, and is ${fork?.status ?? "not there"}`;
      return findUnaudited(place, looking, { task: "f", event: "started" });
    },
    picture: pictureOfTasks,
    untouched: ["t"],
  },
  {
    name: "going back to a checkpoint",
    workflow: threeSteps,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    act: (place) => requireStatus(place.verbs.resume({ task: "t", from: "2", workflow: place.workflow }), "done"),
    redo: async (place) => {
      const hasGoneBack = [...(await eventsOf(place, "t")).values()].some((text) => text.includes('"rolled_back"'));
      await requireStatus(place.goOn("t", hasGoneBack ? {} : { from: "2" }), "done");
    },
    picture: pictureOfTasks,
  },
  {
    name: "an answer",
    workflow: limited,
    prepare: (place) => requireStatus(place.run("t"), "waiting"),
    act: async (place, tell) => {
      await place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } });
      tell("answered");
      await requireStatus(place.verbs.resume({ task: "t", workflow: place.workflow }), "done");
    },
    redo: async (place) => {
      await place.repeat(
        () => place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } }),
        "QUESTION_CLOSED",
        "QUESTION_NOT_FOUND",
      );
      await requireStatus(place.goOn("t"), "done");
    },
    missing: async (place, looking) => {
      const [question] = (await place.verbs.show("t")).questions;
      if (question?.status === "open" || question?.answer !== "extend") return "the answer is not there";
      return findUnaudited(place, looking, { task: "t", event: "answered" });
    },
    picture: pictureOfTasks,
  },
  {
    name: "a request to a running task",
    workflow: threeSteps,
    bodies: {
      a: async (_context, place) => {
        if (place.acts.filter(({ step }) => step === "a").length > 1) return undefined;
        const asker = await place.another();
        await asker.request("t", "pause");
        place.tell("asked");
        return { output: { did: "a" } };
      },
    },
    prepare: async () => undefined,
    act: (place) => requireStatus(place.run("t"), "paused"),
    redo: async (place) => {
      // Whoever crashed while it was asked runs on to the end; asked again, it pauses, and is resumed.
      for (let time = 0; time < 4; time += 1) {
        if (((await place.goOn("t")) as RunView).status === "done") return;
      }
    },
    finish: async (place) => void (await place.goOn("t")),
    missing: async (place, { files }) => {
      const isWaiting = files.some((path) => path.includes("/t/checkpoints/control/request-"));
      const isRecorded = [...(await eventsOf(place, "t")).values()].some((text) =>
        text.includes('"effect":{"kind":"pause"'),
      );
      return isWaiting || isRecorded ? undefined : "a pause was asked for, and nothing says so";
    },
    picture: pictureOfTasks,
  },
  {
    name: "guidance to a running task",
    workflow: threeSteps,
    strideFactor: 2,
    bodies: {
      a: async (_context, place) => {
        if (place.acts.filter(({ step }) => step === "a").length > 1) return undefined;
        const { taken } = await (await place.another()).guide({ task: "t", text: "in euros" });
        if (taken) place.tell("taken");
        place.tell("left");
        return { output: { did: "a" } };
      },
      b: ({ guidance }, { told }) => {
        if (told.some(({ what }) => what === "taken") && guidance[0] !== "in euros") throw new Error("b was not told");
        return undefined;
      },
    },
    prepare: async () => undefined,
    act: (place) => requireStatus(place.run("t"), "done"),
    redo: (place) => requireStatus(place.goOn("t"), "done"),
    missing: async (place, looking) => {
      const { guidance } = await place.verbs.show("t");
      if (!looking.told.has("left")) return undefined;
      if (guidance[0]?.text !== "in euros") return "something was said, and nothing of it is there";
      return findUnaudited(place, looking, { task: "t", event: "guided" });
    },
    picture: pictureOfTasks,
  },
  {
    name: "keys init, ack",
    workflow: threeSteps,
    variables: {},
    prepare: async () => undefined,
    act: async (place, tell) => {
      await place.verbs.keys.init({});
      tell("made");
      await place.verbs.keys.ack();
      tell("acknowledged");
    },
    redo: async (place) => {
      await place.repeat(() => place.verbs.keys.init({}), "KEY_NOT_CREATED");
      await place.verbs.keys.ack();
      await requireStatus(place.run("t"), "done");
    },
    finish: (place) => requireStatus(place.run("t"), "done"),
    missing: async (place, { told }) => {
      const shown = JSON.stringify(await place.verbs.keys.show());
      if (!shown.includes('"at_hand":true')) return `the key was made, and is not there: ${shown.slice(0, 200)}`;
      const isWarned = JSON.stringify((await place.verbs.doctor()).checks).includes("not marked as backed up");
      return told.has("acknowledged") && isWarned ? "the acknowledgement is gone" : undefined;
    },
    picture: pictureOfTasks,
  },
  {
    name: "pin, prune, unpin",
    workflow: filed,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    act: async (place, tell) => {
      await place.verbs.checkpoints.pin("t:1", { note: "good" });
      tell("pinned");
      await place.verbs.checkpoints.prune({ task: "t", keep: 2 });
    },
    redo: async (place) => {
      await place.verbs.checkpoints.pin("t:1");
      await place.verbs.checkpoints.prune({ task: "t", keep: 2 });
    },
    missing: async (place) => {
      const [first] = await place.verbs.checkpoints.list("t");
      return first?.pinned === true && first.file !== undefined ? undefined : "what was pinned is not there";
    },
    picture: (place) => both(place, "t"),
  },
  ...KEY_SCENARIOS,
  ...BUNDLE_SCENARIOS,
  ...[0.35, 0.6, 0.85].map((share) => createRecovery(share)),
  {
    ...createRecovery(ROTTEN_SHARE),
    name: "recovery that finds its newest checkpoint file rotten",
    hasRot: true,
    // A file that could not even be read is passed over, stays where it is, and is named until somebody sets it aside.
    picture: async (place) => ({ ...(await pictureOfTasks(place)), t: (await place.verbs.show("t")).status }),
    spoil: (disk) => rot(disk.imageAt(Math.floor(disk.operationCount * ROTTEN_SHARE), { kind: "power", seed: 3 })),
  },
];

/** The second level: a task that crashed at a part of its life is taken up, and that is cut off too. */
function createRecovery(share: number): Scenario {
  return {
    name: `recovery of a task that crashed at ${share} of its life`,
    workflow: threeSteps,
    bodies: withBlobs,
    prepare: (place) => requireStatus(place.run("t"), "done"),
    spoil: (disk) => disk.imageAt(Math.floor(disk.operationCount * share), { kind: "power", seed: 11 }),
    act: async (place, tell) => {
      tell("begun");
      await requireStatus(place.goOn("t"), "done");
    },
    redo: (place) => requireStatus(place.goOn("t"), "done"),
    picture: pictureOfTasks,
  };
}

/** One bit of the newest checkpoint file is another. */
function rot(disk: DiskModel): DiskModel {
  const folder = disk.findFolder(`${MODEL_ROOT}/t/checkpoints/.`);
  const newest = [...folder.entries.keys()]
    .filter((name) => name.startsWith("checkpoint_"))
    .sort()
    .at(-1);
  const file = newest === undefined ? undefined : folder.entries.get(newest);
  if (file?.kind !== "file") throw new Error("there is no checkpoint file yet");
  const bytes = Buffer.from(contentOf(file));
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  file.extents.splice(0, file.extents.length, { bytes, state: "synced" });
  file.settledCount = 1;
  return disk;
}
