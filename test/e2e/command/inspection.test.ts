/** Verbs that read: list, show, events, checkpoints and debug. They are true, and change nothing. */
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type {
  CheckpointView,
  EventView,
  ReplayView,
  TaskSummaryView,
  TaskView,
  ValidateCheckpointView,
} from "../../../src/runtime/contract.js";
import { PROJECT_FOLDER } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, release, spoil, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";

const STEPS = ["s1", "s2", "s3"];

describe("list", () => {
  it("tells each task's status, steps and questions, and how to begin when there is none", async () => {
    const place = openPlace();
    expect((await place.run(["list"])).stdout).toBe("no tasks yet; start one with: splashdown run FILE\n");
    const file = writeHeldSteps(place, STEPS);
    await place.run(["run", file, "--task", "done"]);
    await crashAt(place, "s2", ["run", file, "--task", "crashed", "--input", "n=1"]);
    await crashAt(place, "s2", ["run", file, "--task", "waiting", "--input", "n=2"]);
    await place.run(["resume", "waiting"]);
    spoil(place, "s3");
    await place.run(["run", file, "--task", "failed", "--input", "n=3"]);
    const running = await startHeld(place, "s1", { args: ["run", file, "--task", "running", "--input", "n=4"] });
    const tasks = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(tasks.map(({ task, status, steps_done: steps }) => [task, status, steps])).toEqual([
      ["crashed", "crashed", 1],
      ["done", "done", 3],
      ["failed", "failed", 2],
      ["running", "running", 0],
      ["waiting", "waiting", 1],
    ]);
    const { stdout } = await place.run(["list"]);
    expect(stdout).toMatch(/^waiting {2}waiting {2}steps .*\n {2}└ 1 open question, s2: main\/s2 was started/m);
    release(place, "s1");
    await running.done;
  });
});

describe("show", () => {
  it("tells a running task's owner, and everything of a finished one", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    const during = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(during).toMatchObject({ status: "running", owner: { pid: running.pid }, steps_done: 1, encrypted: true });
    expect(during.next).toBeUndefined();
    release(place, "s2");
    await running.done;
    const after = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(after).toMatchObject({
      status: "done",
      reason: "all steps are done",
      inputs: { n: 0 },
      output: { last: "s3", n: 0 },
      damage: [],
      open_questions: 0,
    });
    expect(after.owner).toBeUndefined();
    expect(after.steps.map(({ path, status, attempt }) => [path, status, attempt])).toEqual(
      STEPS.map((name) => [`main/${name}`, "completed", 1]),
    );
  });

  it("takes the newest of several of one workflow and says so", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    await place.run(["run", file, "--task", "a"]);
    await place.run(["run", file, "--task", "b"]);
    const { stdout, stderr } = await place.run(["show", "steps"]);
    expect(stdout).toContain("b  done: all steps are done");
    expect(stderr).toContain("2 tasks of workflow steps fit; the newest is taken: b");
  });

  it("ends with 10 for what is not there", async () => {
    const { code, stderr } = await openPlace().run(["show", "none"]);
    expect(code).toBe(10);
    expect(stderr).toContain("no task has the name, id or workflow none [TASK_NOT_FOUND]\n  → splashdown list\n");
  });
});

