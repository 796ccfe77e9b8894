/**
 * Answers given ahead, of every kind, on every way a task comes to a question; and the gate that holds on each of them
 * where nothing was given. What was answered on a way that was left is no answer on the next.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type RunView, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";
import { until } from "../../support/real-clock.js";

const OPTIONS = `options: [{label: Go, value: approve, route: last}, {label: No, value: reject, route: last}, {label: Say, value: say, route: last, prompt_for: what}]`;
const gateFlow = (more = "") => `workflow: {name: preset, entry_point: first, limits: {max_iterations: 100}}
agents:
  - {name: first, type: set, value: one, routes: [{to: ask}]}
  - {name: ask, type: human_gate, prompt: "Sure?", ${more}${OPTIONS}}
  - {name: last, type: set, value: "{{ ask.output }}", routes: [{to: $end}]}
output: {got: "{{ ask.output }}"}
`;
const WIZARD = `workflow: {name: preset, entry_point: first, limits: {max_iterations: 100}}
agents:
  - {name: first, type: set, value: one, routes: [{to: ask}]}
  - {name: ask, type: questions, questions: [{text: one?, default: uno}, {text: two?}]}
output: {got: "{{ ask.output.answers }}"}
`;
const INNER = `workflow: {name: inner, entry_point: ask, input: {it: {type: string}}}
agents:
  - {name: ask, type: human_gate, prompt: "{{ workflow.input.it }}?", options: [{label: Y, value: "yes", route: $end}, {label: N, value: "no", route: $end}, {label: L, value: left, route: $end}]}
output: {got: "{{ ask.output.selected }}"}
`;
const ITEMS = `workflow: {name: preset, entry_point: first, limits: {max_iterations: 100}}
agents:
  - {name: first, type: set, value: ["a", "b"], routes: [{to: each}]}
for_each:
  - {name: each, type: for_each, source: first.output, as: it, agent: {name: sub, type: workflow, workflow: inner.yaml, input_mapping: {it: "{{ it }}"}}}
output: {got: "{{ each.outputs }}"}
`;

type Given = Pick<Parameters<Splashdown["run"]>[0], "answers" | "skipGates">;

interface Kind {
  readonly kind: string;
  readonly workflow: string;
  readonly given: Given;
  /** Absent: the question stays open. */
  readonly got?: unknown;
  /** One answer would be for several questions, once they are open. */
  readonly isForOne?: true;
}

const said = (selected: string, text?: string) => ({
  selected,
  additional_input: text === undefined ? {} : { what: text },
});

const KINDS: readonly Kind[] = [
  { kind: "nothing", workflow: gateFlow(), given: {} },
  { kind: "the default where there is none", workflow: gateFlow(), given: { skipGates: true } },
  { kind: "a choice by name", workflow: gateFlow(), given: { answers: { ask: "reject" } }, got: said("reject") },
  {
    kind: "a choice by path",
    workflow: gateFlow(),
    given: { answers: { "main/ask": "approve" } },
    got: said("approve"),
  },
  {
    kind: "a choice with its text",
    workflow: gateFlow(),
    given: { answers: { ask: "say:so: be it" } },
    got: said("say", "so: be it"),
  },
  { kind: "the default", workflow: gateFlow("default: reject, "), given: { skipGates: true }, got: said("reject") },
  {
    kind: "a map for a wizard",
    workflow: WIZARD,
    given: { answers: { ask: '{"q1": "a", "q2": 2}' } },
    got: { q1: "a", q2: 2 },
  },
  {
    kind: "the defaults of a wizard, the rest skipped",
    workflow: WIZARD,
    given: { skipGates: true },
    got: { q1: "uno", q2: null },
  },
  { kind: "nothing for a wizard", workflow: WIZARD, given: {} },
  {
    kind: "one choice for all items",
    workflow: ITEMS,
    given: { answers: { ask: "yes" } },
    got: [{ got: "yes" }, { got: "yes" }],
    isForOne: true,
  },
  {
    kind: "a choice for each item",
    workflow: ITEMS,
    given: { answers: { "main/each/sub[0]/main/ask": "yes", "main/each/sub[1]/main/ask": "no" } },
    got: [{ got: "yes" }, { got: "no" }],
  },
  { kind: "a choice for one item only", workflow: ITEMS, given: { answers: { "main/each/sub[0]/main/ask": "yes" } } },
];

interface Trip {
  readonly place: CommandPlace;
  readonly splashdown: Splashdown;
  readonly file: string;
  readonly kind: Kind;
}

/** Other answers than any that is given ahead, for ways that are left. */
const LEFT: ReadonlyMap<string, string> = new Map([
  [WIZARD, '{"q1": "left", "q2": "left"}'],
  [ITEMS, "left"],
]);

