/**
 * What users of such tools suffer from, inside the items of a for_each and inside nested workflows: real processes that are
 * killed, and a ledger of what really ran (FAULTS 1, 5, 7, 8, 9, 19, 20, 29).
 */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import type { AnswerView, EventView, RunView, TaskView } from "../../../src/runtime/contract.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { hold, release, repair, spoil, startHeld, writeHeldSteps } from "../../support/held-steps.js";
import { runKilledAt } from "../../support/killed-run.js";
import { until } from "../../support/real-clock.js";

const RUN = ["run", "wf.yaml", "--task", "t", "--inputs", "in.json"];

/** A step that writes its name to the ledger, and obeys `hold-NAME` and `fail-NAME`. */
const step = (name: string, told: string, rest = "") =>
  `{name: ${name}, command: [sh, "{{ workflow.dir }}/step.sh", "${told}"], effects: none${rest}}`;
const to = (name: string) => `, routes: [{to: ${name}}]`;

const head = (name: string, entry: string, more = "") =>
  `workflow: {name: ${name}, entry_point: ${entry}, limits: {max_iterations: 100}${more}}\n`;

const each = (agent: string, more = "") => `${head("items", "each", ", input: {list: {type: array}}")}agents: []
for_each:
  - {name: each, type: for_each, source: workflow.input.list, as: it, max_concurrent: 1, ${more}agent: ${agent}}
output: {outputs: "{{ each.outputs }}", states: "{{ each.states }}", errors: "{{ each.errors | list }}"}
`;

const INNER = `${head("inner", "a", ", input: {it: {type: number}}")}agents:
  - ${step("a", "a-{{ workflow.input.it }}", to("b"))}
  - ${step("b", "b-{{ workflow.input.it }}", to("c"))}
  - ${step("c", "c-{{ workflow.input.it }}")}
output: {it: "{{ workflow.input.it }}"}
`;
/** One step, for many items. */
const SHORT = `${head("inner", "b", ", input: {it: {type: number}}")}agents: [${step("b", "b-{{ workflow.input.it }}")}]
output: {it: "{{ workflow.input.it }}"}
`;
const SUB = `{name: sub, type: workflow, workflow: inner.yaml, input_mapping: {it: "{{ it }}"}}`;

interface Files {
  readonly workflow: string;
  readonly inner?: string;
  readonly list?: readonly JsonValue[];
}

function prepare({ workflow, inner = INNER, list = [] }: Files): CommandPlace {
  const place = openPlace();
  writeHeldSteps(place, ["unused"]);
  place.write("wf.yaml", workflow);
  place.write("inner.yaml", inner);
  place.write("in.json", JSON.stringify({ list }));
  return place;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_none, index) => index);

async function view(place: CommandPlace): Promise<TaskView> {
  return (await place.run(["show", "t", "--json"])).json<TaskView>();
}

/** Kills the owner while the step runs; all that ended before stands in the journal by then. */
async function killAt(place: CommandPlace, name: string, args: readonly string[] = RUN): Promise<void> {
  const running = await startHeld(place, name, { args });
  running.child.kill("SIGKILL");
  await running.done;
  release(place, name);
}

/** How often each name stands in the ledger, where it is not once. */
function repeated(place: CommandPlace): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of place.ledger()) counts[name] = (counts[name] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 1));
}

describe("FAULTS 1: a limit of the provider in the middle of many items", () => {
  const answers = (ninth: JsonValue) => JSON.stringify({ "w[9]": [ninth], "*": [{ say: { ok: true } }] });
  const REFUSES = { fail: { message: "too many requests", status: 429, retry_after: 7200 } };

  it("is a pause with its time, not a failure; what is done is kept, no attempt is spent, and only the rest runs", async () => {
    const model = `{name: w, prompt: "{{ it }}", output: {ok: {type: boolean}}}`;
    const place = prepare({
      workflow: each(model).replace(
        "entry_point",
        "runtime: {provider: scripted, scripted_answers: answers.json}, entry_point",
      ),
      list: upTo(12),
    });
    place.write("answers.json", answers(REFUSES));
    const run = await place.run([...RUN, "--json"]);
    expect(run.json<RunView>()).toMatchObject({ status: "paused", exit_status: 75 });
    expect(run.json<RunView>().resume_at).toBeDefined();
    const done = async () => (await view(place)).steps.filter(({ status }) => status === "completed").length;
    expect(await done()).toBe(9);
    // While it holds, nothing is tried.
    expect((await place.run([...RUN, "--json"])).json<RunView>()).toMatchObject({ exit_status: 75 });
    expect(await done()).toBe(9);
    const steps = (await view(place)).steps.map(({ step: id, attempt }) => [id, attempt]);
    expect(steps.at(-1)).toEqual(["main/each/w[9]@1.1", 1]);
    expect(steps).toHaveLength(10);
  });
});

