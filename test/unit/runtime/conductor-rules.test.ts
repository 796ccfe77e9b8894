/** Rules of Conductor's files that one file shows best; the rest stand in test/golden/conductor/whole-files.json. */
import { describe, expect, it } from "vitest";
import { loadText } from "../../support/workflow-files.js";
import { openSplashdownInMemory } from "../../support/library-place.js";

async function run(workflow: object, inputs: object = {}) {
  const splashdown = await openSplashdownInMemory();
  return splashdown.run({ workflow, inputs: inputs as never });
}

const routed = (when: string, values: object = { score: 8, nothing: "null" }) => ({
  workflow: { name: "w", entry_point: "a" },
  agents: [
    { name: "a", type: "set", values, routes: [{ to: "x", when }, { to: "y" }] },
    { name: "x", type: "set", value: "x" },
    { name: "y", type: "set", value: "y" },
  ],
  output: { last: "{{ context.history | last }}" },
});

describe("a condition without braces", () => {
  it.each([
    ["nothing is None", "x"],
    ["score is not None", "x"],
    ["score is None", "y"],
    ["(score > 7) is True", "x"],
  ])("[kinds F19 kin] %s is read as Python does, in a file too", async (when, last) => {
    expect((await run(routed(when))).output).toEqual({ last });
  });

  it.each(["score > '7'", "'7' <= score", "nothing < 1", "{{ output.score < output.nothing }}", "[1] > score"])(
    "[public K kin] %s compares what has no order: an error, never a way",
    async (when) => {
      expect((await run(routed(when))).reason).toContain("cannot be compared");
    },
  );

  it("[public K kin] numbers, truth values, texts and lists have an order", async () => {
    for (const when of ["true >= 1", "'a' < 'b'", "'Z' < 'a'", "[1, 2] < [1, 3]", "[1] < [1, 0]", "1.5 > 1"])
      expect((await run(routed(when))).output).toEqual({ last: "x" });
  });
});

describe("what a route or an end says", () => {
  const ended = (to: string) => ({
    workflow: { name: "w", entry_point: "a" },
    agents: [
      { name: "a", type: "set", value: "1", routes: [{ to, output: { v: "{{ [1, 2] | json }}", n: "{{ 5 }}0" } }] },
      { name: "x", type: "set", value: "x" },
    ],
    output: { v: "own" },
  });

  it("[kinds F2b kin] an output of a route is typed as the workflow's, where the workflow ends with it", async () => {
    expect((await run(ended("$end"))).output).toEqual({ v: [1, 2], n: 50 });
  });

  it("[kinds F19 kin] an output of another route does not count", async () => {
    expect((await run(ended("x"))).output).toEqual({ v: "own" });
  });

  it("[kinds F2b kin] an output_template is typed, too", async () => {
    const end = {
      name: "t",
      type: "terminate",
      status: "success",
      reason: "r",
      output_template: { v: "{{ [1] | json }}" },
    };
    const file = { workflow: { name: "w", entry_point: "t" }, agents: [end] };
    expect((await run(file)).output).toEqual({ v: [1] });
  });
});

describe("a set step with a declared output", () => {
  it.each([
    [{ values: { a: "x" } }, "/a must be number"],
    [{ values: { b: "5" } }, "must have required property 'a'"],
    [{ value: "x" }, "must be object"],
  ])("[kinds F2b kin] fails where it gives another: %j", async (given, words) => {
    const step = { name: "a", type: "set", ...given, output: { a: { type: "number" } } };
    const view = await run({ workflow: { name: "w", entry_point: "a" }, agents: [step] });
    expect([view.status, view.reason]).toEqual(["failed", expect.stringContaining(words)]);
  });
});

describe("a value that JSON has no word for", () => {
  it("[public H kin] is in a template what it is", async () => {
    const text =
      "{{ workflow.input.n.a is number }} {{ workflow.input.n.a + 1 }} {{ workflow.input.n.d }} {{ workflow.input.n }}";
    const file = {
      workflow: { name: "w", input: { n: { type: "object" } } },
      steps: [{ name: "b", value: `text ${text}` }],
      output: { r: "{{ b.output }}" },
    };
    const view = await run(file, { n: { a: -0, d: new Date(0) } });
    const date = "1970-01-01T00:00:00.000Z";
    expect(view.output).toEqual({ r: `text True 1 ${date} {'a': 0, 'd': '${date}'}` });
  });
});

describe("an input", () => {
  it("[kinds F10 kin] takes True and FALSE, +5 and .5 as what they are", async () => {
    const inputs = { a: { type: "boolean" }, b: { type: "boolean" }, c: { type: "number" }, d: { type: "number" } };
    const file = {
      workflow: { name: "w", input: inputs },
      steps: [{ name: "s", value: 1 }],
      output: "{{ workflow.input }}",
    };
    const splashdown = await openSplashdownInMemory();
    const output = { i: "{{ workflow.input }}" };
    const inputTexts = { a: "True", b: "FALSE", c: "+5", d: ".5" };
    const view = await splashdown.run({ workflow: { ...file, output }, inputTexts });
    expect(view.output).toEqual({ i: { a: true, b: false, c: 5, d: 0.5 } });
  });

  it("[kinds F10 kin] with a default of null is as one without", async () => {
    const loaded = await loadText(
      "workflow: {name: w, input: {i: {type: number, default: null, required: false}}}\nsteps: [{name: s, value: 1}]\n",
    );
    expect(loaded.definition.inputs["i"]).toEqual({ type: "number", required: false });
  });

  it("[kinds F10 kin] that only the output of a nested file names is passed on", async () => {
    const loaded = await loadText(
      'workflow: {name: w, entry_point: s}\nagents: [{name: s, type: set, value: "1"}]\noutput: {o: "{{ workflow.input.p }}"}\n',
    );
    expect(Object.keys(loaded.definition.inputs)).toEqual(["p"]);
  });
});
