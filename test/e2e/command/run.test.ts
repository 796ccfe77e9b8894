/** `splashdown run`: new, taken up, named, with inputs, and every way it refuses. */
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../src/runtime/contract.js";
import { openPlace } from "../../support/command-place.js";
import { crashAt, release, repair, spoil, startHeld, writeHeldSteps } from "../../support/held-steps.js";

const STEPS = ["s1", "s2", "s3"];

describe("run", () => {
  it("runs every step once and gives the output as the answer", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    const { code, stdout, stderr } = await place.run(["run", file, "--input", "n=7", "--task", "first"]);
    expect(code).toBe(0);
    expect(place.ledger()).toEqual(STEPS);
    expect(stdout).toContain("done  first: 3 steps done in ");
    expect(stdout).toContain('"last": "s3",\n    "n": 7');
    expect(stderr).toContain("✓ s2 done in ");
  });

  it("gives one JSON document and no progress with --json", async () => {
    const place = openPlace();
    const result = await place.run(["run", writeHeldSteps(place, STEPS), "--json", "--task", "t"]);
    expect(result.json<RunView>()).toMatchObject({
      task: "t",
      workflow: "steps",
      status: "done",
      exit_status: 0,
      how: "started",
      output: { last: "s3", n: 0 },
      steps: { done: 3, failed: 0, skipped: 0, open: 0 },
      questions: [],
    });
    expect(result.stderr).toBe("");
  });

  it("names a task by its workflow and the time when no name is given", async () => {
    const place = openPlace();
    const view = (await place.run(["run", writeHeldSteps(place, STEPS), "--json"])).json<RunView>();
    expect(view.task).toMatch(/^steps_\d{8}_\d{6}$/);
  });

  it("fails with 4, keeps what is done, and prints the command that goes on", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    spoil(place, "s2");
    const { code, stdout } = await place.run(["run", file, "--task", "t"]);
    expect(code).toBe(4);
    expect(stdout).toContain("failed  t: s2 failed: sh exited with 3");
    expect(stdout).toContain("continue with: splashdown resume t\n");
  });

  it("FAULTS 34: takes up the one crashed task of the same file and inputs, loudly, and of no other inputs", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await crashAt(place, "s2", ["run", file, "--task", "old", "--input", "n=1"]);

    const other = await place.run(["run", file, "--task", "other", "--input", "n=2", "--json"]);
    expect(other.json<RunView>()).toMatchObject({ task: "other", how: "started", output: { n: 2 } });

    const taken = await place.run(["run", file, "--input", "n=1"]);
    expect(taken.code).toBe(0);
    expect(taken.stderr).toContain(
      "task old was interrupted; it continues where it stopped (start another with --new)",
    );
    expect(taken.stdout).toContain("done  old (resumed after a crash)");
    expect(place.ledger()).toEqual(["s1", "s2", "s1", "s2", "s3", "s2", "s3"]);
  });

  it("names several crashed tasks that fit and ends with 2; --new starts afresh", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await crashAt(place, "s1", ["run", file, "--task", "a"]);
    await crashAt(place, "s1", ["run", file, "--task", "b"]);
    const { code, stderr } = await place.run(["run", file]);
    expect(code).toBe(2);
    expect(stderr).toContain("2 unfinished tasks of this workflow and these inputs fit: a (crashed), b (crashed)");
    const fresh = (await place.run(["run", file, "--new", "--json"])).json<RunView>();
    expect(fresh).toMatchObject({ how: "started", status: "done" });
    expect(["a", "b"]).not.toContain(fresh.task);
  });
});

