/** The same command typed again, by somebody who does not know what became of the first one; in files and in a database. */
import { describe, expect, it } from "vitest";
import type { TaskSummaryView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { hold, release, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { until } from "../../support/real-clock.js";
import { openAgent, type McpAgent, type Told } from "../../support/mcp-agent.js";
import { NO_TERMINAL, TerminalRun } from "../../support/terminal.js";

const STORES = ["file:outputs", "sqlite:tasks.db"] as const;
const [ENTER, DOWN] = ["\r", "\u001b[B"];

const GATED = `workflow: {name: gated, entry_point: a}
agents:
  - {name: a, command: [sh, step.sh, a], effects: external, routes: [{to: ok}]}
  - {name: ok, type: human_gate, prompt: "Send it?", options: [{label: Send, value: send, route: b}]}
  - {name: b, command: [sh, step.sh, b], effects: external, routes: [{to: $end}]}
`;

/** A place whose tasks are in a store, where nobody ever names a task. */
class Stranger {
  readonly place: CommandPlace;

  constructor(store: string) {
    this.place = openPlace({ SPLASHDOWN_STORE: store });
  }

  type(file: string, ...flags: readonly string[]) {
    return this.place.run(["run", file, ...flags]);
  }

  async tasks(): Promise<TaskSummaryView[]> {
    return (await this.place.run(["list", "--json"])).json<TaskSummaryView[]>();
  }

  /** The first one begins its second step and is ended there. */
  async endedInSecond(file: string, signal: "SIGKILL" | "SIGINT"): Promise<string> {
    const running = await startHeld(this.place, "b", { args: ["run", file] });
    running.child.kill(signal);
    await running.done;
    release(this.place, "b");
    return file;
  }
}

interface Left {
  /** Leaves the first one; the answer is the workflow's file. */
  readonly leave: (stranger: Stranger) => Promise<string>;
  /** What has acted by then. */
  readonly acted: readonly string[];
}

const steps = (stranger: Stranger, effects: "none" | "external", more = ""): string =>
  writeHeldSteps(stranger.place, ["a", "b"], { effects, more });

const CRASHED: Left = { leave: (first) => first.endedInSecond(steps(first, "none"), "SIGKILL"), acted: ["a", "b"] };
const STOPPED: Left = { leave: (first) => first.endedInSecond(steps(first, "none"), "SIGINT"), acted: ["a", "b"] };
const UNKNOWN: Left = {
  leave: async (first) => {
    const file = await first.endedInSecond(steps(first, "external"), "SIGKILL");
    expect((await first.type(file)).code).toBe(22);
    return file;
  },
  acted: ["a", "b"],
};
const WAITING: Left = {
  leave: async (first) => {
    steps(first, "external");
    first.place.write("gated.yaml", GATED);
    expect((await first.type("gated.yaml")).code).toBe(20);
    return "gated.yaml";
  },
  acted: ["a"],
};
const LIMITED: Left = {
  leave: async (first) => {
    const file = steps(first, "external", "limits: {max_iterations: 1}");
    expect((await first.type(file)).code).toBe(21);
    return file;
  },
  acted: ["a"],
};

describe.each(STORES)("run typed again without a terminal (%s)", (store) => {
  it.each([
    ["[first-use F1 kin] beside a crashed one goes on with it", CRASHED, " (resumed after a crash)"],
    ["[first-use F1 kin] beside one that Ctrl+C stopped goes on with it", STOPPED, " (resumed)"],
  ])("%s", async (_title, { leave, acted }, how) => {
    const stranger = new Stranger(store);
    const file = await leave(stranger);
    const [{ task } = { task: "" }] = await stranger.tasks();
    const { code, stdout, stderr } = await stranger.type(file);
    expect(code).toBe(0);
    expect(stdout).toContain(`done  ${task}${how}: `);
    expect(stderr).toContain(`task ${task} was interrupted; it continues where it stopped (start another with --new)`);
    expect(stranger.place.ledger()).toEqual([...acted, "b"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });

  it.each([
    ["[first-use F1 kin] beside one of unknown outcome ends with 22", UNKNOWN, 22, "rerun"],
    ["[first-use F1 kin] beside one at a gate ends with 20", WAITING, 20, "send"],
    ["[first-use F1 kin] beside one at a limit ends with 21", LIMITED, 21, "limit:task:1 extend max_iterations=1"],
  ])(
    "%s, starts nothing, and names the answer that works as printed",
    async (_title, { leave, acted }, status, answer) => {
      const stranger = new Stranger(store);
      const { place } = stranger;
      const file = await leave(stranger);
      const [{ task } = { task: "" }] = await stranger.tasks();
      for (const again of [
        ["run", file],
        ["run", file, "--detach"],
        ["run", file, "--task", task],
        ["resume", task],
      ]) {
        const { code, stdout } = await place.run(again);
        expect([again, code]).toEqual([again, status]);
        expect(stdout).toContain(`answer with: splashdown answer ${task} ${answer}\n`);
      }
      expect(place.ledger()).toEqual(acted);
      expect(await stranger.tasks()).toHaveLength(1);
      expect((await place.run(["answer", task, ...answer.split(" ")])).code).toBe(0);
      expect((await stranger.type(file)).code).toBe(0);
      expect(place.ledger()).toEqual([...acted, "b"]);
      expect(await stranger.tasks()).toHaveLength(1);
    },
  );

  it("[first-use F1 kin] beside one that runs ends with 11 and names how to watch it, however it is typed", async () => {
    const stranger = new Stranger(store);
    const { place } = stranger;
    const running = await startHeld(place, "b", { args: ["run", steps(stranger, "external")] });
    const [{ task } = { task: "" }] = await stranger.tasks();
    for (const again of [
      ["run", "steps.yaml"],
      ["run", "steps.yaml", "--detach"],
      ["run", "steps.yaml", "--task", task],
      ["resume", task],
    ]) {
      const { code, stderr } = await place.run(again);
      expect([again, code]).toEqual([again, 11]);
      expect(stderr).toContain(`\n  → splashdown attach ${task}\n`);
    }
    release(place, "b");
    expect((await running.done).code).toBe(0);
    expect(place.ledger()).toEqual(["a", "b"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });

  it("[first-use F1 kin] three at the same moment are one task", async () => {
    const stranger = new Stranger(store);
    const file = steps(stranger, "external");
    const { place } = stranger;
    // Whoever comes when all is done is shown the result: so the one that runs is held until the others have given way.
    hold(place, "b");
    const codes: (number | null)[] = [];
    const ends = [1, 2, 3].map(() => place.start(["run", file]).done.then(({ code }) => codes.push(code)));
    await until("two have given way", () => codes.length === 2);
    release(place, "b");
    await Promise.all(ends);
    expect(codes).toEqual([11, 11, 0]);
    expect(place.ledger()).toEqual(["a", "b"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });
});

describe.skipIf(NO_TERMINAL !== undefined).each(STORES)("run typed again on a terminal (%s)", (store) => {
  it.each([
    [
      "[first-use F1 kin] asks about the outcome there and then",
      UNKNOWN,
      /may or may not have acted[\s\S]*later: leave/,
    ],
    ["[first-use F1 kin] asks at the gate there and then", WAITING, /Send it\?[\s\S]*later: leave/],
  ])("%s, and goes on", async (_title, { leave, acted }, shown) => {
    const stranger = new Stranger(store);
    const file = await leave(stranger);
    const run = new TerminalRun(stranger.place, ["run", file], { rows: 40 });
    await run.shows(shown);
    run.press(ENTER);
    expect((await run.done).code).toBe(0);
    expect(stranger.place.ledger()).toEqual([...acted, "b"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });

  it("[first-use F1 kin] left at its question stands as it was, to whoever types it once more", async () => {
    const stranger = new Stranger(store);
    const file = await WAITING.leave(stranger);
    const run = new TerminalRun(stranger.place, ["run", file], { rows: 40 });
    await run.shows("later: leave");
    run.press(DOWN + ENTER);
    expect((await run.done).code).toBe(20);
    expect((await stranger.type(file)).code).toBe(20);
    expect(stranger.place.ledger()).toEqual(["a"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });
});

describe.each(STORES)("run_workflow called again over MCP (%s)", (store) => {
  it("[first-use F1 kin] five times side by side by two agents, and once more, is one task", async () => {
    const stranger = new Stranger(store);
    const { place } = stranger;
    const file = steps(stranger, "external");
    const agents = [await openAgent(place), await openAgent(place)];
    const call = async (at: number): Promise<Told | undefined> => agents[at % 2]?.call("run_workflow", { file });
    const told = await Promise.all([0, 1, 2, 3, 4].map(call));
    const tasks = new Set(told.map((each) => each?.result["task"]));
    expect(tasks.size).toBe(1);
    const [task] = [...tasks];
    expect((await agents[0]?.wait(String(task), 20))?.result).toMatchObject({ status: "done" });
    expect((await call(1))?.result).toMatchObject({ task });
    expect((await agents[1]?.wait(String(task), 20))?.result).toMatchObject({ status: "done" });
    expect(place.ledger()).toEqual(["a", "b"]);
    expect(await stranger.tasks()).toHaveLength(1);
  });

  it("[first-use F1 kin] beside one that waits tells what it waits for, and runs nothing", async () => {
    const stranger = new Stranger(store);
    const { place } = stranger;
    steps(stranger, "external");
    place.write("gated.yaml", GATED);
    const agent = await openAgent(place);
    const first = await agent.call("run_workflow", { file: "gated.yaml" });
    await agent.wait(String(first.result["task"]), 20);
    const again = await agent.call("run_workflow", { file: "gated.yaml" });
    expect(again.result).toMatchObject({ task: first.result["task"] });
    expect((await agent.wait(String(first.result["task"]), 20)).result).toMatchObject({ status: "waiting" });
    expect(place.ledger()).toEqual(["a"]);
    // The same at the command line.
    const typed = await stranger.type("gated.yaml");
    expect([typed.code, place.ledger()]).toEqual([20, ["a"]]);
    expect(await stranger.tasks()).toHaveLength(1);
  });

  it("[first-use F1 kin] of what a person began at the command line starts no twin, and names it; with a key it does", async () => {
    const stranger = new Stranger(store);
    const file = await WAITING.leave(stranger);
    const [{ task } = { task: "" }] = await stranger.tasks();
    const agent = await openAgent(stranger.place);
    const told = await toldOf(agent, file);
    expect(told).toMatchObject({ code: "USAGE_INVALID" });
    expect(told.message).toContain(`task ${task} of this workflow and these inputs is unfinished`);
    expect(stranger.place.ledger()).toEqual(["a"]);
    expect(await stranger.tasks()).toHaveLength(1);
    const own = await agent.call("run_workflow", { file, key: "another, on purpose" });
    await agent.wait(String(own.result["task"]), 20);
    expect(stranger.place.ledger()).toEqual(["a", "a"]);
  });
});

/** Why it could not be started, however late that is known. */
async function toldOf(agent: McpAgent, file: string): Promise<Told["error"]> {
  const told = await agent.call("run_workflow", { file });
  return told.isError ? told.error : (await agent.wait(String(told.result["task"]), 20)).error;
}
