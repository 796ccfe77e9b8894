/** What users of such tools suffer from, on a simulated disk: retention that takes what is needed, outputs without end. */
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";
import type { RunView } from "../../../src/index.js";
import { FaultyFileSystem } from "../../simulation/faulty-file-system.js";
import { ExploredPlace, type Bodies, type WorkflowOf } from "../../simulation/verbs/explored-place.js";
import { MODEL_ROOT } from "../../support/store-places.js";
import { contentsOf } from "../../simulation/verbs/picture.js";

const DAY_MS = 24 * 60 * 60 * 1000;

interface Plot {
  readonly workflow: WorkflowOf;
  readonly bodies?: Bodies;
}

function open(disk: FaultyFileSystem, plot: Plot, startMs = 0): Promise<ExploredPlace> {
  return ExploredPlace.open({ fileSystem: disk, now: () => disk.operationCount, seed: `at ${startMs}` }, plot, startMs);
}

describe("FAULTS 11: retention deletes silently and for good", () => {
  const workflow: WorkflowOf = (call) => ({
    workflow: { name: "kept", limits: { max_iterations: 1 } },
    checkpoint_config: { retention_days: 7, keep_successful: false },
    steps: [
      { name: "a", function: call("a"), effects: "idempotent" },
      { name: "b", function: call("b"), effects: "idempotent", depends_on: ["a"] },
    ],
  });

  it("plans without changing a byte, removes ended tasks by age only, and an unfinished one still resumes after a month", async () => {
    const disk = new FaultyFileSystem();
    const first = await open(disk, { workflow });
    for (const task of ["ended", "unfinished"]) expect((await first.run(task)).status).toBe("waiting");
    const answered = { answer: "extend", value: { iterations: 5 } };
    await first.verbs.answer({ task: "ended", ...answered });
    expect(((await first.goOn("ended")) as RunView).status).toBe("done");
    await first.verbs.close();

    const later = await open(disk, { workflow }, 30 * DAY_MS);
    const before = [...contentsOf(disk.disk, MODEL_ROOT)];
    const plan = await later.verbs.checkpoints.prune({ dryRun: true });
    expect(plan.tasks.map(({ task, action }) => [task, action])).toEqual([
      ["ended", "trash"],
      ["unfinished", "keep"],
    ]);
    expect([...contentsOf(disk.disk, MODEL_ROOT)]).toEqual(before);
    await later.verbs.checkpoints.prune();
    const listed = await later.verbs.list();
    expect(listed.map(({ task, problem }) => [task, problem])).toEqual([["unfinished", undefined]]);
    const [trashed, ...more] = (await later.verbs.store.trash()).tasks;
    expect([trashed?.task, more]).toEqual(["ended", []]);
    expect(trashed?.size).toBeGreaterThanOrEqual(plan.tasks[0]?.size ?? Infinity);
    await expect(later.verbs.show("ended")).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
      message: "task ended is in the trash; bring it back with: splashdown store restore ended",
    });
    await later.verbs.close();

    const muchLater = await open(disk, { workflow }, 75 * DAY_MS);
    expect((await muchLater.verbs.checkpoints.prune({ dryRun: true })).tasks).toMatchObject([
      { task: "unfinished", action: "keep" },
      { task: "ended", status: "trashed", action: "remove", freed: trashed?.size },
    ]);
    await muchLater.verbs.store.restore(["ended"]);
    expect((await muchLater.verbs.show("ended")).status).toBe("done");
    await muchLater.verbs.checkpoints.prune();
    await muchLater.verbs.store.purge();
    expect((await muchLater.verbs.store.trash()).tasks).toEqual([]);
    await muchLater.verbs.close();
    for (const { seq } of await later.verbs.checkpoints.list("unfinished"))
      expect((await later.verbs.debug.replay(`unfinished:${seq}`)).story.length).toBeGreaterThan(0);
    await later.verbs.answer({ task: "unfinished", ...answered });
    expect(((await later.goOn("unfinished")) as RunView).status).toBe("done");
  });
});

describe("FAULTS 47: an output over every limit", () => {
  it("is a named failure of one attempt however often a retry is allowed, and the task can be shown", async () => {
    const workflow: WorkflowOf = (call) => ({
      workflow: { name: "huge" },
      steps: [
        {
          name: "a",
          function: call("a"),
          effects: "none",
          retry: { max_attempts: 3, backoff: "fixed", delay_seconds: 0 },
        },
      ],
    });
    const text = "z".repeat(LIMITS.stepOutputBytesMax + 1);
    const disk = new FaultyFileSystem();
    const place = await open(disk, { workflow, bodies: { a: () => ({ output: { text } }) } });
    const view = await place.run("t");
    expect(view).toMatchObject({ status: "failed", exit_status: 4 });
    expect(place.acts).toHaveLength(1);
    const [step] = (await place.verbs.show("t")).steps;
    expect(step?.error).toMatchObject({ code: "VALUE_TOO_LARGE" });
  });

  it("of an error's text is cut before it is recorded", async () => {
    const workflow: WorkflowOf = (call) => ({
      workflow: { name: "loud" },
      steps: [{ name: "a", function: call("a"), effects: "none" }],
    });
    const fail = (): never => {
      throw new Error(`it went wrong: ${"e".repeat(5_000_000)}`);
    };
    const place = await open(new FaultyFileSystem(), { workflow, bodies: { a: fail } });
    expect((await place.run("t")).status).toBe("failed");
    const [step] = (await place.verbs.show("t")).steps;
    expect(JSON.stringify(step?.error).length).toBeLessThan(100_000);
    expect(JSON.stringify(step?.error)).toContain("it went wrong");
  });
});
