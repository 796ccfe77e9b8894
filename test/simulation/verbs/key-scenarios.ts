/** The verbs that change who opens a task, before the task goes on under what they left. */
import type { ExploredPlace } from "./explored-place.js";
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
      // A person's answer that nobody took comes first.
      await place.repeat(() => place.verbs.keys.rotate(TARGET, ALL_AGAIN), "REENCRYPT_REFUSED");
      await answerAndGoOn(place);
    },
    missing: findOldKey,
    reseals: true,
    strideFactor: 3,
    picture: pictureOfTasks,
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