describe("FAULTS 5: items that failed, and a kill when five of ten are done", () => {
  it.each([
    ["a step", step("w", "b-{{ it }}")],
    ["a nested workflow", SUB],
  ])(
    "the body being %s: ten slots in their order, the failed ones named, status 3, nothing done twice",
    async (_what, agent) => {
      const workflow = each(agent, "failure_mode: continue_on_error, ");
      const place = prepare({ workflow, inner: SHORT, list: upTo(10) });
      for (const failing of [3, 7]) spoil(place, `b-${failing}`);
      await killAt(place, "b-5");
      const resumed = await place.run(["resume", "t", "--json"]);
      expect(resumed.code).toBe(3);
      const { output, status } = resumed.json<RunView>();
      expect(status).toBe("partial");
      const { outputs, states, errors } = output as Record<string, JsonValue[]>;
      expect(states).toEqual(upTo(10).map((index) => (index === 3 || index === 7 ? "failed" : "done")));
      expect(outputs?.map((slot) => slot === null)).toEqual(upTo(10).map((index) => index === 3 || index === 7));
      expect(errors).toEqual(["3", "7"]);
      expect(repeated(place)).toEqual({ "b-5": 2 });
    },
  );
});

describe("FAULTS 7: one item does not finish", () => {
  const names = (from: number) =>
    upTo(4)
      .slice(from)
      .flatMap((index) => [`a-${index}`, `b-${index}`, `c-${index}`]);

  it.each(["fail_fast", "all_or_nothing"])(
    "%s: a resume begins with the step that failed, in its item",
    async (mode) => {
      const place = prepare({ workflow: each(SUB, `failure_mode: ${mode}, `), list: upTo(4) });
      spoil(place, "b-2");
      expect((await place.run(RUN)).code).toBe(4);
      const before = place.ledger();
      expect(before).toEqual([...names(0).slice(0, 8), ...(mode === "fail_fast" ? [] : names(3))]);
      repair(place, "b-2");
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger().slice(before.length)).toEqual(["b-2", "c-2", ...(mode === "fail_fast" ? names(3) : [])]);
      expect((await view(place)).output).toMatchObject({ states: ["done", "done", "done", "done"], errors: [] });
    },
  );

  it.each(["fail_fast", "all_or_nothing", "continue_on_error"])(
    "%s: killed in the middle of the third item, the first two and its finished step stay",
    async (mode) => {
      const place = prepare({ workflow: each(SUB, `failure_mode: ${mode}, `), list: upTo(3) });
      await killAt(place, "b-2");
      expect((await place.run(["recover"])).code).toBe(0);
      expect(repeated(place)).toEqual({ "b-2": 2 });
      expect((await view(place)).output).toMatchObject({ outputs: [{ it: 0 }, { it: 1 }, { it: 2 }] });
    },
  );

  it("fail_fast: ends the siblings that run within a second, and says of each what became of it", async () => {
    const place = prepare({
      workflow: each(step("w", "w-{{ it }}"), "failure_mode: fail_fast, ").replace(
        "max_concurrent: 1",
        "max_concurrent: 4",
      ),
      list: upTo(6),
    });
    for (const index of [1, 2, 3]) hold(place, `w-${index}`);
    hold(place, "w-0");
    spoil(place, "w-0");
    const running = place.start(RUN);
    await until("four items run", () => place.ledger().length === 4);
    release(place, "w-0");
    expect((await running.done).code).toBe(4);
    const events = (await place.run(["events", "t", "--json"])).json<EventView[]>();
    const failedAt = Date.parse(events.find(({ type }) => type === "step_failed")?.at ?? "");
    const ends = events.filter(({ type }) => type === "step_cancelled").map(({ at }) => Date.parse(at));
    expect(ends).toHaveLength(3);
    // A second is promised; the rest is for a machine that has other work. Left alone they would not end at all.
    for (const end of ends) expect(end - failedAt).toBeLessThan(20_000);
    expect(place.ledger()).toHaveLength(4);
    const statuses = (await view(place)).steps.map(({ status }) => status);
    expect(statuses).toEqual(["failed", "cancelled", "cancelled", "cancelled"]);
  });
});

