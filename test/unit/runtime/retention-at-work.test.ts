/** Retention beside running steps, and what `prune --history` does to large values, on a simulated disk. */
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/base/clock.js";
import { LIMITS } from "../../../src/base/limits.js";
import type { EventView } from "../../../src/index.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { changeFileSystem } from "../../support/changed-file-system.js";
import { flushReactions } from "../../support/fake-clock.js";
import { contentsOf } from "../../simulation/verbs/picture.js";
import { MODEL_ROOT } from "../../support/store-places.js";

const SNAPSHOT = /\/checkpoint_phase[^/]*\.json$/;

const pathsOf = (disk: FaultyFileSystem): string[] => [...contentsOf(disk.disk, MODEL_ROOT).keys()].sort();
const snapshotsOf = (disk: FaultyFileSystem): string[] => pathsOf(disk).filter((path) => SNAPSHOT.test(path));

/** As another process of the same machine does it: every checkpoint that has a file, or that is pinned. */
async function setPins(place: ExploredPlace, act: "pin" | "unpin"): Promise<void> {
  const beside = await place.another();
  for (const { seq, file, pinned } of await beside.checkpoints.list("t")) {
    if (act === "pin" ? file !== undefined : pinned === true) await beside.checkpoints[act](`t:${seq}`);
  }
  await beside.close();
}

/** Lets the simulated process do what it does of itself until it is seen; on this disk everything takes a few turns. */
async function seen(isThere: () => boolean): Promise<void> {
  for (let round = 0; round < 10_000; round += 1) {
    if (isThere()) return;
    await flushReactions();
  }
  throw new Error("it never happened");
}

function inOrder(names: readonly string[], more: object): WorkflowOf {
  return (call) => ({
    ...more,
    steps: names.map((name, at) => ({
      name,
      function: call(name),
      effects: "idempotent",
      ...(at === 0 ? {} : { depends_on: [names[at - 1]] }),
    })),
  });
}

describe("cleanup_interval_minutes", () => {
  it("removes files while a step runs, and the step that follows does not wait for the removal", async () => {
    const disk = new FaultyFileSystem();
    /** What the removal of a snapshot file waits for. */
    let gate: Promise<void> = Promise.resolve();
    let openGate: () => void = () => undefined;
    const fileSystem = changeFileSystem(disk, {
      unlink: async (path) => {
        if (SNAPSHOT.test(path)) await gate;
        return disk.unlink(path);
      },
    });
    const cleanings: (() => void)[] = [];
    const every: Clock["every"] = (intervalMs, callback) => {
      if (intervalMs === 7 * 60_000) cleanings.push(callback);
      return () => undefined;
    };
    const pruned: EventView[] = [];
    const order: string[] = [];
    const files = () => snapshotsOf(disk).length;
    const bodies: Bodies = {
      b: async (_context, place) => {
        await seen(() => files() > 0);
        await setPins(place, "pin");
      },
      d: async (_context, place) => {
        expect(pruned).toEqual([]);
        gate = new Promise((resolve) => (openGate = resolve));
        await setPins(place, "unpin");
        for (const clean of cleanings) clean();
        await seen(() => pruned.length > 0);
        order.push("said in the history while d runs");
      },
      e: async () => {
        const before = files();
        order.push("e begins");
        openGate();
        await seen(() => files() < before);
        order.push("removed");
      },
    };
    const workflow = inOrder(["a", "b", "c", "d", "e"], {
      workflow: { name: "kept" },
      checkpoint_config: { max_checkpoints: 2, max_checkpoints_per_phase: 2, cleanup_interval_minutes: 7 },
    });
    const options = { fileSystem, now: () => disk.operationCount, seed: "kept", every };
    const place = await ExploredPlace.open(options, { workflow, bodies });
    place.verbs.on("event", (event) => {
      if (event.type === "pruned") pruned.push(event);
    });
    expect((await place.run("t")).status).toBe("done");
    expect(cleanings).toHaveLength(1);
    expect(order).toEqual(["said in the history while d runs", "e begins", "removed"]);
    expect(pruned[0]?.text).toMatch(/^removed 1 checkpoint file: more than 2 files of /);
    const { entries } = await place.verbs.audit.show("t");
    expect(entries.filter(({ event }) => event === "pruned").map(({ verb }) => verb)).toContain("retention");
  });
});

describe("checkpoints prune --history", () => {
  const LARGE = LIMITS.blobThresholdBytes;
  /** The second step gives another value in every round: of no use once the records of that round are gone. */
  const bodies: Bodies = {
    a: () => ({ output: { text: "k".repeat(LARGE) } }),
    b: (_context, place) => ({ output: { text: String(place.acts.length).repeat(LARGE) } }),
  };
  const workflow = inOrder(["a", "b", "c"], {
    workflow: { name: "shortened" },
    performance_config: { async_writes: false },
  });

  it("removes the blobs that nothing names any more and no other, says so, and what stays can be read", async () => {
    const disk = new FaultyFileSystem();
    const place = await ExploredPlace.open(
      { fileSystem: disk, now: () => disk.operationCount, seed: "cut" },
      { workflow, bodies },
    );
    expect((await place.run("t")).status).toBe("done");
    for (let time = 0; time < 2; time += 1) {
      const again = await place.verbs.resume({ task: "t", from: "1", workflow: place.workflow, onUnknown: "rerun" });
      expect(again).toMatchObject({ status: "done" });
    }
    const blobs = () => pathsOf(disk).filter((path) => path.includes("/blobs/"));
    const valuesOf = async () => (await place.verbs.show("t")).output;
    const [before, output] = [blobs(), await valuesOf()];
    // One of the first step, one for each round of the second, and the states that the task went back to.
    expect(before.length).toBeGreaterThanOrEqual(4);

    const asked = { task: "t", keep: 2, history: true } as const;
    const [plan] = (await place.verbs.checkpoints.prune({ ...asked, dryRun: true })).tasks;
    expect(blobs()).toEqual(before);
    const [done] = (await place.verbs.checkpoints.prune(asked)).tasks;
    expect(done?.history).toEqual(plan?.history);
    const left = blobs();
    const gone = before.filter((path) => !left.includes(path));
    expect(gone).toHaveLength(done?.history?.blobs ?? -1);
    expect(gone.length).toBeGreaterThan(0);
    expect(left.length).toBeGreaterThan(0);

    expect(await valuesOf()).toEqual(output);
    expect((await place.verbs.show("t")).damage).toEqual([]);
    for (const { seq, reachable, checkpoint_id: id } of await place.verbs.checkpoints.list("t")) {
      const shown = place.verbs.checkpoints.show(`t:${seq}`);
      if (reachable === false) await expect(shown).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      else expect(JSON.stringify(await shown)).toContain(id);
    }
    // Nothing more goes the next time, and a task that goes back runs on with what is there.
    expect((await place.verbs.checkpoints.prune({ ...asked, dryRun: true })).tasks[0]?.history?.blobs ?? 0).toBe(0);
    const from = (await place.verbs.checkpoints.list("t")).findLast(({ reachable }) => reachable !== false)?.seq;
    expect(await place.verbs.resume({ task: "t", from: String(from), workflow: place.workflow })).toMatchObject({
      status: "done",
    });
    expect(await valuesOf()).toEqual(output);
  });
});
