/** Signals: once saves and leaves, twice leaves now; no process stays behind, and the task goes on afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { PlanView, TaskView } from "../../../src/runtime/contract.js";
import type { RunningCommand } from "../../support/built-program.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { isRunning } from "../../support/process-probe.js";
import { until } from "../../support/real-clock.js";

/** A model call that never ends, a script with a grandchild that ignores TERM, and a function, in parallel. */
function writeBusyWorkflow(place: CommandPlace): void {
  place.write(
    "busy.yaml",
    `workflow: {name: busy, runtime: {scripted_answers: {model: [{hang: true}]}}}
steps:
  - {name: model, provider: scripted, prompt: "say nothing"}
  - name: script
    effects: none
    command: [sh, -c, "sh -c 'trap \\"\\" TERM; echo $$ > grandchild; while :; do sleep 0.05; done' & echo $$ > child; wait"]
  - {name: work, function: "./work.mjs#work", effects: none}
`,
  );
  place.write(
    "work.mjs",
    `import { writeFileSync } from "node:fs";
export async function work(context) {
  writeFileSync(new URL("function", import.meta.url), "1");
  await new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason)));
}
`,
  );
}

async function startBusy(place: CommandPlace): Promise<RunningCommand> {
  writeBusyWorkflow(place);
  const running = place.start(["run", "busy.yaml", "--task", "t"]);
  await until("all three run", () =>
    ["child", "grandchild", "function"].every((name) => place.read(name).trim() !== ""),
  );
  return running;
}

function expectNothingRuns(place: CommandPlace): Promise<void> {
  const pids = ["child", "grandchild"].map((name) => Number(place.read(name)));
  return until("no process is left", () => pids.every((pid) => !isRunning(pid)));
}

describe("FAULTS 30: a signal to a run with a model call, a script with a grandchild and a function", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s ends it with %i, everything saved, and nothing left running", async (signal, status) => {
    const place = openPlace();
    const running = await startBusy(place);
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.done;
    expect(code).toBe(status);
    expect(stderr).toContain(`${signal}: saving and leaving; once more to leave now\n`);
    expect(stderr).not.toContain("warning");
    expect(stdout).toContain(`stopped  t: ended by ${signal}\n`);
    expect(stdout).toContain("continue with: splashdown resume t\n");
    await expectNothingRuns(place);
    const view = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(view.status).toBe("stopped");
    expect(view.steps.map((step) => step.status)).toEqual(["cancelled", "cancelled", "cancelled"]);
    const plan = (await place.run(["resume", "t", "--plan", "--json"])).json<PlanView>();
    expect(plan.to_rerun).toHaveLength(3);
  });

  it("SIGINT twice leaves at once with 130, nothing is left running, and the task is resumable", async () => {
    const place = openPlace();
    const running = await startBusy(place);
    running.child.kill("SIGINT");
    await sleep(20);
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
    await expectNothingRuns(place);
    const view = (await place.run(["show", "t", "--json"])).json<TaskView>();
    expect(["crashed", "stopped"]).toContain(view.status);
    expect((await place.run(["resume", "t", "--plan"])).code).toBe(0);
  });

  it("kill -9 leaves no child behind either, and the task is listed as crashed", async () => {
    const place = openPlace();
    const running = await startBusy(place);
    running.child.kill("SIGKILL");
    await running.done;
    await expectNothingRuns(place);
    expect((await place.run(["list", "--json"])).json()).toMatchObject([{ task: "t", status: "crashed" }]);
  });
});

/** Code of a workflow that holds the loop of the process, for ever but where it waits for a file. */
const BLOCKING = {
  "a loop": "export function work() { note(); for (;;); }",
  "a pattern that goes back without end": `export function work() { note(); return /^(a+)+$/.test("a".repeat(60) + "b"); }`,
  "a wait of the thread":
    "export function work() { note(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }",
} as const;

const HEAD = `import { existsSync, writeFileSync } from "node:fs";
const note = () => writeFileSync(new URL("held", import.meta.url), "1");
`;

