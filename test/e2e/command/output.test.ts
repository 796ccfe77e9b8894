/** What comes out: text that is only text, one JSON document, and no run that fails because nobody reads it. */
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { CheckpointView, RunView, TaskSummaryView } from "../../../src/runtime/contract.js";
import { PROGRAM } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { crashAt, spoil, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { expectView, VIEW_NAMES } from "../../support/view-schemas.js";

const STEPS = ["s1", "s2"];
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

/** A step whose output tries to move the cursor, forge a line and format. */
const HOSTILE = `workflow: {name: hostile}
steps:
  - {name: s1, value: "\\e[31mred\\e[2J %s %d [/x] <script> \\a\\x9b1A \\u202eevil \\r\\e]0;title\\a"}
output: {text: "{{ s1.output }}"}
`;

/** Runs through a shell, which arranges the streams. */
async function shell(place: CommandPlace, script: string): Promise<string> {
  const child = spawn("sh", ["-c", script.replaceAll("splashdown", `"${process.execPath}" "${PROGRAM}"`)], {
    cwd: place.folder,
    env: { PATH: process.env["PATH"] ?? "", ...place.env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  return text;
}

describe("FAULTS 45: text of agents", () => {
  it("is shown as text, never as control codes or formats", async () => {
    const place = openPlace();
    place.write("hostile.yaml", HOSTILE);
    const run = await place.run(["run", "hostile.yaml", "--task", "t"]);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain("\\u001b[31mred\\u001b[2J %s %d [/x] <script> \\u0007\\u009b1A \\u202eevil");
    for (const args of [["show", "t"], ["events", "t"], ["list"], ["show", "t", "--json"], ["events", "t", "--json"]]) {
      const { stdout, stderr } = await place.run(args);
      expect(CONTROL.test(stdout + stderr), args.join(" ")).toBe(false);
    }
    expect(CONTROL.test(run.stdout + run.stderr)).toBe(false);
  });

  it("is the same value in JSON, control characters escaped", async () => {
    const place = openPlace();
    place.write("hostile.yaml", HOSTILE);
    const view = (await place.run(["run", "hostile.yaml", "--json"])).json<RunView>();
    expect(view.output).toEqual({
      text: "\u001b[31mred\u001b[2J %s %d [/x] <script> \u0007\u009b1A \u202eevil \r\u001b]0;title\u0007",
    });
  });
});

describe("FAULTS 45: a reader that goes away", () => {
  it("never fails a task: a closed pipe, closed streams, a full disk behind them, which the status tells", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    expect(await shell(place, `splashdown run ${file} --task head | head -c 1`)).toBe("d");
    expect(await shell(place, `splashdown run ${file} --task closed >&- 2>&-; echo $?`)).toBe("0\n");
    expect(await shell(place, `splashdown run ${file} --task full >/dev/full 2>/dev/full; echo $?`)).toBe("1\n");
    const tasks = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(tasks.map(({ task, status }) => [task, status])).toEqual([
      ["closed", "done"],
      ["full", "done"],
      ["head", "done"],
    ]);
  });

  it("ends a listing quietly", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    expect(
      await shell(place, "splashdown events t | head -n 1 | cut -c 1-6; splashdown list | head -n 1 | cut -c 1-4"),
    ).toBe("     1\nTASK\n");
  });
});

describe("output into a pipe", () => {
  it.each(["TERM=dumb", "TERM=xterm-256color", "NO_COLOR=1"])("has no colours with %s", async (variable) => {
    const [name = "", value = ""] = variable.split("=");
    const place = openPlace({ [name]: value });
    const { stdout, stderr } = await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    expect(stdout + stderr).not.toContain("\u001b");
    expect(stderr).toContain("✓ s1 done in ");
  });

  it("is quiet but for the answer with --quiet", async () => {
    const place = openPlace();
    const { stdout, stderr } = await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t", "--quiet"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^done {2}t: 2 steps done in [\d.]+ s\n/);
  });

  it("ends no line with spaces", async () => {
    const place = openPlace();
    await place.run(["run", writeHeldSteps(place, STEPS), "--task", "t"]);
    for (const args of [
      ["list"],
      ["show", "t"],
      ["events", "t"],
      ["checkpoints", "list"],
      ["config", "show"],
      ["doctor"],
    ]) {
      const { stdout } = await place.run(args);
      expect(stdout).not.toMatch(/ \n/);
      expect(stdout.endsWith("\n")).toBe(true);
    }
  });
});

describe("--json", () => {
  it("is one document on stdout, in the shape of its schema, and nothing else there", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, STEPS);
    await crashAt(place, "s1", ["run", file, "--task", "crashed"]);
    spoil(place, "s2");
    const first = await place.run(["run", file, "--task", "t", "--input", "n=1", "--json"]);
    expectView("run", first.json());
    const snapshot = (await place.run(["checkpoints", "list", "t", "--json"])).json<CheckpointView[]>()[0]?.file ?? "";
    place.write("bad.yaml", "workflow: {name: bad}\nsteps: [{name: s1, comand: [sh]}]\n");
    const verbs: readonly (readonly [schema: string, args: readonly string[]])[] = [
      ["resume-plan", ["resume", "t", "--plan"]],
      ["run", ["resume", first.json<RunView>().workflow_id]],
      ["recover", ["recover"]],
      ["show", ["show", "crashed"]],
      ["answer", ["answer", "crashed", "rerun"]],
      ["guide", ["guide", "crashed", "in euros"]],
      ["show", ["show", "crashed"]],
      ["list", ["list"]],
      ["show", ["show", "t"]],
      ["events", ["events", "t"]],
      ["checkpoint-list", ["checkpoints", "list"]],
      ["checkpoint", ["checkpoints", "show", "latest", "--task", "t"]],
      ["checkpoint-list", ["debug", "list-checkpoints", "--task=t"]],
      ["validate-checkpoint", ["debug", "validate-checkpoint", `--file=${snapshot}`, "--task=t"]],
      ["replay", ["debug", "replay", "--checkpoint=latest", "--task=t"]],
      ["replay", ["debug", "replay", "--checkpoint=t:1", "--live"]],
      ["resume-plan", ["resume", "t", "--from", "1", "--plan"]],
      ["fork", ["fork", "t", "--from", "latest"]],
      ["diff-checkpoints", ["debug", "diff-checkpoints", "--from=t:1", "--to=t:latest"]],
      ["keys", ["keys", "show"]],
      ["keys", ["keys", "show", "t"]],
      ["keys", ["keys", "ack"]],
      ["keys", ["keys", "verify"]],
      ["validate", ["validate", file]],
      ["validate", ["validate", "bad.yaml"]],
      ["dry-run", ["run", file, "--dry-run", "--input", "n=1"]],
      ["graph", ["graph", file]],
      ["metrics", ["metrics"]],
      ["step", ["show", "t", "s1"]],
      ["logs", ["logs", "t"]],
      ["questions", ["questions"]],
      ["timeline", ["show", "t", "--timeline"]],
      ["pin", ["checkpoints", "pin", "1", "--task", "t", "--note", "why"]],
      ["pin", ["checkpoints", "unpin", "1", "--task", "t"]],
      ["prune", ["checkpoints", "prune", "t", "--keep", "2", "--history", "--dry-run"]],
      ["prune", ["checkpoints", "prune", "t", "--keep", "2", "--yes"]],
      ["prune", ["checkpoints", "clear", "t", "--yes"]],
      ["audit", ["audit", "show"]],
      ["audit-verify", ["audit", "verify"]],
      ["init", ["init", "sample"]],
      ["explain", ["explain", "effects"]],
      ["explain", ["explain", "STEP_FAILED"]],
      ["explain", ["explain", "22"]],
      ["explain", ["explain", "debug", "replay"]],
      ["doctor", ["doctor", "--tasks"]],
      ["config", ["config", "show"]],
      ["confidence", ["show", "t", "--confidence"]],
      ["trust", ["trust", "--list"]],
      ["store-copy", ["store", "copy", "t", "--from", "file:outputs", "--to", "file:copied"]],
      ["trash", ["store", "remove", "t", "--dry-run"]],
      ["export", ["checkpoints", "export", "t", "--to", "t.zip"]],
      ["shred", ["keys", "shred", "t", "--yes"]],
      ["import", ["checkpoints", "import", "t.zip", "--task", "again"]],
    ];
    // key-change: e2e/trust/key-changes.test.ts; detached: e2e/faces/detach.test.ts.
    const used = new Set(["parts", "run", "request", "error", "key-change", "detached"]);
    for (const [schema, args] of verbs) {
      used.add(schema);
      const result = await place.run([...args, "--json"]);
      const view: unknown = result.json();
      expectView(schema, view);
      expect(result.stderr, args.join(" ")).toBe("");
    }
    const running = await startHeld(place, "s1", { args: ["run", file, "--task", "held", "--input", "n=2"] });
    expectView("request", (await place.run(["checkpoint", "held", "--json"])).json());
    expectView("show", (await place.run(["show", "held", "--json"])).json());
    running.child.kill("SIGTERM");
    await running.done;
    expectView("error", JSON.parse((await place.run(["pause", "held", "--json"])).stderr));
    expect([...used].sort()).toEqual([...VIEW_NAMES].sort());
  });

  it("has schemas that refuse a field too many, one too few and one of another type", () => {
    const plan = { task: "t", done: [], to_run: [], may_run: [], to_rerun: [], unknown: [], changed: [] };
    expectView("resume-plan", plan);
    const { changed: _changed, ...short } = plan;
    for (const wrong of [{ ...plan, extra: 1 }, short, { ...plan, done: "none" }, { ...plan, done: [1] }])
      expect(() => expectView("resume-plan", wrong)).toThrow("resume-plan");
  });
});