describe("FAULTS 8: gates inside nested workflows inside items", () => {
  const gated = `${head("inner", "a", ", input: {it: {type: number}}")}agents:
  - ${step("a", "a-{{ workflow.input.it }}", to("ask"))}
  - {name: ask, type: human_gate, prompt: "item {{ workflow.input.it }}?", options: [{label: Y, value: "yes", route: c}, {label: N, value: "no", route: $end}]}
  - ${step("c", "c-{{ workflow.input.it }}")}
output: {said: "{{ ask.output.selected }}"}
`;

  it("are answered by one of eight, listed after a kill with the same texts, each answered once, and only what follows runs", async () => {
    const workflow = each(SUB).replace("max_concurrent: 1", "max_concurrent: 3");
    const place = prepare({ workflow, inner: gated, list: upTo(3) });
    expect((await place.run(RUN)).code).toBe(20);
    const ids = upTo(3).map((index) => `gate:main/each/sub[${index}]/main/ask@1.1:1`);
    const asked = async () =>
      (await view(place)).questions
        .flatMap(({ id, text, status }) => (status === "open" ? [[id, text]] : []))
        .toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1));
    expect(await asked()).toEqual(ids.map((id, index) => [id, `item ${index}?`]));
    hold(place, "c-0");
    // FAULTS 6: of eight that answer it at once one wins, and the others are told who.
    const given = await Promise.all(
      upTo(8).map((index) => place.run(["answer", "t", ids[0]!, "yes", "--by", `p${index}`, "--json"])),
    );
    const [won, ...more] = given.filter(({ code }) => code === 0).map((one) => one.json<AnswerView>());
    expect(more).toEqual([]);
    for (const { stderr } of given.filter(({ code }) => code !== 0))
      expect(stderr).toContain(`was answered by ${won?.by ?? "?"} at ${won?.at ?? "?"} with yes`);
    await killAt(place, "c-0", ["resume", "t"]);
    expect(await asked()).toEqual(ids.slice(1).map((id, index) => [id, `item ${index + 1}?`]));
    await place.run(["answer", "t", ids[2]!, "no"]);
    await place.run(["answer", "t", ids[1]!, "yes"]);
    expect((await place.run(["recover"])).code).toBe(0);
    expect((await view(place)).output).toMatchObject({ outputs: [{ said: "yes" }, { said: "yes" }, { said: "no" }] });
    expect(repeated(place)).toEqual({ "c-0": 2 });
    expect(place.ledger()).not.toContain("c-2");
    expect((await view(place)).questions).toHaveLength(3);
  });
});

describe("FAULTS 9: a step that fails inside a nested workflow inside an item", () => {
  const around = `${head("around", "first", ", input: {list: {type: array}}")}agents:
  - ${step("first", "first", to("each"))}
  - ${step("last", "last")}
for_each:
  - {name: each, type: for_each, source: workflow.input.list, as: it, agent: ${SUB}, routes: [{to: last}]}
`;
  const ALL = ["first", "a-0", "b-0", "c-0", "last"];

  it.each(upTo(5))(
    "is the first to run on a resume, the %i-th of five, and nothing before it runs again",
    async (k) => {
      const place = prepare({ workflow: around, list: [0] });
      spoil(place, ALL[k]!);
      expect((await place.run(RUN)).code).toBe(4);
      repair(place, ALL[k]!);
      expect((await place.run(["resume", "t"])).code).toBe(0);
      expect(place.ledger()).toEqual([...ALL.slice(0, k + 1), ...ALL.slice(k)]);
    },
  );
});

