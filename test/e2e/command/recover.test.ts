/** `splashdown recover`: every crashed task, each by itself; none for ever, and none that lives. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RecoverView, TaskSummaryView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, release, spoil, startHeld, writeHeldSteps } from "../../support/held-steps.js";

const STEPS = ["s1", "s2", "s3"];

async function recover(place: CommandPlace): Promise<{ code: number | null; view: RecoverView }> {
  const result = await place.run(["recover", "--json"]);
  return { code: result.code, view: result.json<RecoverView>() };
}

describe("recover", () => {
  it("takes up every crashed task and leaves the others, saying why of each", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await place.run(["run", file, "--task", "ended"]);
    spoil(place, "s2");
    await place.run(["run", file, "--task", "failed", "--input", "n=1"]);
    await place.run(["recover"]);
    rmSync(join(place.folder, "fail-s2"));
    await crashAt(place, "s2", ["run", file, "--task", "one", "--input", "n=2"]);
    await crashAt(place, "s3", ["run", file, "--task", "two", "--input", "n=3"]);
    const before = place.ledger().length;
    const { code, view } = await recover(place);
    expect(code).toBe(0);
    expect(view.tasks).toMatchObject([
      { task: "ended", action: "left", why: "it has ended" },
      { task: "failed", action: "left", why: "it failed and needs a person" },
      { task: "one", action: "taken_up", why: "its owner is gone", result: { status: "done" } },
      { task: "two", action: "taken_up", why: "its owner is gone", result: { status: "done" } },
    ]);
    expect(place.ledger().slice(before).sort()).toEqual(["s2", "s3", "s3"]);
  });

  it("FAULTS 36: leaves a task whose owner lives, and names the owner", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    const { code, view } = await recover(place);
    expect(code).toBe(0);
    expect(view.tasks).toMatchObject([
      { task: "t", action: "left", why: `its owner, process ${running.pid}, is alive` },
    ]);
    release(place, "s2");
    expect((await running.done).code).toBe(0);
    expect(place.ledger()).toEqual(STEPS);
  });

  it("FAULTS 36: of several that recover at once exactly one runs each task", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    for (const name of ["a", "b", "c"])
      await crashAt(place, "s2", ["run", file, "--task", name, "--input", `n=${name.charCodeAt(0)}`]);
    const before = place.ledger().length;
    await Promise.all([1, 2, 3, 4].map(() => place.run(["recover"])));
    expect(place.ledger().slice(before).sort()).toEqual(["s2", "s2", "s2", "s3", "s3", "s3"]);
    const tasks = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(tasks.map((task) => task.status)).toEqual(["done", "done", "done"]);
  });

  it("FAULTS 10: one task that cannot be read stops no other, and is named", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await crashAt(place, "s2", ["run", file, "--task", "bad", "--input", "n=1"]);
    await crashAt(place, "s2", ["run", file, "--task", "good", "--input", "n=2"]);
    const checkpoints = join(place.folder, "outputs", "bad", "checkpoints");
    for (const name of readdirSync(checkpoints).filter((entry) => entry.startsWith("keyring-")))
      writeFileSync(join(checkpoints, name), "{}");
    const { view } = await recover(place);
    const [bad, good] = view.tasks;
    expect(bad).toMatchObject({ task: "bad", action: "failed", code: "KEYRING_CORRUPT" });
    expect(bad?.why).toContain("keyring");
    expect(good).toMatchObject({ task: "good", action: "taken_up", result: { status: "done" } });
  });

  it("says so when there is nothing", async () => {
    const place = openPlace();
    expect((await place.run(["recover"])).stdout).toBe("no tasks\n");
    expect((await recover(place)).view).toEqual({ tasks: [], exit_status: 0 });
  });

  it("takes up nothing when auto_recovery is off", async () => {
    const place = openPlace();
    await crashAt(place, "s2", ["run", writeHeldSteps(place, STEPS, { effects: "none" }), "--task", "t"]);
    place.write("splashdown.config.yaml", "recovery_config: {auto_recovery: false}\n");
    const { view } = await recover(place);
    expect(view.tasks).toMatchObject([
      { action: "left", why: "recovery_config.auto_recovery is off; continue with: splashdown resume t" },
    ]);
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });
});

describe("FAULTS 32: a step that kills its owner", () => {
  const ABORT = `import { appendFileSync, existsSync } from "node:fs";
export function abort() {
  appendFileSync(new URL("ledger", import.meta.url), "abort\\n");
  if (existsSync(new URL("deadly", import.meta.url))) process.abort();
  return { survived: true };
}
`;

  function writeDeadly(place: CommandPlace): void {
    place.write("abort.mjs", ABORT);
    place.write("deadly", "");
    place.write(
      "deadly.yaml",
      'workflow: {name: deadly}\nsteps:\n  - {name: abort, function: "./abort.mjs#abort", effects: none}\n',
    );
  }

  it("is parked after three crashes while another task ends, and a person's resume gives it another chance", async () => {
    const place = openPlace();
    writeDeadly(place);
    const healthy = writeHeldSteps(place, ["s1", "s2"], { effects: "none" });
    await place.run(["run", "deadly.yaml", "--task", "deadly"]);
    for (let crash = 2; crash <= 3; crash += 1) expect((await place.run(["recover"])).signal).toBe("SIGABRT");
    expect(place.ledger()).toEqual(["abort", "abort", "abort"]);

    await crashAt(place, "s2", ["run", healthy, "--task", "healthy"]);
    const { code, view } = await recover(place);
    expect(code).toBe(0);
    expect(view.tasks).toMatchObject([
      { task: "deadly", action: "taken_up", result: { status: "waiting", exit_status: 14 } },
      { task: "healthy", action: "taken_up", result: { status: "done" } },
    ]);
    expect(place.ledger().filter((line) => line === "abort")).toHaveLength(3);
    expect((await recover(place)).view.tasks[0]).toMatchObject({ action: "left", why: "it waits for a person" });

    rmSync(join(place.folder, "deadly"));
    expect((await place.run(["resume", "deadly"])).code).toBe(0);
    expect(place.ledger().filter((line) => line === "abort")).toHaveLength(4);
  });

  it("planned stops of a healthy task never park it", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    for (let stop = 1; stop <= 5; stop += 1) {
      const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
      running.child.kill("SIGTERM");
      expect((await running.done).code).toBe(143);
    }
    release(place, "s2");
    expect((await place.run(["run", file, "--task", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s2", "s2", "s2", "s2", "s3"]);
  });
});
