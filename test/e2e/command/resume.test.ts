/** `splashdown resume`: where a task goes on, what it says first, and what it refuses. */
import { describe, expect, it } from "vitest";
import type { CheckpointView, EventView, PlanView, RunView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, repair, spoil, writeHeldSteps } from "../../support/held-steps.js";

const FIVE = ["s1", "s2", "s3", "s4", "s5"];
const THREE = ["s1", "s2", "s3"];

describe("resume after a failure", () => {
  it.each([1, 2, 3, 4, 5])("FAULTS 9: runs the failed step %i first, the finished ones never again", async (k) => {
    const place = openPlace();
    const file = writeHeldSteps(place, FIVE);
    spoil(place, `s${k}`);
    expect((await place.run(["run", file, "--task", "t", "--quiet"])).code).toBe(4);
    repair(place, `s${k}`);
    const { code, stdout } = await place.run(["resume", "t"]);
    expect(code).toBe(0);
    expect(stdout).toContain("done  t (resumed): ");
    expect(place.ledger()).toEqual([...FIVE.slice(0, k), ...FIVE.slice(k - 1)]);
  });

  it("FAULTS 9: says why nothing runs when nothing is left, and adds no event", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, THREE), "--task", "t"]);
    const before = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const { code, stdout, stderr } = await place.run(["resume", "t"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("done  t (nothing ran): ");
    expect(stdout).toContain("the task has ended; nothing is left to run");
    expect((await place.run(["events", "t", "--json"])).json<EventView[]>()).toEqual(before);
    expect(place.ledger()).toEqual(THREE);
  });
});

describe("the plan of a resume", () => {
  it("comes first, on stderr, and says what is done, runs again, is unknown and will run", async () => {
    const place = openPlace();
    await crashAt(place, "s2", ["run", writeHeldSteps(place, THREE), "--task", "t"]);
    const { stderr } = await place.run(["resume", "t"]);
    expect(stderr.slice(0, stderr.indexOf("  s3\n") + 5)).toBe(
      "plan for t\ndone, stays (1):\n  s1\noutcome unknown (1):\n  s2\nto run (1):\n  s3\n",
    );
  });

  it("is all that --plan prints; nothing is claimed and nothing runs", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, THREE);
    spoil(place, "s2");
    await place.run(["run", file, "--task", "t"]);
    const before = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const result = await place.run(["resume", "t", "--plan", "--json"]);
    expect(result.code).toBe(0);
    expect(result.json<PlanView>()).toEqual({
      task: "t",
      done: ["main/s1@1.1"],
      to_run: ["main/s3"],
      may_run: [],
      to_rerun: [{ step: "main/s2@1.1", why: "it failed: sh exited with 3: refused by s2" }],
      unknown: [],
      changed: [],
    });
    expect((await place.run(["events", "t", "--json"])).json()).toEqual(before);
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });
});

describe("resume with a changed definition", () => {
  async function failThenChange(place: CommandPlace): Promise<void> {
    const file = writeHeldSteps(place, THREE);
    spoil(place, "s2");
    await place.run(["run", file, "--task", "t"]);
    repair(place, "s2");
    writeHeldSteps(place, ["s1", "s2", "s3", "s4"]);
  }

  it("shows what changed, ends with 20 and runs nothing", async () => {
    const place = openPlace();
    await failThenChange(place);
    const result = await place.run(["resume", "t", "--json"]);
    expect(result.code).toBe(20);
    const view = result.json<RunView>();
    expect(view.next).toBe("splashdown resume t --accept-changes");
    expect(view.reason).toContain("steps.yaml has changed since the task started; nothing ran");
    expect(view.notices).toContain("main/s4: added");
    expect(place.ledger()).toEqual(["s1", "s2"]);
    const told = await place.run(["resume", "t"]);
    expect(told.stderr).toContain("changed in the definition (");
    expect(told.stdout).toContain("continue with: splashdown resume t --accept-changes\n");
  });

  it("goes on by the new one with --accept-changes and keeps what is done", async () => {
    const place = openPlace();
    await failThenChange(place);
    const { code } = await place.run(["resume", "t", "--accept-changes"]);
    expect(code).toBe(0);
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3", "s4"]);
  });

  it("goes on by the sealed one, and says so, when the file is gone", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, THREE);
    spoil(place, "s2");
    await place.run(["run", file, "--task", "t"]);
    repair(place, "s2");
    place.write(file, "workflow: [\n");
    const { code, stdout } = await place.run(["resume", "t"]);
    expect(code).toBe(0);
    expect(stdout).toContain("the task continues with the definition it was started with");
  });
});