describe("FAULTS 19: a loop in a nested workflow in an item that is killed after every step", () => {
  const LIMIT = 10;
  const looping = `${head("inner", "write").replace("max_iterations: 100", `max_iterations: ${LIMIT}`)}agents:
  - ${step("write", "write {{ context.iteration }}", to("judge"))}
  - ${step("judge", "judge {{ context.iteration }}", to("write"))}
`;

  it("stops at the limit of its file over all processes, counts its passes on, and a new task starts at one", async () => {
    const place = prepare({ workflow: each("{name: sub, type: workflow, workflow: inner.yaml}"), inner: looping });
    const killed = (...args: string[]) => runKilledAt(place, "done:1", args);
    let ended = await killed("run", "wf.yaml", "one", "list=[0]");
    let kills = 0;
    for (; ended.signal === "SIGKILL"; kills += 1) ended = await killed("resume", "one");
    expect({ kills, code: ended.code }).toEqual({ kills: LIMIT, code: 21 });
    const passes = upTo(LIMIT).map((n) => `${n % 2 === 0 ? "write" : "judge"} ${n}`);
    expect(place.ledger()).toEqual(passes);
    const again = await place.run(["run", "wf.yaml", "--task", "two", "--input", "list=[0]"]);
    expect(again.code).toBe(21);
    expect(place.ledger()).toEqual([...passes, ...passes]);
  });
});

