/** Time travel over the whole language: forks, returns, breaks and replays inside every kind of scope. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSplashdown, type RunView, type Splashdown } from "../../../src/index.js";
import { createEnvironment } from "../../../src/runtime/platform/environment.js";
import { openPlace, type CommandPlace } from "../../support/command-place.js";

const model = (name: string, rest = "") => `{name: ${name}, prompt: p${rest}}`;

/** A scope, the step inside it that is broken before and returned to, and what the whole comes to. */
interface Case {
  readonly what: string;
  readonly workflow: string;
  readonly stop: string;
  readonly answers?: Readonly<Record<string, string>>;
  readonly nested?: string;
  readonly output: unknown;
}

const flow = (body: string, entry: string) =>
  `workflow: {name: past, entry_point: ${entry}, limits: {max_iterations: 40}, runtime: {provider: scripted, scripted_answers: answers.json}}\n${body}`;

const SAYS = JSON.stringify({
  find: [{ say: { list: ["x", "y", "z"] } }],
  check: [{ say: { fine: false } }, { say: { fine: true } }],
  "*": [{ say: { said: "word" } }],
});

const CASES: readonly Case[] = [
  {
    what: "a loop",
    stop: "check",
    workflow: flow(
      `agents:
  - ${model("write", ", output: {said: {type: string}}, routes: [{to: check}]")}
  - ${model("check", `, output: {fine: {type: boolean}}, routes: [{to: write, when: "{{ not output.fine }}"}, {to: $end}]`)}
output: {said: "{{ write.output.said }}", fine: "{{ check.output.fine }}"}`,
      "write",
    ),
    output: { said: "word", fine: true },
  },
  {
    what: "a group",
    stop: "right",
    workflow: flow(
      `parallel:
  - {name: both, agents: [left, right], routes: [{to: last}]}
agents:
  - ${model("left", ", output: {said: {type: string}}")}
  - ${model("right", ", output: {said: {type: string}}")}
  - ${model("last", ", output: {said: {type: string}}")}
output: {left: "{{ both.outputs.left.said }}", right: "{{ both.outputs.right.said }}", last: "{{ last.output.said }}"}`,
      "both",
    ),
    output: { left: "word", right: "word", last: "word" },
  },
  {
    what: "the items of a for_each",
    stop: "work",
    workflow: flow(
      `agents:
  - ${model("find", ", output: {list: {type: array}}, routes: [{to: each}]")}
for_each:
  - name: each
    type: for_each
    source: find.output.list
    as: it
    max_concurrent: 1
    agent: {name: work, prompt: "{{ it }}", output: {said: {type: string}}}
output: {all: "{{ each.outputs }}"}`,
      "find",
    ),
    output: { all: [{ said: "word" }, { said: "word" }, { said: "word" }] },
  },
  {
    what: "a gate",
    stop: "after",
    answers: { look: "yes" },
    workflow: flow(
      `agents:
  - ${model("write", ", output: {said: {type: string}}, routes: [{to: look}]")}
  - {name: look, type: human_gate, prompt: Good?, options: [{label: Yes, value: "yes", route: after}, {label: No, value: "no", route: write}]}
  - ${model("after", ", output: {said: {type: string}}")}
output: {chosen: "{{ look.output.selected }}", said: "{{ after.output.said }}"}`,
      "write",
    ),
    output: { chosen: "yes", said: "word" },
  },
  {
    what: "a nested workflow",
    stop: "second",
    nested: flow(
      `agents:
  - ${model("first", ", output: {said: {type: string}}, routes: [{to: second}]")}
  - ${model("second", ", output: {said: {type: string}}")}
output: {inner: "{{ first.output.said }} {{ second.output.said }}"}`,
      "first",
    ),
    workflow: flow(
      `agents:
  - {name: sub, type: workflow, workflow: inner.yaml, routes: [{to: after}]}
  - ${model("after", ", output: {said: {type: string}}")}
output: {inner: "{{ sub.output.inner }}", after: "{{ after.output.said }}"}`,
      "sub",
    ),
    output: { inner: "word word", after: "word" },
  },
];

async function openIn(place: CommandPlace): Promise<Splashdown> {
  const all = { PATH: process.env["PATH"] ?? "", ...place.env };
  const splashdown = await openSplashdown({ store: "file:outputs", environment: createEnvironment(all, place.folder) });
  onTestFinished(() => splashdown.close());
  return splashdown;
}

function contents(place: CommandPlace, task: string): Map<string, string> {
  const root = join(place.folder, "outputs", task);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => !path.includes("/audit/"));
  return new Map(paths.map((path) => [path.slice(root.length), readFileSync(path, "base64")]));
}

async function prepare({ workflow, nested, answers }: Case) {
  const place = openPlace();
  place.write("answers.json", SAYS);
  if (nested !== undefined) place.write("inner.yaml", nested);
  const file = place.write("wf.yaml", workflow);
  const splashdown = await openIn(place);
  return { place, splashdown, run: { workflow: file, ...(answers === undefined ? {} : { answers }) } };
}

describe("time travel", () => {
  it.each(CASES)("forks at every checkpoint inside $what, and leaves the original as it was", async (one) => {
    const { place, splashdown, run } = await prepare(one);
    const first = await splashdown.run({ ...run, task: "t" });
    expect([first.status, first.output]).toEqual(["done", one.output]);
    const before = contents(place, "t");
    const list = await splashdown.checkpoints.list("t");
    expect(list.length).toBeGreaterThan(1);
    for (const { seq } of list) {
      const fork = await splashdown.fork("t", { from: String(seq), task: `f${seq}` });
      const view = (await splashdown.resume({
        task: fork.task,
        ...(one.answers && { answers: one.answers }),
      })) as RunView;
      expect([seq, view.status, view.output]).toEqual([seq, "done", one.output]);
    }
    const replay = await splashdown.debug.replay("t:latest");
    expect(replay.differences).toEqual([]);
    expect(contents(place, "t")).toEqual(before);
  });

  it.each(CASES)("stops before a step inside $what, goes on, returns there, and comes to the same end", async (one) => {
    const { splashdown, run } = await prepare(one);
    const stopped = await splashdown.run({ ...run, task: "t", breakAt: [one.stop] });
    expect([stopped.status, stopped.reason]).toEqual(["paused", expect.stringContaining(`/${one.stop}`)]);
    const more = one.answers && { answers: one.answers };
    const finished = (await splashdown.resume({ task: "t", ...more })) as RunView;
    expect([finished.status, finished.output]).toEqual(["done", one.output]);
    const point = (await splashdown.checkpoints.list("t")).find(({ trigger }) => trigger === "debug_breakpoint");
    const before = (await splashdown.debug.replay("t:latest")).to;
    const returned = (await splashdown.resume({ task: "t", from: String(point?.seq), ...more })) as RunView;
    expect([returned.status, returned.output]).toEqual(["done", one.output]);
    const replay = await splashdown.debug.replay("t:latest");
    expect(replay.differences).toEqual([]);
    // Nothing was taken out of the journal: the way that was left stands before the return.
    expect(replay.to).not.toBe(before);
  });
});
