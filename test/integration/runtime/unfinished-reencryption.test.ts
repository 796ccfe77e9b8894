/** Sealing a task again that is cut off over and over, or beside which somebody takes a pin back or loses a key. */
import { describe, expect, it } from "vitest";
import type { FileSystem } from "../../../src/base/file-system.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { codeOfAsync } from "../../support/error-code.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const FOLDER = `${MODEL_ROOT}/t/checkpoints`;
const AGAIN = { taskKey: true, reencrypt: true };
const EXTEND = { task: "t", answer: "extend", value: { iterations: 5 } };

const asking: WorkflowOf = (call) => ({
  workflow: { name: "asking", limits: { max_iterations: 1 } },
  steps: [
    { name: "a", function: call("a"), effects: "idempotent" },
    { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
  ],
});

const open = (fileSystem: FileSystem, seed: string): Promise<ExploredPlace> =>
  ExploredPlace.open({ fileSystem, now: () => 0, seed }, { workflow: asking });

async function startTask(disk: FaultyFileSystem): Promise<ExploredPlace> {
  const place = await open(disk, "first");
  expect((await place.run("t")).status).toBe("waiting");
  return place;
}

/** Fingerprints of the keys in the task's keyring, and their generations. */
async function keysOf(place: ExploredPlace): Promise<{ ids: string[]; generations: number[] }> {
  const shown = JSON.stringify(await place.verbs.keys.show("t"));
  return {
    ids: [...shown.matchAll(/"id":"([0-9a-f]{16})"/g)].map(([, id]) => id ?? ""),
    generations: [...shown.matchAll(/"generation":(\d+)/g)].map(([, generation]) => Number(generation)),
  };
}

describe("a task whose sealing again is cut off", () => {
  it("until its keyring is full, and after that, is sealed again by the next one, under a key that none of them made", async () => {
    const disk = new FaultyFileSystem();
    const first = await startTask(disk);
    for (let generation = 2; generation <= 30; generation += 1)
      await first.verbs.keys.rotate({ task: "t" }, { taskKey: true });
    await first.verbs.close();
    const made = new Set<string>();
    let [highest, most] = [0, 0];
    for (let kill = 1; kill <= 7; kill += 1) {
      // Its files get their names by links: the two keyrings come first, then at one of the next the process dies.
      let left = 2 + (kill % 4);
      let isDead = false;
      const refuse = async <T>(act: () => Promise<T>): Promise<T> => {
        if (isDead) throw new Error("the process is killed");
        return act();
      };
      const fileSystem = changeFileSystem(disk, {
        link: (from, to) => {
          isDead ||= left === 0;
          left -= 1;
          return refuse(() => disk.link(from, to));
        },
        unlink: (path) => refuse(() => disk.unlink(path)),
        rename: (from, to) => refuse(() => disk.rename(from, to)),
      });
      const place = await open(fileSystem, `life ${kill}`);
      await expect(place.verbs.keys.rotate({ task: "t" }, AGAIN)).rejects.toThrow("the process is killed");
      await place.verbs.close();
      const { ids, generations } = await keysOf(place);
      for (const id of ids) made.add(id);
      highest = Math.max(highest, ...generations);
      most = Math.max(most, ids.length);
    }
    const place = await open(disk, "last");
    const [changed] = (await place.verbs.keys.rotate({ task: "t" }, AGAIN)).tasks;
    const { ids, generations } = await keysOf(place);
    expect(generations).toEqual([changed?.generation]);
    expect([most, generations[0] ?? 0]).toEqual([32, highest + 1]);
    expect([ids.length, ids.some((id) => made.has(id))]).toEqual([1, false]);
    await place.verbs.answer(EXTEND);
    await place.goOn("t");
    expect(await place.verbs.show("t")).toMatchObject({ status: "done", damage: [] });
    await place.verbs.close();
  });
});

describe("beside a task that is sealed again", () => {
  it("C9: a pin that is taken back while it is carried over stays taken back", async () => {
    const disk = new FaultyFileSystem();
    const place = await startTask(disk);
    await place.verbs.checkpoints.pin("t:1");
    let isHeld = true;
    const fileSystem = changeFileSystem(disk, {
      link: async (from, to) => {
        if (isHeld && /control\/pin-.*~2$/.test(to)) {
          isHeld = false;
          expect((await place.verbs.checkpoints.unpin("t:1")).changed).toBe(true);
        }
        return disk.link(from, to);
      },
    });
    const sealing = await open(fileSystem, "sealing");
    await sealing.verbs.keys.rotate({ task: "t" }, AGAIN);
    await sealing.verbs.close();
    expect(isHeld).toBe(false);
    expect((await place.verbs.checkpoints.list("t")).filter(({ pinned }) => pinned)).toEqual([]);
    expect((await place.verbs.checkpoints.unpin("t:1")).changed).toBe(false);
    expect((await place.verbs.checkpoints.pin("t:1", { note: "again" })).note).toBe("again");
    expect((await place.verbs.checkpoints.list("t")).filter(({ pinned }) => pinned)).toHaveLength(1);
    await place.verbs.close();
  });
});

describe("a task whose newest keyring is gone", () => {
  it("V20: gives no key the generation that messages were left under, and takes answers", async () => {
    const disk = new FaultyFileSystem();
    const fileSystem = changeFileSystem(disk, {
      link: (from, to) => (to.endsWith("/keyring-3.json") ? Promise.reject(new Error("killed")) : disk.link(from, to)),
    });
    const first = await open(fileSystem, "first");
    await first.run("t");
    await expect(first.verbs.keys.rotate({ task: "t" }, { taskKey: true })).rejects.toThrow("killed");
    await first.verbs.answer(EXTEND);
    await first.verbs.close();
    await disk.unlink(`${FOLDER}/keyring-2.json`);
    const place = await open(disk, "second");
    expect(await codeOfAsync(() => place.verbs.answer(EXTEND))).toBe("KEYRING_ROLLED_BACK");
    expect((await place.verbs.keys.accept("t")).accepted).toBe(true);
    const [changed] = (await place.verbs.keys.rotate({ task: "t" }, { taskKey: true })).tasks;
    expect(changed).toMatchObject({ changed: true, generation: 3 });
    await place.verbs.answer(EXTEND);
    await place.goOn("t");
    expect((await place.verbs.show("t")).status).toBe("done");
    await place.verbs.close();
  });
});