async function finishOtherwise({ splashdown, file, kind }: Trip): Promise<void> {
  const ask = LEFT.get(kind.workflow) ?? "say:left";
  expect(await splashdown.run({ workflow: file, task: "t", answers: { ask } })).toMatchObject({ exit_status: 0 });
}

/** The checkpoint before anything was asked. */
async function beforeTheQuestion({ splashdown }: Trip): Promise<string> {
  const [first] = await splashdown.checkpoints.list("t");
  const all = await splashdown.checkpoints.list("t");
  return String(Math.min(first?.seq ?? 1, ...all.map(({ seq }) => seq)));
}

async function crashAtTheQuestion({ place, file }: Trip): Promise<void> {
  const running = place.start(["run", file, "--task", "t", "--store", "file:outputs"]);
  // A process of its own ends by itself at an open question: it is killed as it is asked.
  await until("the question is open", () => running.stderr().includes("? question: "));
  running.child.kill("SIGKILL");
  await running.done;
}

const PATHS: Readonly<Record<string, (trip: Trip) => Promise<RunView>>> = {
  "a run": ({ splashdown, file, kind }) => splashdown.run({ workflow: file, task: "t", ...kind.given }),
  "a resume after it was left open": async ({ splashdown, file, kind }) => {
    expect(await splashdown.run({ workflow: file, task: "t" })).toMatchObject({ exit_status: 20 });
    return (await splashdown.resume({ task: "t", ...kind.given })) as RunView;
  },
  "a resume after a kill": async (trip) => {
    await crashAtTheQuestion(trip);
    return (await trip.splashdown.resume({ task: "t", ...trip.kind.given })) as RunView;
  },
  "a return to before it": async (trip) => {
    await finishOtherwise(trip);
    const from = await beforeTheQuestion(trip);
    return (await trip.splashdown.resume({ task: "t", from, ...trip.kind.given })) as RunView;
  },
  "a fork from before it": async (trip) => {
    await finishOtherwise(trip);
    const { task } = await trip.splashdown.fork("t", { from: await beforeTheQuestion(trip) });
    return (await trip.splashdown.resume({ task, ...trip.kind.given })) as RunView;
  },
  "a live replay from before it": async (trip) => {
    await finishOtherwise(trip);
    const { live } = await trip.splashdown.debug.replay(`t:${await beforeTheQuestion(trip)}`, {
      live: true,
      ...trip.kind.given,
    });
    if (live === undefined) throw new Error("nothing ran");
    return live.result;
  },
};

/** Paths on which the questions are open already: each needs an answer by its own name (kinds F12). */
const OPEN_BEFORE: ReadonlySet<string> = new Set(["a resume after it was left open", "a resume after a kill"]);

async function openTrip(kind: Kind): Promise<Trip> {
  const place = openPlace();
  place.write("inner.yaml", INNER);
  const file = place.write("wf.yaml", kind.workflow);
  const environment = createEnvironment({ PATH: process.env["PATH"] ?? "", ...place.env }, place.folder);
  const splashdown = await openSplashdown({ store: "file:outputs", environment });
  onTestFinished(() => splashdown.close());
  return { place, splashdown, file, kind };
}

describe.each(Object.keys(PATHS))("on %s", (path) => {
  it.each(KINDS)("$kind", async (kind) => {
    const trip = await openTrip(kind);
    if (kind.isForOne === true && OPEN_BEFORE.has(path)) {
      await expect(PATHS[path]!(trip)).rejects.toMatchObject({
        code: "USAGE_INVALID",
        message: expect.stringContaining(
          "--answer ask=yes names 2 open questions: gate:main/each/sub[0]/main/ask",
        ) as unknown,
      });
      return;
    }
    const view = await PATHS[path]!(trip);
    if (kind.got === undefined) {
      expect({ status: view.status, exit: view.exit_status }).toEqual({ status: "waiting", exit: 20 });
      expect(view.questions.filter(({ status }) => status === "open").length).toBeGreaterThan(0);
    } else {
      expect({ status: view.status, output: view.output }).toEqual({ status: "done", output: { got: kind.got } });
    }
    const replay = await trip.splashdown.debug.replay(`${view.task}:latest`);
    expect(replay.differences).toEqual([]);
  });
});

describe("debug replay --live", () => {
  it("takes answers for the gates of the fork", async () => {
    const trip = await openTrip(KINDS[0]!);
    await finishOtherwise(trip);
    const replay = ["debug", "replay", "--checkpoint", `t:${await beforeTheQuestion(trip)}`, "--live"];
    expect((await trip.place.run(replay)).code).toBe(20);
    expect((await trip.place.run([...replay, "--answer", "ask=reject"])).code).toBe(0);
    const wrong = await trip.place.run([...replay, "--answer", "reject"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("write --answer GATE=reject")]);
  });
});
