/** The verbs that change who opens a task, before the task goes on under what they left. */
import type { ExploredPlace } from "./explored-place.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { pictureOfTasks } from "./picture.js";
import type { Looking, Scenario } from "./scenario.js";
import { limited, requireStatus, withBlobs } from "./scenario-parts.js";
import { KEY } from "./verb-room.js";

const OTHER = "OTHER_KEY";
const TARGET = { task: "t" };

async function answerAndGoOn(place: ExploredPlace): Promise<void> {
  await place.repeat(
    () => place.verbs.answer({ task: "t", answer: "extend", value: { iterations: 5 } }),
    "QUESTION_CLOSED",
    "QUESTION_NOT_FOUND",
  );
  await requireStatus(place.goOn("t"), "done");
}

/** Whoever was told of a change finds it; what came after it may have happened untold. */
async function findLostChange(place: ExploredPlace, { told }: Looking): Promise<string | undefined> {
  const shown = JSON.stringify(await place.verbs.keys.show("t"));
  const generation = Math.max(...[...shown.matchAll(/"generation":(\d+)/g)].map((match) => Number(match[1])));
  if (told.has("rotated") && generation < 2) return "the task's key was rotated, and is the first one";
  if (told.has("removed") && shown.includes(OTHER)) return "a source was removed, and is there";
  if (told.has("added") && !told.has("rotated") && generation < 2 && !shown.includes(OTHER))
    return "a source was added, and is not there";
  return undefined;
}

/** The first key is gone where the caller was told so; a second time makes one more before it ends. */
async function findOldKey(place: ExploredPlace, { told }: Looking): Promise<string | undefined> {
  if (!told.has("sealed again")) return undefined;
  const shown = JSON.stringify(await place.verbs.keys.show("t"));
  const generations = [...shown.matchAll(/"generation":(\d+)/g)].map((match) => Number(match[1]));
  return generations.includes(1) ? `the first key is there: generations ${generations.join()}` : undefined;
}

const ALL_AGAIN = { taskKey: true, reencrypt: true };

/** An older keyring gives what the newest does not. */
async function isGivenBack(place: ExploredPlace): Promise<boolean> {
  const revision = (name: string): number => Number(/^keyring-(\d+)\.json$/.exec(name)?.[1] ?? 0);
  const folder = `${MODEL_ROOT}/t/checkpoints`;
  const newest = Math.max(...(await place.namesWith(folder, "splashdown.keyring")).map(revision));
  const giving = (await place.namesWith(folder, OTHER)).map(revision);
  return giving.length > 0 && !giving.includes(newest);
}

/** Operations of the disk after which the answer that is held comes: the new history is being written then. */
const HELD_OPERATIONS = 250;