describe("FAULTS 20: an item whose answers are not what is declared", () => {
  it("fails by name with the path of the fault; what it said is kept, and a resume asks for this item alone", async () => {
    const workflow = each(`{name: w, prompt: "{{ it }}", output: {title: {type: string}}}`).replace(
      "entry_point",
      "runtime: {provider: scripted, scripted_answers: answers.json}, entry_point",
    );
    const place = prepare({ workflow, list: upTo(3) });
    const says = ["no title here", '{"title": 7}', "{}", '{"title": "at last"}'].map((say) => ({ say }));
    place.write("answers.json", JSON.stringify({ "w[1]": says, "*": [{ say: { title: "fine" } }] }));
    const run = await place.run([...RUN, "--json"]);
    expect(run.json<RunView>()).toMatchObject({ status: "failed", exit_status: 4 });
    expect(run.json<RunView>().reason).toMatch(/w\[1\] failed: .*title.* \[STEP_OUTPUT_INVALID\]/);
    const turns = async () =>
      (await place.run(["events", "t", "--json"])).json<EventView[]>().filter(({ type }) => type === "turn_recorded");
    expect((await turns()).map(({ event }) => JSON.stringify(event)).join("\n")).toContain("no title here");
    expect(await turns()).toHaveLength(1 + 3);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(await turns()).toHaveLength(1 + 3 + 1 + 1);
    expect((await view(place)).output).toMatchObject({
      outputs: [{ title: "fine" }, { title: "at last" }, { title: "fine" }],
    });
    expect((await view(place)).steps.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
  });
});

describe("FAULTS 29: one file nested twice, side by side", () => {
  it("shares nothing: each has its own inputs and position, and a kill repeats only what was under way in each", async () => {
    const place = prepare({ workflow: each(SUB).replace("max_concurrent: 1", "max_concurrent: 2"), list: [0, 1] });
    hold(place, "c-1");
    const running = await startHeld(place, "b-0", { args: RUN });
    await until("both are held", () => place.ledger().includes("c-1"));
    running.child.kill("SIGKILL");
    await running.done;
    for (const name of ["b-0", "c-1"]) release(place, name);
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(repeated(place)).toEqual({ "b-0": 2, "c-1": 2 });
    expect((await view(place)).output).toMatchObject({ outputs: [{ it: 0 }, { it: 1 }] });
  });
});

describe("FAULTS 29: a workflow three levels down", () => {
  const nest = (file: string) => `${head("middle", "sub")}agents: [{name: sub, type: workflow, workflow: ${file}}]\n`;
  const innermost = `${head("innermost", "c1")}agents:
  - ${step("c1", "c1", to("ask"))}
  - {name: ask, type: human_gate, prompt: "Continue?", options: [{label: Y, value: "yes", route: c2}]}
  - ${step("c2", "c2", to("c3"))}
  - ${step("c3", "c3")}
output: {said: "{{ ask.output.selected }}"}
`;
  const outer = `${head("outer", "p1")}agents:
  - ${step("p1", "p1", to("sub"))}
  - {name: sub, type: workflow, workflow: middle.yaml, routes: [{to: p2}]}
  - ${step("p2", "p2")}
output: {sub: "{{ sub.output }}"}
`;

  it("goes on where it was, after a kill behind its gate and after a failure, and asks its person once", async () => {
    const place = prepare({ workflow: outer, inner: nest("innermost.yaml") });
    place.write("middle.yaml", nest("inner.yaml"));
    place.write("innermost.yaml", innermost);
    expect((await place.run([...RUN.slice(0, 4), "--skip-gates"])).code).toBe(20);
    hold(place, "c3");
    await place.run(["answer", "t", "yes"]);
    spoil(place, "c3");
    await killAt(place, "c3", ["resume", "t"]);
    const failed = await place.run(["resume", "t", "--json"]);
    expect(failed.json<RunView>()).toMatchObject({ status: "failed", exit_status: 4 });
    repair(place, "c3");
    expect((await place.run(["resume", "t"])).code).toBe(0);
    expect(place.ledger()).toEqual(["p1", "c1", "c2", "c3", "c3", "c3", "p2"]);
    expect((await view(place)).questions).toHaveLength(1);
  });
});

describe("a wait in a nested workflow in an item", () => {
  const waiting = `${head("inner", "a", ", input: {it: {type: number}, time: {type: string}}")}agents:
  - ${step("a", "a-{{ workflow.input.it }}", to("pause"))}
  - {name: pause, type: wait, duration: "{{ workflow.input.time }}", routes: [{to: c}]}
  - {name: c, value: "{{ pause.output.waited_seconds }}"}
`;
  const SUB_WAITING = SUB.replace("{it:", '{time: "{{ workflow.input.time }}", it:');

  it("is over when it was to be over, whoever was killed meanwhile, and nothing around it runs twice", async () => {
    const workflow = each(SUB_WAITING).replace("{list:", "{time: {type: string}, list:").replace("rent: 1", "rent: 2");
    const place = prepare({ workflow, inner: waiting });
    for (const [task, time, status] of [
      ["long", "1h", "paused"],
      ["short", "1s", "done"],
    ] as const) {
      place.write("in.json", JSON.stringify({ list: [0, 1], time }));
      const args = ["run", "wf.yaml", "--task", task, "--inputs", "in.json"];
      const running = place.start([...args, "--wait"]);
      await until("both wait", () => running.stderr().split("/main/pause starts").length === 3);
      // Shown is not yet written.
      const begun = async () =>
        (await place.run(["events", task, "--json"]))
          .json<EventView[]>()
          .filter(({ type, event }) => type === "step_intended" && event["kind"] === "wait");
      await until("both waits are written", async () => (await begun()).length === 2);
      running.child.kill("SIGKILL");
      await running.done;
      const resumed = (await place.run([...args, "--json", ...(task === "short" ? ["--wait"] : [])])).json<RunView>();
      expect(resumed).toMatchObject({ task, status });
      const { steps } = (await place.run(["show", task, "--json"])).json<TaskView>();
      const waits = steps.filter(({ step: id }) => id.includes("/pause"));
      expect(waits.map(({ attempt }) => attempt)).toEqual([1, 1]);
      if (status === "done") continue;
      const firstMs = Math.min(...(await begun()).map(({ at }) => Date.parse(at)));
      // By the time that passes in each process; the wall, which both are told in, is read to the millisecond.
      expect(Math.abs(Date.parse(resumed.resume_at ?? "") - firstMs - 3_600_000)).toBeLessThanOrEqual(2);
      expect(await begun()).toHaveLength(2);
    }
    expect(repeated(place)).toEqual({ "a-0": 2, "a-1": 2 });
  });
});