describe("events", () => {
  it("are numbered without a gap, and --from begins later", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    expect(events.map((event) => event.n)).toEqual(events.map((_event, index) => index + 1));
    expect(events[0]).toMatchObject({ type: "task_started" });
    expect(events.at(-1)).toMatchObject({ type: "task_closed", text: "task done: all steps are done" });
    const later = (await place.run(["events", "t", "--from", "5", "--json"])).json<EventView[]>();
    expect(later).toEqual(events.slice(4));
  });

  it("--follow shows what comes while the task runs, one document per line, and ends with its owner", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    const follower = place.start(["events", "t", "--follow", "--json"]);
    await until("what is there is shown", () => follower.stdout().includes("s2 starts"));
    expect(follower.stdout()).not.toContain("task_closed");
    release(place, "s2");
    await running.done;
    const { code, stdout } = await follower.done;
    expect(code).toBe(0);
    const numbers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as EventView).n);
    expect(numbers).toEqual(numbers.map((_n, index) => index + 1));
    expect(stdout).toContain("task done: all steps are done");
  });

  it("--follow ends in order with Ctrl+C", async () => {
    const place = openPlace();
    const running = await startHeld(place, "s2", { args: ["run", writeHeldSteps(place, STEPS), "--task", "t"] });
    const follower = place.start(["events", "t", "--follow"]);
    await until("it follows", () => follower.stdout().includes("s2 starts"));
    follower.child.kill("SIGINT");
    expect((await follower.done).code).toBe(130);
    release(place, "s2");
    expect((await running.done).code).toBe(0);
  });
});

