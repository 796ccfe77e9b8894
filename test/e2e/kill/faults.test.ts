/** What users of such tools suffer from, as scenarios with real processes that are killed (FAULTS 3, 7, 19). */
import { describe, expect, it } from "vitest";
import type { RunView, TaskSummaryView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { runKilledAt } from "../../support/killed-run.js";
import { until } from "../../support/real-clock.js";

/**
 * A step's program: appends `NAME …` to the ledger, then gives `{"step": NAME}`. While the file `broken` is there, the step
 * named in it does not get that far: it hangs, or, told to fail, waits for the file `fail-now` and fails.
 */
const STEP = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";
const [name, ...more] = process.argv.slice(2);
appendFileSync("ledger", [name, ...more].join(" ") + "\\n");
const [chosen, what] = existsSync("broken") ? readFileSync("broken", "utf8").trim().split(" ") : [];
const wait = setInterval(() => {
  if (chosen !== name) return leave();
  if (what === "fail" && existsSync("fail-now")) process.exit(1);
}, 10);
function leave() {
  clearInterval(wait);
  process.stdout.write(JSON.stringify({ output: { step: name } }));
}
if (chosen !== name) leave();
`;

const step = (name: string, more: object = {}) => ({
  name,
  command: ["node", "step.mjs", name],
  working_dir: ".",
  effects: "none",
  ...more,
});

function prepare(workflow: object): CommandPlace {
  const place = openPlace();
  place.write("step.mjs", STEP);
  place.write("workflow.json", JSON.stringify(workflow));
  return place;
}

const showTask = async (place: CommandPlace, task: string) =>
  (await place.run(["show", task, "--json"])).json<TaskView>();

const statuses = async (place: CommandPlace, task: string) =>
  Object.fromEntries((await showTask(place, task)).steps.map(({ path, status }) => [path.split("/").at(-1), status]));

/** Waits until the steps are done and another one is under way, then kills the owner. */
async function killWhen(place: CommandPlace, done: readonly string[], open: string): Promise<void> {
  const running = place.start(["run", "workflow.json", "--task", "t"]);
  await until("some steps are done and one is under way", () => place.ledger().includes(open));
  await until("the others are recorded", async () => {
    const seen = await statuses(place, "t");
    return done.every((name) => seen[name] === "completed");
  });
  running.child.kill("SIGKILL");
  await running.done;
}

describe("FAULTS 3: a run that hangs and is killed", () => {
  it("is listed as interrupted at its third step without being asked for checkpoints, and only that step runs again", async () => {
    const place = prepare({
      workflow: { name: "three", entry_point: "first" },
      agents: [
        step("first", { routes: [{ to: "second" }] }),
        step("second", { routes: [{ to: "third" }] }),
        step("third", { routes: [{ to: "$end" }] }),
      ],
      output: { last: "{{ third.output.step }}" },
    });
    place.write("broken", "third hang");
    await killWhen(place, ["first", "second"], "third");
    const [listed] = (await place.run(["list", "--json"])).json<TaskSummaryView[]>();
    expect(listed).toMatchObject({ task: "t", status: "crashed", steps_done: 2 });
    expect(await statuses(place, "t")).toEqual({ first: "completed", second: "completed", third: "open" });
    place.write("broken", "");
    const resumed = await place.run(["resume", "t", "--json"]);
    expect(resumed.json<RunView>()).toMatchObject({ status: "done", exit_status: 0, output: { last: "third" } });
    expect(place.ledger()).toEqual(["first", "second", "third", "third"]);
  });
});

describe("FAULTS 7: one member of a parallel group does not finish", () => {
  const group = (mode: string) => ({
    workflow: { name: "group", entry_point: "all" },
    agents: [step("a"), step("b"), step("c")],
    parallel: [{ name: "all", agents: ["a", "b", "c"], failure_mode: mode, routes: [{ to: "$end" }] }],
    output: { errors: "{{ all.errors | length }}" },
  });
  /** Runs the task; its third member fails when the other two are recorded as done. */
  const runFailing = async (place: CommandPlace): Promise<number | null> => {
    place.write("broken", "c fail");
    const running = place.start(["run", "workflow.json", "--task", "t"]);
    await until("two are done", () => ["a", "b"].every((name) => running.stderr().includes(`/${name} done`)));
    place.write("fail-now", "");
    return (await running.done).code;
  };
  const sorted = (place: CommandPlace) => place.ledger().toSorted((left, right) => (left < right ? -1 : 1));

  it.each(["fail_fast", "all_or_nothing"])("%s: a resume runs only the member that failed", async (mode) => {
    const place = prepare(group(mode));
    expect(await runFailing(place)).toBe(4);
    expect(await statuses(place, "t")).toEqual({ a: "completed", b: "completed", c: "failed" });
    place.write("broken", "");
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(sorted(place)).toEqual(["a", "b", "c", "c"]);
    expect(await statuses(place, "t")).toEqual({ a: "completed", b: "completed", c: "completed" });
  });

  it("continue_on_error: goes on with what there is, and says which member failed", async () => {
    const place = prepare(group("continue_on_error"));
    const code = await runFailing(place);
    const { json } = await place.run(["run", "workflow.json", "--task", "t", "--json"]);
    expect(code).toBe(json<RunView>().exit_status);
    expect(json<RunView>()).toMatchObject({ output: { errors: 1 }, steps: { done: 2, failed: 1 } });
    expect(await statuses(place, "t")).toEqual({ a: "completed", b: "completed", c: "failed" });
    expect(sorted(place)).toEqual(["a", "b", "c"]);
  });

  it.each(["fail_fast", "all_or_nothing", "continue_on_error"])(
    "%s: killed when two of three are done, only the third runs again",
    async (mode) => {
      const place = prepare(group(mode));
      place.write("broken", "c hang");
      await killWhen(place, ["a", "b"], "c");
      place.write("broken", "");
      expect((await place.run(["recover"])).code).toBe(0);
      expect(sorted(place)).toEqual(["a", "b", "c", "c"]);
      expect((await showTask(place, "t")).output).toEqual({ errors: 0 });
    },
  );
});

describe("FAULTS 19: a loop that is killed after every step", () => {
  const LIMIT = 10;

  it("stops at its limit over all processes, counts its passes on, and a new task starts at one", async () => {
    const turn = (name: string, to: string) =>
      step(name, { command: ["node", "step.mjs", name, "{{ context.iteration }}"], routes: [{ to }] });
    const place = prepare({
      workflow: { name: "loop", entry_point: "writer", limits: { max_iterations: LIMIT } },
      agents: [turn("writer", "reviewer"), turn("reviewer", "writer")],
    });
    const killed = (...args: string[]) => runKilledAt(place, "done:1", args);
    let ended = await killed("run", "workflow.json", "one");
    let kills = 0;
    for (; ended.signal === "SIGKILL"; kills += 1) ended = await killed("resume", "one");
    expect({ kills, code: ended.code }).toEqual({ kills: LIMIT, code: 21 });
    const passes = Array.from({ length: LIMIT }, (_none, n) => `${n % 2 === 0 ? "writer" : "reviewer"} ${n}`);
    expect(place.ledger()).toEqual(passes);
    expect((await place.run(["run", "workflow.json", "--task", "two"])).code).toBe(21);
    expect(place.ledger()).toEqual([...passes, ...passes]);
    expect((await showTask(place, "one")).reason).toContain("the limit of 10 iterations is reached");
  });
});

/** Gives its page and adds those that it leads to; while the file `broken` names it, it waits in front of that. */
const PAGE = `
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
const LINKS = { home: ["a", "b"], a: ["b", "c"], b: ["a"] };
const { page } = JSON.parse(readFileSync(0, "utf8")).input;
appendFileSync("ledger", page + "\\n");
for (const to of LINKS[page] ?? [])
  writeSync(3, JSON.stringify({ type: "spawn", step: { name: to, like: "home", input: { page: to } } }) + "\\n");
const broken = existsSync("broken") ? readFileSync("broken", "utf8") : "";
setInterval(() => {
  if (broken === page) return;
  process.stdout.write(JSON.stringify({ output: page }));
  process.exit(0);
}, 10);
`;

describe("steps that a command adds", () => {
  it.each(["home", "a", "c"])("run once each when the owner is killed while %s is under way", async (page) => {
    const place = openPlace();
    place.write("page.mjs", PAGE);
    place.write("broken", page);
    const home = { name: "home", command: ["node", "page.mjs"], input: { page: "home" }, effects: "none" };
    place.write("workflow.json", JSON.stringify({ workflow: { name: "t" }, steps: [home] }));
    const running = place.start(["run", "workflow.json", "--task", "t"]);
    await until("the page is under way", () => place.ledger().includes(page));
    running.child.kill("SIGKILL");
    await running.done;
    place.write("broken", "");
    const view = (await place.run(["run", "workflow.json", "--task", "t", "--json"])).json<RunView>();
    expect(view).toMatchObject({ status: "done", exit_status: 0 });
    const { steps } = await showTask(place, "t");
    const paths = steps.map(({ path }) => path).toSorted();
    expect(paths).toEqual(["a", "b", "c", "home"].map((name) => `main/${name}`));
  });
});

describe("a step that sleeps until a moment", () => {
  it("ends at that moment, though its owner is killed while it sleeps and nobody runs it for a while", async () => {
    const place = openPlace();
    const atMs = Date.now() + 4_000;
    const steps = [
      { name: "nap", until: new Date(atMs).toISOString() },
      { name: "told", value: "{{ nap.output.waited_seconds }}", depends_on: ["nap"] },
    ];
    place.write("workflow.json", JSON.stringify({ workflow: { name: "t" }, steps }));
    const killed = await runKilledAt(place, "intent:1", ["run", "workflow.json", "t"]);
    expect(killed.signal).toBe("SIGKILL");
    const view = (await place.run(["resume", "t", "--json"])).json<RunView>();
    expect(view).toMatchObject({ status: "done", exit_status: 0 });
    expect(Date.now()).toBeGreaterThanOrEqual(atMs);
    const { steps: seen } = await showTask(place, "t");
    expect(seen.map(({ path, status }) => [path, status])).toEqual([
      ["main/nap", "completed"],
      ["main/told", "completed"],
    ]);
  });
});
