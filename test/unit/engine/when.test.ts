import { beforeAll, describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { JsonObject } from "../../../src/base/json.js";
import { initTemplates } from "../../../src/definition/templates/templates.js";
import { done, EngineHarness, failed, type HarnessOptions } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import { loadText } from "../../support/workflow-files.js";

const HEAD = "workflow: {name: t, input: {env: {type: string, default: test}}, runtime: {provider: scripted}}\n";

async function harnessOf(text: string, options: HarnessOptions = {}): Promise<EngineHarness> {
  const { definition } = await loadText(`${HEAD}${text}`);
  return new EngineHarness(definition, { inputs: { env: "test" }, ...options });
}

async function faultsOf(text: string): Promise<string[]> {
  try {
    await loadText(`${HEAD}${text}`);
    return [];
  } catch (error) {
    if (!(error instanceof SplashdownError)) throw error;
    return (error.details["faults"] as { message: string; suggestion?: string }[]).map(
      ({ message, suggestion }) => `${message}; ${suggestion ?? ""}`,
    );
  }
}

async function warningsOf(text: string): Promise<string[]> {
  const { notes } = await loadText(`${HEAD}${text}`);
  return [...notes];
}

/** Runs to the end; gates are answered with these. */
function finish(harness: EngineHarness, answers: Readonly<Record<string, string>> = {}) {
  harness.start();
  for (;;) {
    const closed = harness.finish();
    const [question] = harness.openQuestions;
    if (question === undefined) return closed;
    harness.resume();
    harness.answer(question, answers[question.id.split("/").at(-1)?.split("@")[0] ?? ""] ?? "");
  }
}

const GATE = "  - {name: approve, type: human_gate, prompt: Send?, options: [send, drop]}\n";
const MAIL = "  - {name: mail, command: [mail], effects: external, depends_on: [approve]";

beforeAll(() => initTemplates());

describe("a step with a condition", () => {
  it("[first-use F3] is not done where the answer of a gate makes it false", async () => {
    const text = `steps:\n${GATE}${MAIL}, when: "approve.output.selected == 'send'"}\n`;
    const dropped = await harnessOf(text);
    expect(finish(dropped, { approve: "drop" })).toMatchObject({ end: "done", exitStatus: 0 });
    expect(dropped.performed).toEqual([]);
    expect(dropped.step("main/mail")).toMatchObject({
      status: "skipped",
      attempt: 0,
      reason: "when is false: approve.output.selected == 'send'",
    });
    const sent = await harnessOf(text);
    finish(sent, { approve: "send" });
    expect(sent.performed).toEqual(["mail#1"]);
    checkState(sent.state);
  });

  it("takes with it what depends on it, unless that says otherwise", async () => {
    const harness = await harnessOf(`steps:
  - {name: a, command: [a], when: "{{ workflow.input.env == 'live' }}"}
  - {name: b, command: [b], depends_on: [a]}
  - {name: c, command: [c], depends_on: [b]}
  - {name: always, command: [d], depends_on: [{step: c, on: [done, skipped, failed]}]}
  - {name: beside, command: [e]}
`);
    expect(finish(harness)).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["beside#1", "always#1"]);
    expect(harness.of("node_skipped").map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      "main/a: when is false: {{ workflow.input.env == 'live' }}",
      "main/b: a was skipped",
      "main/c: b was skipped",
    ]);
    const decisions = harness.state.decisions.map(({ type, subject }) => `${type} ${subject ?? ""}`);
    expect(decisions).toEqual(["skip main/a", "skip main/b", "skip main/c"]);
  });

  it("is judged once: retries and a new owner find how, whatever has changed since", async () => {
    const text = `steps:
  - {name: a, command: [a], effects: none, when: "channel.go is not defined", retry: {max_attempts: 3, delay_seconds: 0, jitter: 0}}
`;
    const harness = await harnessOf(text, { perform: ({ attempt }) => (attempt < 3 ? failed() : done(1)) });
    harness.start();
    harness.performOne();
    harness.changeChannel({ op: "set", key: "go", value: true });
    const next = harness.crash();
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["a#3"]);
    expect(next.state.decisions.filter(({ type }) => type === "run")).toHaveLength(1);
  });

  it("is skipped once, wherever the owner before was killed", async () => {
    const text = `steps:
  - {name: a, command: [a], effects: none, when: "workflow.input.env == 'live'"}
  - {name: b, command: [b], effects: none, depends_on: [{step: a, on: [skipped]}]}
`;
    const whole = await harnessOf(text);
    whole.run();
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      next.resume();
      next.finish();
      expect(next.of("node_skipped")).toHaveLength(1);
      expect(next.output).toEqual(whole.output);
      checkState(next.state);
    }
  });

  it("fails with a typed error where the condition cannot be judged, and a resume judges it anew", async () => {
    const text = `steps:
  - {name: a, command: [a], effects: none}
  - {name: b, command: [b], effects: none, depends_on: [a], when: "a.output.count > 3"}
`;
    let output: JsonObject = {};
    const harness = await harnessOf(text, { perform: () => done(output) });
    expect(harness.run()).toMatchObject({ end: "failed", exitStatus: 4 });
    expect(harness.step("main/b").error).toMatchObject({ code: "TEMPLATE_FAILED" });
    expect(harness.step("main/b").error?.message).toContain("when of b cannot be judged");
    output = { count: 4 };
    harness.state.outputs.set("main/a", { value: { inline: output }, by: "test" });
    harness.resume();
    expect(harness.finish().end).toBe("done");
    expect(harness.performed).toEqual(["a#1", "b#2"]);
  });
});