/** Everything is sealed again, while somebody who opened the task before gives an answer. */
async function sealWhileAnswering(place: ExploredPlace, tell: (what: string) => void): Promise<void> {
  const from = place.now();
  let isSealed = false;
  const other = await place.another((fileSystem) =>
    changeFileSystem(fileSystem, {
      link: async (at, to) => {
        const isHeld = (): boolean => !isSealed && place.now() < from + HELD_OPERATIONS;
        while (to.includes("/control/") && isHeld()) await new Promise((resolve) => setImmediate(resolve));
        return fileSystem.link(at, to);
      },
    }),
  );
  const answering = other
    .answer({ task: "t", answer: "extend", value: { iterations: 5 } })
    .then(() => tell("answered"))
    .finally(() => void other.close());
  const sealing = place.verbs.keys.rotate(TARGET, ALL_AGAIN).finally(() => (isSealed = true));
  const failed = (await Promise.allSettled([answering, sealing])).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** An answer whose giver was told so stands, whatever key it was sealed with. */
async function findLostAnswer(place: ExploredPlace, looking: Looking): Promise<string | undefined> {
  const [question] = (await place.verbs.show("t")).questions;
  const isThere = question?.status !== "open" && question?.answer === "extend";
  if (looking.told.has("answered") && !isThere) return "an answer was given, and is not there";
  return findOldKey(place, looking);
}

export const KEY_SCENARIOS: readonly Scenario[] = [
  {
    name: "keys add, rotate the task's key, remove",
    workflow: limited,
    variables: { SPLASHDOWN_KEY: KEY, [OTHER]: Buffer.alloc(32, 9).toString("base64") },
    prepare: (place) => requireStatus(place.run("t"), "waiting"),
    act: async (place, tell) => {
      await place.verbs.keys.add(TARGET, { kind: "env", name: OTHER });
      tell("added");
      await place.verbs.keys.rotate(TARGET, { taskKey: true, dropAbsent: true });
      tell("rotated");
      await place.repeat(() => place.verbs.keys.remove(TARGET, OTHER), "KEY_SLOT_NOT_FOUND");
      tell("removed");
      await answerAndGoOn(place);
    },
    redo: async (place) => {
      await place.verbs.keys.rotate(TARGET, { taskKey: true, dropAbsent: true });
      await place.repeat(() => place.verbs.keys.remove(TARGET, OTHER), "KEY_SLOT_NOT_FOUND");
      await answerAndGoOn(place);
    },
    missing: findLostChange,
    picture: pictureOfTasks,
  },
  {
    name: "keys rotate --reencrypt",
    workflow: limited,
    bodies: { a: withBlobs["b"] ?? (() => ({})) },
    prepare: async (place) => {
      await requireStatus(place.run("t"), "waiting");
      await place.verbs.checkpoints.pin("t:1", { note: "good" });
    },
    act: async (place, tell) => {
      await place.verbs.keys.rotate(TARGET, ALL_AGAIN);
      tell("sealed again");
      await answerAndGoOn(place);
    },
    redo: async (place) => {
      await place.verbs.keys.rotate(TARGET, ALL_AGAIN);
      await answerAndGoOn(place);
    },
    missing: findOldKey,
    reseals: true,
    strideFactor: 3,
    picture: pictureOfTasks,
  },
  {
    name: "an answer while everything is sealed again",
    workflow: limited,
    prepare: (place) => requireStatus(place.run("t"), "waiting"),
    act: async (place, tell) => {
      await sealWhileAnswering(place, tell);
      tell("sealed again");
      await requireStatus(place.goOn("t"), "done");
    },
    redo: async (place) => {
      await place.verbs.keys.rotate(TARGET, ALL_AGAIN);
      await answerAndGoOn(place);
    },
    missing: findLostAnswer,
    reseals: true,
    strideFactor: 6,
    picture: pictureOfTasks,
  },
  {
    name: "keys remove, and the task continues",
    workflow: limited,
    variables: { SPLASHDOWN_KEY: KEY, [OTHER]: Buffer.alloc(32, 9).toString("base64") },
    prepare: async (place) => {
      await requireStatus(place.run("t"), "waiting");
      await place.verbs.keys.add(TARGET, { kind: "env", name: OTHER });
    },
    act: async (place, tell) => {
      await place.verbs.keys.remove(TARGET, OTHER);
      tell("removed");
      await answerAndGoOn(place);
    },
    // Nobody takes it away again: what was begun is ended by whoever goes on.
    redo: answerAndGoOn,
    missing: async (place) =>
      JSON.stringify(await place.verbs.keys.show("t")).includes(OTHER)
        ? "a source was removed, and is there"
        : undefined,
    strideFactor: 2,
    picture: async (place) => ({ tasks: await pictureOfTasks(place), isGivenBack: await isGivenBack(place) }),
  },
  {
    name: "keys rotate",
    workflow: limited,
    prepare: (place) => requireStatus(place.run("t"), "waiting"),
    act: async (place) => {
      await place.verbs.keys.rotate("all");
      await answerAndGoOn(place);
    },
    redo: async (place) => {
      await place.verbs.keys.rotate("all");
      await answerAndGoOn(place);
    },
    picture: pictureOfTasks,
  },
];