/** A task with one failure behind it: checkpoints of two owners. */
async function storied(): Promise<{ place: CommandPlace; list: CheckpointView[] }> {
  const place = openPlace();
  await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
  return { place, list: (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>() };
}

describe("checkpoints", () => {
  it("are listed in order with trigger, status and file, and found by every name they have", async () => {
    const { place, list } = await storied();
    expect(list.map(({ seq, trigger }) => [seq, trigger])).toEqual([
      [1, "specialist_finished"],
      [2, "specialist_finished"],
      [3, "specialist_finished"],
      [4, "phase_completed"],
    ]);
    const [first] = list;
    const id = first?.checkpoint_id ?? "";
    for (const reference of ["t:1", id, id.slice(0, 8), first?.file ?? ""]) {
      const view = (await place.run(["checkpoints", "show", reference, "--json"])).json<CheckpointView>();
      expect(view).toMatchObject({ checkpoint_id: id, seq: 1, task: "t" });
    }
    expect((await place.run(["checkpoints", "show", "latest", "--json"])).json()).toMatchObject({ seq: 4 });
    expect((await place.run(["debug", "list-checkpoints", "--task=t", "--json"])).json()).toEqual(list);
  });

  it("end with 10 for one that is not there and with 2 for one that is not the only one", async () => {
    const { place } = await storied();
    expect((await place.run(["checkpoints", "show", "99"])).code).toBe(10);
    await place.run(["run", "steps.yaml", "--task", "u"]);
    const { code, stderr } = await place.run(["checkpoints", "show", "1"]);
    expect(code).toBe(2);
    expect(stderr).toContain("2 checkpoints fit 1: t:1, u:1 [CHECKPOINT_AMBIGUOUS]\n  → splashdown checkpoints list\n");
  });
});

describe("debug validate-checkpoint", () => {
  it("says valid of a good file, by path or by name, and that the seal was not checked without the key", async () => {
    const { place, list } = await storied();
    const file = list[0]?.file ?? "";
    const path = join("outputs", "t", "checkpoints", file);
    for (const reference of [file, path]) {
      const result = await place.run(["debug", "validate-checkpoint", `--file=${reference}`, "--json"]);
      expect(result.code).toBe(0);
      expect(result.json<ValidateCheckpointView>()).toMatchObject({ valid: true, header: { seq: 1 } });
    }
    const keyless = await place.run(["debug", "validate-checkpoint", `--file=${path}`], {
      env: { SPLASHDOWN_KEY: "" },
    });
    expect(keyless.code).toBe(0);
    expect(keyless.stdout).toContain("ok   structure: ");
    expect(keyless.stdout).toContain("–    seal: not checked: ");
    expect(keyless.stdout).toContain("→ splashdown keys show");
  });

  it.each([
    ["a flipped byte", "CHECKPOINT_CORRUPT", 13],
    ["a cut file", "CHECKPOINT_TRUNCATED", 13],
    ["a file of something else", "FORMAT_NOT_OURS", 13],
  ])("names %s and ends with its status; nothing it names has to be filled in", async (what, errorCode, status) => {
    const { place, list } = await storied();
    const path = join(place.folder, "outputs", "t", "checkpoints", list[0]?.file ?? "");
    const bad = join(place.folder, "bad.json");
    copyFileSync(path, bad);
    if (what === "a flipped byte") {
      const bytes = readFileSync(bad);
      bytes[900] = (bytes[900] ?? 0) ^ 1;
      writeFileSync(bad, bytes);
    } else if (what === "a cut file") truncateSync(bad, 300);
    else writeFileSync(bad, '{"some": "json"}\n');
    const { code, stdout } = await place.run(["debug", "validate-checkpoint", "--file=bad.json"]);
    expect(code).toBe(status);
    expect(stdout).toContain(`[${errorCode}]`);
    expect(stdout).toContain("–    seal: not checked");
    expect(stdout).not.toMatch(/[{}]/);
  });

  it("ends with 10 when there is no such file", async () => {
    expect((await openPlace().run(["debug", "validate-checkpoint", "--file=none.json"])).code).toBe(10);
  });
});

describe("debug replay and diff-checkpoints", () => {
  it("FAULTS 52: replay tells the story up to the checkpoint, finds no difference, and runs nothing", async () => {
    const { place } = await storied();
    const before = place.ledger();
    const view = (await place.run(["debug", "replay", "--checkpoint=t:2", "--json"])).json<ReplayView>();
    expect(view).toMatchObject({ task: "t", from: 1, differences: [] });
    expect(view.story.map((event) => event.n)).toEqual(view.story.map((_event, index) => index + 1));
    expect(view.story.at(-1)).toMatchObject({ type: "checkpoint_recorded", n: view.to });
    expect(place.ledger()).toEqual(before);
    const text = await place.run(["debug", "replay", "--checkpoint=t:latest"]);
    expect(text.stdout).toContain("nothing was run\n");
    expect(text.stdout).toContain("today's engine makes the same choices\n");
  });

  it("FAULTS 52: diff ends with 0 for the same and with 1 for another, the first differing step first", async () => {
    const { place } = await storied();
    const same = await place.run(["debug", "diff-checkpoints", "--from=t:1", "--to=t:1"]);
    expect({ code: same.code, stdout: same.stdout }).toEqual({ code: 0, stdout: "t:1 → t:1: equal\n" });
    const other = await place.run(["debug", "diff-checkpoints", "--from=1", "--to=3", "--task=t"]);
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(
      /^t:1 → t:3: 7 differences, first at step 2 main\/s2@1\.1\n\nstep 2 main\/s2@1\.1: new: status: completed\n/,
    );
  });

  it("FAULTS 52: two runs of the same workflow differ in nothing but what differs", async () => {
    const { place } = await storied();
    await place.run(["run", "steps.yaml", "--task", "same"]);
    await place.run(["run", "steps.yaml", "--task", "other", "--input", "n=9"]);
    expect((await place.run(["debug", "diff-checkpoints", "--from=t:latest", "--to=same:latest"])).code).toBe(0);
    const { code, stdout } = await place.run(["debug", "diff-checkpoints", "--from=t:latest", "--to=other:latest"]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: "t:4 → other:4: 1 difference, first at task: inputs.n\n\ntask: inputs.n: 0 → 9\n",
    });
  });

  it("scripts/debug.sh is the same", async () => {
    const { place, list } = await storied();
    const program = join(PROJECT_FOLDER, "scripts", "debug.sh");
    const listed = await place.run(["list-checkpoints", "--task=t", "--json"], { program });
    expect(listed.json()).toEqual(list);
    expect((await place.run(["diff-checkpoints", "--from=t:1", "--to=t:2"], { program })).code).toBe(1);
    expect((await place.run(["no-such"], { program })).code).toBe(2);
  });
});