describe("a scope with a condition", () => {
  it("[first-use F3 kin] a phase is left out with all its specialists, and has neither score nor confidence", async () => {
    const harness = await harnessOf(`phases:
  - name: one
    specialists: [{name: a, command: [a]}]
  - name: two
    when: "a.output == 'more'"
    specialists: [{name: b, command: [b]}]
    evaluate: {scorers: {quality: {command: [judge]}}}
    confidence: 0.9
  - name: three
    specialists: [{name: c, command: [c]}]
`);
    harness.perform = (step) => done(step.name);
    expect(finish(harness)).toMatchObject({ end: "done", exitStatus: 0 });
    expect(harness.performed).toEqual(["a#1", "c#1"]);
    expect(harness.state.phases.get("main/two")).toMatchObject({ status: "skipped" });
    expect(harness.state.evaluations).toEqual([]);
    checkState(harness.state);
  });

  it("[first-use F3 kin] members of a group, items of a list and nested groups are skipped one by one", async () => {
    const harness = await harnessOf(
      `steps:
  - name: each
    for_each: "{{ [1, 2, 3] }}"
    as: n
    step: {name: odd, command: [odd, "{{ n }}"], when: "n != 2"}
  - name: both
    parallel:
      - {name: left, command: [l], when: false}
      - {name: right, command: [r]}
  - name: inner
    when: "workflow.input.env != 'test'"
    steps: [{name: deep, command: [d]}]
  - {name: last, command: [z], depends_on: [inner]}
`,
      { perform: (step) => done(step.path) },
    );
    expect(finish(harness)).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["odd#1", "odd#1", "right#1"]);
    expect(harness.state.outputs.get("main/each")?.value).toMatchObject({
      inline: { states: ["done", "skipped", "done"], errors: {} },
    });
    expect(harness.of("node_skipped").map(({ path }) => path)).toEqual([
      "main/inner",
      "main/last",
      "main/each/odd[1]",
      "main/both/left",
    ]);
    checkState(harness.state);
  });

  it("a specialist that is skipped has no score, and a phase of nothing else is left as done", async () => {
    const harness = await harnessOf(
      `phases:
  - name: one
    specialists:
      - {name: a, command: [a], when: "workflow.input.env == 'live'"}
      - {name: b, command: [b]}
    confidence: 0.8
  - name: two
    specialists: [{name: c, command: [c], when: false}]
    evaluate: {scorers: {quality: {command: [judge]}}}
`,
      { perform: (step) => done(step.name, { confidence: 0.9 }) },
    );
    expect(finish(harness)).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["b#1"]);
    expect(harness.state.phases.get("main/one")?.confidence).toBe(0.9);
  });

  it("that cannot be judged stands in the way, and is entered, or left out, by a resume", async () => {
    const text = `steps:
  - {name: a, command: [a], effects: none}
  - {name: group, depends_on: [a], when: "a.output.go", steps: [{name: b, command: [b], effects: none}]}
`;
    for (const go of [true, false]) {
      const harness = await harnessOf(text, { perform: () => done({}) });
      expect(harness.run()).toMatchObject({ end: "failed" });
      expect(harness.closed?.reason).toContain("group cannot start: when of group");
      harness.state.outputs.set("main/a", { value: { inline: { go } }, by: "test" });
      harness.resume();
      expect(harness.finish().end).toBe("done");
      expect(harness.performed).toEqual(go ? ["a#1", "b#1"] : ["a#1"]);
      checkState(harness.state);
    }
  });

  it("an agent that is skipped goes on by the first route that can be followed without its output", async () => {
    const harness = await harnessOf(`agents:
  - {name: a, command: [a], when: "workflow.input.env == 'live'", routes: [{to: b}]}
  - {name: b, command: [b], routes: [{to: $end}]}
`);
    expect(finish(harness)).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["b#1"]);
  });
});

