/** The verbs that bring a task elsewhere, and the one that ends it for whoever holds a copy. */
import type { DiskModel } from "../../support/disk-model.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import type { ExploredPlace } from "./explored-place.js";
import { eventsOf, pictureOfTasks } from "./picture.js";
import type { Scenario } from "./scenario.js";
import { findUnaudited, requireStatus, threeSteps, withBlobs } from "./scenario-parts.js";
import { HOME } from "./verb-room.js";

const OWN = `${MODEL_ROOT}/t/own.txt`;
const BUNDLE = `${HOME}/t.zip`;

async function runAndExport(place: ExploredPlace): Promise<void> {
  await requireStatus(place.run("t"), "done");
  await place.putFile(OWN, "of a program");
  await place.verbs.checkpoints.export("t", { file: BUNDLE });
}

/** As on another machine: the bundle is there, and neither the task nor the memory of it. */
function forgetTask(disk: DiskModel): DiskModel {
  for (const [folder, name] of [
    [MODEL_ROOT, "t"],
    [`${HOME}/.local/state/splashdown/anchors`, undefined],
  ] as const) {
    const { entries, durable } = disk.findFolder(`${folder}/.`);
    for (const known of entries.keys()) {
      if (name !== undefined && known !== name) continue;
      entries.delete(known);
      durable.delete(known);
    }
  }
  return disk;
}

export const BUNDLE_SCENARIOS: readonly Scenario[] = [
  {
    name: "import of a bundle",
    workflow: threeSteps,
    bodies: withBlobs,
    prepare: runAndExport,
    spoil: (disk) => forgetTask(disk.imageAt(disk.operationCount, { kind: "power", seed: 3 })),
    act: async (place, tell) => {
      await place.verbs.checkpoints.import(BUNDLE);
      tell("imported");
    },
    redo: async (place) => {
      await place.repeat(() => place.verbs.checkpoints.import(BUNDLE), "USAGE_INVALID");
      const hasGoneBack = [...(await eventsOf(place, "t")).values()].some((text) => text.includes('"rolled_back"'));
      await requireStatus(place.goOn("t", hasGoneBack ? {} : { from: "4" }), "done");
    },
    finish: (place) => requireStatus(place.goOn("t", { from: "4" }), "done"),
    missing: async (place, looking) => {
      const { status } = await place.verbs.show("t");
      if (status !== "done") return `the task was imported, and is ${status}`;
      if (!looking.files.includes(OWN)) return "the file of a program did not come along";
      return findUnaudited(place, looking, { task: "t", event: "imported" });
    },
    unreadableAs: ["IMPORT_UNFINISHED"],
    picture: pictureOfTasks,
  },
  {
    name: "keys shred",
    workflow: threeSteps,
    prepare: async (place) => {
      await requireStatus(place.run("t"), "done");
      await requireStatus(place.run("u"), "done");
    },
    act: async (place, tell) => {
      await place.verbs.keys.shred("t");
      tell("shredded");
    },
    redo: async (place) => void (await place.verbs.keys.shred("t")),
    missing: async (_place, { files }) => files.find((path) => path.includes("/t/checkpoints/keyring-")),
    unreadableAs: ["KEY_SHREDDED"],
    untouched: ["u"],
    picture: async (place) => {
      const listed = await place.verbs.list();
      return listed.map(({ task, status, problem }) => ({ task, status: problem?.code ?? status ?? null }));
    },
  },
];