describe("resume of a task with an unknown outcome", () => {
  async function crashed(args: readonly string[] = []): Promise<CommandPlace> {
    const place = openPlace();
    await crashAt(place, "s2", ["run", writeHeldSteps(place, THREE), "--task", "t", ...args]);
    return place;
  }

  it("stops at the question with 22 and leaves the ledger as it is", async () => {
    const place = await crashed();
    const { code, stdout } = await place.run(["resume", "t"]);
    expect(code).toBe(22);
    expect(stdout).toContain("answer with: splashdown answer t rerun");
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });

  it.each([
    ["--on-unknown rerun", ["--on-unknown", "rerun"], ["s1", "s2", "s2", "s3"], 0],
    ["--on-unknown skip", ["--on-unknown", "skip"], ["s1", "s2", "s3"], 3],
    ["--on-unknown fail", ["--on-unknown", "fail"], ["s1", "s2"], 4],
    ["--unknown by name", ["--unknown", "s2=rerun"], ["s1", "s2", "s2", "s3"], 0],
    ["--unknown by path", ["--unknown", "main/s2=skip"], ["s1", "s2", "s3"], 3],
    ["--unknown done", ["--unknown", 's2=done:{"step":"by hand"}'], ["s1", "s2", "s3"], 0],
    ["the more specific of both", ["--unknown", "s2=rerun", "--on-unknown", "fail"], ["s1", "s2", "s2", "s3"], 0],
  ])("follows %s fresh from the crash", async (_name, flags, ledger, status) => {
    const place = await crashed();
    const { code } = await place.run(["resume", "t", ...flags]);
    expect({ code, ledger: place.ledger() }).toEqual({ code: status, ledger });
  });

  it.each([
    ["--on-unknown rerun", ["--on-unknown", "rerun"], ["s1", "s2", "s2", "s3"], 0],
    ["--unknown by path", ["--unknown", "main/s2=skip"], ["s1", "s2", "s3"], 3],
    ["--unknown done", ["--unknown", 's2=done:{"step":"by hand"}'], ["s1", "s2", "s3"], 0],
  ])("follows %s after the question was asked", async (_name, flags, ledger, status) => {
    const place = await crashed();
    expect((await place.run(["resume", "t"])).code).toBe(22);
    const { code } = await place.run(["resume", "t", ...flags]);
    expect({ code, ledger: place.ledger() }).toEqual({ code: status, ledger });
  });

  it("names what it fails with", async () => {
    const place = await crashed();
    const { stdout } = await place.run(["resume", "t", "--on-unknown", "fail"]);
    expect(stdout).toContain("s2 failed: it is unknown whether attempt 1 has acted");
  });

  it("takes --answer with its --output for the one open question", async () => {
    const place = await crashed();
    await place.run(["resume", "t"]);
    const { code } = await place.run(["resume", "t", "--answer", "done", "--output", '{"step":"by hand"}']);
    expect(code).toBe(0);
    expect(place.ledger()).toEqual(["s1", "s2", "s3"]);
  });

  const REFUSALS: readonly (readonly [string[], number, string])[] = [
    [["--unknown", "s2=reran"], 2, '--unknown s2 takes rerun, skip, fail or done:JSON, not "reran"'],
    [["--unknown", "s9=rerun"], 2, "--unknown names s9, and no such step has begun; did you mean s"],
    [["--unknown", "s2=done:{"], 2, "--unknown s2=done:… is not JSON"],
    [["--on-unknown", "maybe"], 2, '--on-unknown takes ask, rerun, skip or fail, not "maybe"'],
    [["--answer", "reran"], 2, "reran is not one of rerun, done, skip, fail; did you mean rerun?"],
    [["--answer", "done"], 2, "done needs a value; give it with --output JSON"],
    [["--output", "{}"], 2, "--output goes with --answer"],
    [["--extend", "max_iterations=5"], 10, "no limit of task t is reached"],
    [["--extend", "max_iteration=5"], 2, "--extend: there is no limit max_iteration; did you mean max_iterations?"],
    [["--extend", "max_iterations=some"], 2, "--extend: max_iterations takes a number above 0"],
  ];

  it("refuses what is no answer to it, each time anew, and runs nothing", async () => {
    const place = await crashed();
    await place.run(["resume", "t"]);
    for (const [flags, status, message] of REFUSALS) {
      const { code, stderr } = await place.run(["resume", "t", ...flags]);
      expect({ flags, stderr, code }).toEqual({
        flags,
        stderr: expect.stringContaining(message) as string,
        code: status,
      });
      expect(place.ledger()).toEqual(["s1", "s2"]);
    }
  });
});

describe("resume at a limit", () => {
  it("FAULTS 19: counts over owners, stops with 21, and --extend adds to it", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, FIVE, { more: "limits: {max_iterations: 2}" });
    const first = await place.run(["run", file, "--task", "t"]);
    expect(first.code).toBe(21);
    expect(first.stdout).toContain("the limit of 2 iterations is reached (2 used); extend it or stop?");
    expect((await place.run(["resume", "t"])).code).toBe(21);
    expect(place.ledger()).toEqual(["s1", "s2"]);
    expect((await place.run(["resume", "t", "--extend", "max_iterations=1"])).code).toBe(21);
    expect(place.ledger()).toEqual(["s1", "s2", "s3"]);
    expect((await place.run(["resume", "t", "--extend", "iterations=2"])).code).toBe(0);
    expect(place.ledger()).toEqual(FIVE);
  });
});

describe("resume finds its task", () => {
  it("by name, uuid, workflow name and checkpoint id", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, THREE);
    spoil(place, "s2");
    const { workflow_id: id } = (await place.run(["run", file, "--task", "t", "--json"])).json<RunView>();
    const [checkpoint] = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>();
    for (const reference of [["t"], [id], ["steps"], ["--checkpoint-id", checkpoint?.checkpoint_id ?? ""]]) {
      const plan = (await place.run(["resume", ...reference, "--plan", "--json"])).json<PlanView>();
      expect(plan.task).toBe("t");
    }
  });

  it("FAULTS 34: refuses with 2 and lists them when a workflow name fits several", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, THREE);
    await place.run(["run", file, "--task", "a"]);
    await place.run(["run", file, "--task", "b"]);
    const { code, stderr } = await place.run(["resume", "steps"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /2 tasks of workflow steps fit: (a \(done\), b \(done\)|b \(done\), a \(done\)) \[TASK_AMBIGUOUS\]/,
    );
  });

  it("ends with 10 for one that is not there, and with 2 without a name", async () => {
    const place = openPlace();
    expect((await place.run(["resume", "none"])).code).toBe(10);
    expect((await place.run(["resume"])).code).toBe(2);
  });
});