describe("what depends on a failure", () => {
  const TEXT = `steps:
  - {name: work, command: [w], effects: none}
  - {name: after, command: [a], effects: none, depends_on: [work]}
  - {name: clean, command: [c], effects: none, depends_on: [{step: work, on: [done, failed]}]}
  - {name: mend, command: [m], effects: none, depends_on: [{step: work, on: [failed]}]}
`;

  it("runs where it says so, and the task ends partial", async () => {
    const harness = await harnessOf(TEXT, { perform: ({ name }) => (name === "work" ? failed() : done(name)) });
    expect(harness.run()).toMatchObject({ end: "partial", exitStatus: 3 });
    expect(harness.performed).toEqual(["work#1", "clean#1", "mend#1"]);
    checkState(harness.state);
  });

  it("is skipped where nothing failed", async () => {
    const harness = await harnessOf(TEXT);
    expect(harness.run()).toMatchObject({ end: "done", exitStatus: 0 });
    expect(harness.performed).toEqual(["work#1", "after#1", "clean#1"]);
    expect(harness.step("main/mend").reason).toBe("work is done, and mend waits for: failed");
  });

  it("runs in phases and after a group as well", async () => {
    const phases = await harnessOf(
      `phases:
  - name: one
    restart: {max_attempts: 0}
    confidence: 0
    specialists:
      - {name: work, command: [w], effects: none}
      - {name: mend, command: [m], effects: none, depends_on: [{step: work, on: [failed]}]}
`,
      { perform: ({ name }) => (name === "work" ? failed() : done(name)) },
    );
    expect(phases.run()).toMatchObject({ end: "partial", exitStatus: 3 });
    expect(phases.performed).toEqual(["work#1", "mend#1"]);
    const group = await harnessOf(
      `steps:
  - {name: group, steps: [{name: work, command: [w], effects: none}]}
  - {name: mend, command: [m], effects: none, depends_on: [{step: group, on: [failed]}]}
`,
      { perform: ({ name }) => (name === "work" ? failed() : done(name)) },
    );
    expect(group.run()).toMatchObject({ end: "partial", exitStatus: 3 });
    expect(group.performed).toEqual(["work#1", "mend#1"]);
    checkState(group.state);
  });
});