async function startBlocking(place: CommandPlace, code: string): Promise<RunningCommand> {
  place.write(
    "blocked.yaml",
    `workflow: {name: blocked}\nsteps: [{name: work, function: "./work.mjs#work", effects: none}]`,
  );
  place.write("work.mjs", HEAD + code);
  const running = place.start(["run", "blocked.yaml", "--task", "t"]);
  await until("the code holds the process", () => place.read("held") !== "", HELD_WITHIN_MS);
  return running;
}

const HELD_WITHIN_MS = 20_000;
const SAID_WHILE_HELD = "saving and leaving when the code that runs lets go; once more to leave now\n";

async function expectEndedByTwo(running: RunningCommand): Promise<void> {
  running.child.kill("SIGINT");
  const isAnswered = (): boolean => running.stderr().includes(`SIGINT: ${SAID_WHILE_HELD}`);
  await until("the first is answered", isAnswered, HELD_WITHIN_MS);
  running.child.kill("SIGINT");
  const { code: status, signal, stderr } = await running.done;
  expect({ status, signal }).toEqual({ status: null, signal: "SIGKILL" });
  expect(stderr).toContain("SIGINT: code that runs did not let go; ended as it stands, and what is durable stays\n");
}

describe("a signal while code of a workflow holds the process", () => {
  it.each(Object.entries(BLOCKING))("[security H6 kin] in %s ends it when it comes twice", async (_where, code) => {
    const place = openPlace();
    await expectEndedByTwo(await startBlocking(place, code));
    expect((await place.run(["list", "--json"])).json()).toMatchObject([{ task: "t", status: "crashed" }]);
    expect((await place.run(["resume", "t", "--plan"])).code).toBe(0);
  });

  it("[security H6 kin] in a module that is loaded ends it when it comes twice, before there is a task", async () => {
    const place = openPlace();
    await expectEndedByTwo(await startBlocking(place, "note(); for (;;); export function work() {}"));
    expect((await place.run(["list", "--json"])).json()).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends it where the first was taken and code that hears of it holds it then",
    async (signal) => {
      const place = openPlace();
      const code =
        'export const work = ({ signal }) => new Promise(() => { note(); signal.onabort = () => { writeFileSync(new URL("heard", import.meta.url), "1"); for (;;); }; });';
      const running = await startBlocking(place, code);
      running.child.kill(signal);
      await until("the first is taken", () => running.stderr().includes(`${signal}: saving and leaving; once more`));
      await until("the code has heard of it", () => place.read("heard") !== "");
      running.child.kill(signal);
      expect((await running.done).signal).toBe("SIGKILL");
      expect((await place.run(["list", "--json"])).json()).toMatchObject([{ task: "t", status: "crashed" }]);
    },
  );

  it("saves and leaves when the code lets go after the first", async () => {
    const place = openPlace();
    const code = `export function work() { note(); while (!existsSync(new URL("go", import.meta.url))); return 1; }`;
    const running = await startBlocking(place, code);
    running.child.kill("SIGINT");
    await until("the first is answered", () => running.stderr().includes(SAID_WHILE_HELD));
    place.write("go", "1");
    const { code: status, stdout } = await running.done;
    expect(status).toBe(130);
    expect(stdout).toContain("stopped  t: ended by SIGINT\n");
  });
});

describe("a task ended by Ctrl+C", () => {
  it("is taken up by the next run of the same file, and its finished steps stay", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, ["s1", "s2", "s3"], { effects: "idempotent" });
    const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
    running.child.kill("SIGINT");
    expect((await running.done).code).toBe(130);
    release(place, "s2");
    const { code, stdout } = await place.run(["run", file]);
    expect(code).toBe(0);
    expect(stdout).toContain("done  t (resumed):");
    expect(place.ledger()).toEqual(["s1", "s2", "s2", "s3"]);
  });

  it("asks about an external step that the signal cut short, instead of running it again", async () => {
    const place = openPlace();
    const file = writeHeldSteps(place, ["s1", "s2", "s3"]);
    const running = await startHeld(place, "s2", { args: ["run", file, "--task", "t"] });
    running.child.kill("SIGTERM");
    expect((await running.done).code).toBe(143);
    release(place, "s2");
    expect((await place.run(["run", file])).code).toBe(22);
    expect(place.ledger()).toEqual(["s1", "s2"]);
  });
});
