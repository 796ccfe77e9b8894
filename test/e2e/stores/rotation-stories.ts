/** FAULTS 14, a rotation half done: killed at its look, its work and its end; at every moment one key opens everything. */
import { expect } from "vitest";
import { crashAt, writeHeldSteps } from "../../support/held-steps.js";
import { realClock, until } from "../../support/real-clock.js";
import type { StorePlace } from "./store-places.js";
import type { Story } from "./story.js";
import { show } from "./task-stories.js";

const STEPS = ["s1", "s2", "s3"];

/** Every checkpoint that is listed can be replayed, and the trail is whole. */
async function expectReadable(place: StorePlace): Promise<void> {
  const listed = (await place.run(["checkpoints", "list", "t", "--json"])).json<{ seq: number }[]>();
  expect(listed.length).toBeGreaterThan(0);
  const replayed = await place.run(["debug", "replay", "--checkpoint", `t:${listed.at(-1)?.seq ?? 0}`]);
  expect([replayed.code, replayed.code === 0 ? "" : replayed.stderr]).toEqual([0, ""]);
  expect((await show(place)).damage).toEqual([]);
}

/** Names of the task's objects: which of them are there tells how far a rotation is. */
function objectsOf(place: StorePlace): Promise<string[]> {
  return place.onTask("t", async (task) => (await task.list("")).map(({ key }) => key));
}

/** When the new key is there, and when the first file stands under it. */
const MOMENTS = [
  { isReached: (names: readonly string[]) => names.includes("keyring-2.json"), afterMs: 900 },
  { isReached: (names: readonly string[]) => names.some((name) => name.includes("~")), afterMs: 1500 },
];

export const ROTATION_STORIES: readonly Story[] = [
  {
    title: "FAULTS 14: a rotation that is killed at any moment is done again, and no old key stays",
    tell: async (place, { isShared }) => {
      place.write("splashdown.config.yaml", "performance_config: {async_writes: false}\n");
      await crashAt(place, "s3", ["run", writeHeldSteps(place, STEPS, { effects: "none" }), "--task", "t"]);
      const rotate = ["keys", "rotate", "t", "--task-key", "--reencrypt"];
      for (const moment of MOMENTS) {
        const running = place.start(rotate);
        let hasEnded = false;
        const ended = running.done.finally(() => (hasEnded = true));
        // It may end before anybody looks; where one process at a time may look, it is killed at some moment.
        if (isShared) await until("it is that far", async () => hasEnded || moment.isReached(await objectsOf(place)));
        else await realClock.sleep(moment.afterMs);
        running.child.kill("SIGKILL");
        await ended;
        await expectReadable(place);
      }
      const done = await place.run([...rotate, "--json"]);
      expect(done.code).toBe(0);
      const [changed] = done.json<{ tasks: { generation: number }[] }>().tasks;
      expect(changed?.generation).toBeGreaterThan(1);
      await expectReadable(place);
      const shown = await place.run(["keys", "show", "t", "--json"]);
      expect(shown.json<{ keyring: { keys: unknown[]; unfinished: boolean } }>().keyring).toMatchObject({
        keys: [{ generation: changed?.generation }],
        unfinished: false,
      });
      expect((await place.run(["audit", "verify", "t"])).code).toBe(0);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual(["s1", "s2", "s3", "s3"]);
    },
  },
];