describe("a gate's no", () => {
  it("[first-use F3 kin] route: $end ends the workflow: what has not begun is skipped", async () => {
    const steps = `steps:
  - {name: approve, type: human_gate, prompt: Send?, options: [send, {value: drop, route: $end}]}
${MAIL}}
  - {name: later, command: [l], depends_on: [{step: mail, on: [done, skipped]}]}
`;
    const harness = await harnessOf(steps);
    expect(finish(harness, { approve: "drop" })).toMatchObject({ end: "done", reason: "approve was answered drop" });
    expect(harness.performed).toEqual([]);
    expect(harness.step("main/later").reason).toBe("the workflow has ended: approve was answered drop");
    const phases = await harnessOf(`phases:
  - name: one
    specialists:
      - {name: approve, type: human_gate, prompt: Send?, options: [send, {value: drop, route: $end}]}
  - {name: two, specialists: [{name: mail, command: [m]}]}
`);
    expect(finish(phases, { approve: "drop" })).toMatchObject({ end: "done" });
    expect(phases.performed).toEqual([]);
    checkState(phases.state);
  });

  it("route: $skip skips what depends on the gate, and nothing else", async () => {
    const harness = await harnessOf(`steps:
  - {name: approve, type: human_gate, prompt: Send?, options: [send, {value: drop, route: $skip}]}
${MAIL}}
  - {name: other, command: [o]}
  - {name: note, command: [n], depends_on: [{step: mail, on: [skipped]}]}
`);
    expect(finish(harness, { approve: "drop" })).toMatchObject({ end: "done" });
    expect(harness.performed).toEqual(["other#1", "note#1"]);
    expect(harness.step("main/approve")).toMatchObject({ status: "completed" });
    checkState(harness.state);
  });

  it("ends a nested group's workflow from within, also among agents", async () => {
    const harness = await harnessOf(`agents:
  - name: part
    steps:
      - {name: approve, type: human_gate, prompt: Send?, options: [send, {value: drop, route: $end}]}
      - {name: mail, command: [m], depends_on: [approve]}
    routes: [{to: next}]
  - {name: next, command: [n], routes: [{to: $end}]}
`);
    expect(finish(harness, { approve: "drop" })).toMatchObject({ end: "done", reason: "approve was answered drop" });
    expect(harness.performed).toEqual([]);
    checkState(harness.state);
  });

  it("is missed by validate where no answer changes anything", async () => {
    const told = "no answer of approve changes anything: mail runs after every one";
    expect((await warningsOf(`steps:\n${GATE}${MAIL}}\n`)).join()).toContain(
      `${told} (write {value: drop, route: $end}, or when: approve.output.selected != 'drop' in mail)`,
    );
    const phases = `phases:
  - {name: one, specialists: [{name: approve, type: human_gate, prompt: Send?, options: [send, drop]}]}
  - {name: two, specialists: [{name: mail, command: [m]}]}
`;
    expect((await warningsOf(phases)).join()).toContain("phase two runs after every one");
    expect(await warningsOf(`steps:\n${GATE}${MAIL}, when: "approve.output.selected == 'send'"}\n`)).toEqual([]);
    expect(await warningsOf(`steps:\n${GATE}${MAIL}, input: {said: "{{ approve.output.selected }}"}}\n`)).toEqual([]);
  });

  it.each([
    [
      `steps:\n  - {name: g, type: human_gate, prompt: p, options: [{value: a, route: x}]}\n  - {name: x, value: 1, depends_on: [g]}\n`,
      "write $end (the workflow ends), $skip (what depends on the gate is skipped), or when: g.output.selected == '…' in the steps that follow",
    ],
    [
      "steps:\n  - {name: x, value: 1, routes: [{to: y}]}\n",
      "write depends_on, and when: for what is done on a condition",
    ],
    ["steps:\n  - {name: x, value: 1, if: true}\n", "write when"],
    ["steps:\n  - {name: x, value: 1, when: 'y.output == 1'}\n", "a template names y, which is no step"],
    ["steps:\n  - {name: y, value: 1}\n  - {name: x, value: 1, when: 'y.output == 1'}\n", "add depends_on: [y] to x"],
    ["steps:\n  - {name: x, value: 1, when: '{{ workflow.input.enw }}'}\n", "did you mean env?"],
    ["steps:\n  - {name: x, value: 1, when: 'a =='}\n", "template: "],
    [
      "steps:\n  - {name: x, value: 1, depends_on: [{step: y, on: [finished]}]}\n",
      "must be one of done, skipped, failed",
    ],
  ])("%s: is told what to write", async (text, told) => {
    expect((await faultsOf(text)).join("\n")).toContain(told);
  });
});