describe("run --task with a name that exists", () => {
  it("takes up a crashed one", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS, { effects: "none" });
    await crashAt(place, "s2", ["run", file, "--task", "t"]);
    const view = (await place.run(["run", file, "--task", "t", "--json"])).json<RunView>();
    expect(view).toMatchObject({ how: "taken_up", status: "done" });
  });

  it("refuses a living one with 11, says who owns it, and claims nothing about a crash", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    const owner = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
    for (const verb of [
      ["run", file, "--task", "t"],
      ["resume", "t"],
      ["resume", "t", "--plan"],
    ]) {
      const { code, stdout, stderr } = await place.run(verb);
      expect({ code, stdout }).toEqual({ code: 11, stdout: "" });
      expect(stderr).toMatch(
        new RegExp(
          `^splashdown: task t is owned by process ${owner.pid} on \\S+ since [^ ;]+(; nothing was started[^\\n]*)? \\[OWNER_ALIVE\\]\n  → splashdown attach t\n$`,
        ),
      );
    }
    release(place, "s2");
    expect((await owner.done).code).toBe(0);
    expect(place.ledger()).toEqual(STEPS);
  });

  it("shows a finished one's result, runs nothing, and refuses --new", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    await place.run(["run", file, "--task", "t"]);
    const again = (await place.run(["run", file, "--task", "t", "--json"])).json<RunView>();
    expect(again).toMatchObject({ how: "finished_before", status: "done", output: { last: "s3" } });
    expect(place.ledger()).toEqual(STEPS);
    const fresh = await place.run(["run", file, "--task", "t", "--new"]);
    expect(fresh.code).toBe(2);
    expect(fresh.stderr).toContain("there is a task t already; choose another name");
  });

  it("tries the failed step of a failed one again, and keeps what is done", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    spoil(place, "s2");
    await place.run(["run", file, "--task", "t"]);
    repair(place, "s2");
    const { code, stderr } = await place.run(["run", file, "--task", "t"]);
    expect(code).toBe(0);
    expect(stderr).toContain("task t failed before (s2 failed: sh exited with 3");
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
  });

  it("names a waiting one with the command that answers, and goes on with it once it is answered", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    await crashAt(place, "s2", ["run", file, "--task", "t"]);
    expect((await place.run(["run", file, "--task", "t"])).code).toBe(22);
    const waiting = await place.run(["run", file, "--task", "t"]);
    expect(waiting.code).toBe(22);
    expect(waiting.stdout).toContain("answer with: splashdown answer t rerun\n");
    expect(waiting.stdout).not.toContain("continue with: ");
    await place.run(["answer", "t", "rerun"]);
    const answered = await place.run(["run", file, "--task", "t"]);
    expect([answered.code, answered.stdout.split("\n")[0]]).toEqual([
      0,
      expect.stringMatching(/^done {2}t \(resumed\): 3 steps done in /),
    ]);
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
  });

  it("refuses other inputs and another definition with 2", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    await place.run(["run", file, "--task", "t"]);
    const inputs = await place.run(["run", file, "--task", "t", "--input", "n=3"]);
    expect(inputs.code).toBe(2);
    expect(inputs.stderr).toContain("task t was started with other inputs; continue with: splashdown resume t");
    writeHeldSteps(place, ["s1", "s2", "s3", "s4"]);
    const definition = await place.run(["run", file, "--task", "t"]);
    expect(definition.code).toBe(2);
    expect(definition.stderr).toContain(
      "task t was started with another definition; continue with: splashdown resume t, or choose another --task [WORKFLOW_MISMATCH]",
    );
  });

  it("refuses a name that cannot be a folder with 2", async () => {
    const place = openPlace();
    const { code, stderr } = await place.run(["run", writeHeldSteps(place, STEPS), "--task", "../up"]);
    expect(code).toBe(2);
    expect(stderr).toContain("[TASK_NAME_INVALID]");
  });
});

describe("run with inputs", () => {
  const TYPED = `workflow:
  name: typed
  input:
    text: {type: string}
    count: {type: number, required: false, default: 1}
    on: {type: boolean, required: false}
    list: {type: array, required: false}
steps:
  - {name: s1, value: "{{ workflow.input.text }}"}
output: {text: "{{ workflow.input.text }}", count: "{{ workflow.input.count }}", on: "{{ workflow.input.on }}", list: "{{ workflow.input.list }}"}
`;
  it("gives them the types that the workflow declares", async () => {
    const place = openPlace();
    place.write("typed.yaml", TYPED);
    const args = ["--input", "text=12", "--input", "count=2.5", "--input", "on=true", "--input", 'list=["a",1]'];
    const view = (await place.run(["run", "typed.yaml", ...args, "--json"])).json<RunView>();
    expect(view.output).toEqual({ text: "12", count: 2.5, on: true, list: ["a", 1] });
  });

  it("reads them from JSON and YAML files", async () => {
    const place = openPlace();
    place.write("typed.yaml", TYPED);
    place.write("in.json", '{"text": "from json"}');
    place.write("in.yaml", "text: from yaml\ncount: 3\n");
    const json = (await place.run(["run", "typed.yaml", "--inputs", "in.json", "--json"])).json<RunView>();
    const yaml = (await place.run(["run", "typed.yaml", "--inputs", "in.yaml", "--json"])).json<RunView>();
    expect([json.output, yaml.output]).toMatchObject([
      { text: "from json", count: 1 },
      { text: "from yaml", count: 3 },
    ]);
  });

  it.each([
    [["--input", "txt=1"], "there is no input txt; did you mean text?"],
    [["--input", "text=x", "--input", "count=many"], 'the input count must be a number, it is "many"'],
    [[], "the input text (string) is missing"],
    [["--input", "text"], 'expected name=value, got "text"'],
    [["--inputs", "none.json"], "inputs file none.json cannot be read"],
    [["--input", "text=x", "--inputs", "in.json"], "give --input or --inputs, not both"],
  ])("refuses %j with 2 before anything is made", async (args, message) => {
    const place = openPlace();
    place.write("typed.yaml", TYPED);
    const { code, stderr } = await place.run(["run", "typed.yaml", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect((await place.run(["list", "--json"])).json()).toEqual([]);
  });
});

describe("run with a file that cannot run", () => {
  it("ends with 10 when there is none", async () => {
    const { code, stderr } = await openPlace().run(["run", "none.yaml"]);
    expect(code).toBe(10);
    expect(stderr).toContain("none.yaml cannot be read (ENOENT) [WORKFLOW_NOT_FOUND]");
  });

  it("ends with 2 and shows every fault in its line, with a caret and the nearest name", async () => {
    const place = openPlace();
    place.write(
      "bad.yaml",
      "workflow: {name: bad, entry_point: s1}\nagents:\n  - {name: s1, comand: [sh], routes: [{to: s3}]}\n",
    );
    const { code, stdout, stderr } = await place.run(["run", "bad.yaml"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("splashdown: bad.yaml has 2 faults [WORKFLOW_INVALID]\n");
    expect(stderr).toContain(
      [
        'bad.yaml:3:16 agents[0].comand: unknown key "comand" in agents[0]',
        "    3 |   - {name: s1, comand: [sh], routes: [{to: s3}]}",
        "      |                ^^^^^^",
        "      = did you mean command?",
      ].join("\n"),
    );
  });
});
