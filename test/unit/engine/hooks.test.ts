import { describe, expect, it } from "vitest";
import type { StepDefinition } from "../../../src/definition/model/step.js";
import type { HooksDefinition } from "../../../src/definition/model/hooks.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { command, machine, model, nested, set, workflow } from "../../support/workflow-builder.js";
import { processOf } from "../../support/places.js";

const flow = (hooks: HooksDefinition) =>
  workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]), {
    output: { name: "{{ b.output.name }}" },
    hooks,
  });

const hookStep = (name: string, options: Partial<StepDefinition> = {}): StepDefinition =>
  ({ ...command(name), path: `main/$hooks/${name}`, onUnknown: "skip", ...options }) as StepDefinition;

const told = (harness: EngineHarness) => harness.of("hook_told").map(({ hook, text }) => [hook, text]);

const TEXTS = {
  on_start: { text: "{{ workflow.name }} begins" },
  on_complete: { text: "got {{ result.name }}" },
  on_error: { text: "{{ error.type }}: {{ error.message }}" },
};

describe("hooks that tell", () => {
  it("tell the start before the first step and the end with its result, once, from every prefix of the history", () => {
    const harness = new EngineHarness(flow(TEXTS));
    expect(harness.run().exitStatus).toBe(0);
    expect(told(harness)).toEqual([
      ["on_start", "test begins"],
      ["on_complete", "got b"],
    ]);
    const types = harness.events.map(({ type }) => type);
    expect(types.indexOf("hook_told")).toBeLessThan(types.indexOf("step_intended"));
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      if (next.closed === undefined) next.finish();
      expect([count, told(next)]).toEqual([count, told(harness)]);
    }
  });

  it("tell a failure, once more when the next owner is stopped by one too", () => {
    const harness = new EngineHarness(flow(TEXTS), { perform: () => failed("it broke") });
    expect(harness.run().exitStatus).toBe(4);
    expect(told(harness).slice(1)).toEqual([["on_error", "STEP_FAILED: it broke"]]);
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(4);
    expect(told(next).filter(([hook]) => hook === "on_error")).toHaveLength(2);
  });

  it("whose text cannot be rendered say so and stop nothing", () => {
    const harness = new EngineHarness(flow({ on_complete: { text: "{{ nothing.at.all }}" } }));
    expect(harness.run().exitStatus).toBe(0);
    expect(told(harness)[0]?.[1]).toContain("the text of this hook cannot be rendered: ");
  });
});

describe("hooks that run", () => {
  const hooks = {
    on_start: { step: hookStep("on_start") },
    on_complete: { step: hookStep("on_complete", { input: { said: "{{ result.name }}" } }) },
  };

  it("run beside the workflow: durable, named by their place, and no part of the result", () => {
    const harness = new EngineHarness(flow(hooks));
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["on_start#1", "a#1", "b#1", "on_complete#1"]);
    expect(harness.output).toEqual({ name: "b" });
    expect(harness.step("main/$hooks/on_complete").work).toMatchObject({ inline: { input: { said: "b" } } });
  });

  it("fail without consequence, and are retried as they say", () => {
    const retry = { maxAttempts: 2, backoff: "fixed" as const, delayMs: 10, delayMsMax: 10, jitter: 0 };
    const harness = new EngineHarness(flow({ on_complete: { step: hookStep("on_complete", { retry }) } }), {
      perform: (step) => (step.name === "on_complete" ? failed() : done({ name: step.name })),
    });
    expect(harness.run()).toMatchObject({ end: "done", exitStatus: 0 });
    expect(harness.performed).toEqual(["a#1", "b#1", "on_complete#1", "on_complete#2"]);
  });

  it("after a crash: one that never began runs, one that may have acted is skipped, and neither asks anybody", () => {
    const harness = new EngineHarness(flow(hooks));
    harness.start();
    const never = harness.crash();
    never.resume();
    expect(never.finish().exitStatus).toBe(0);
    expect(never.performed.filter((name) => name.startsWith("on_start"))).toEqual(["on_start#2"]);
    const { id: step, attempt } = harness.running.find(({ name }) => name === "on_start")!;
    harness.report({ type: "step_spawned", step, attempt, process: processOf(1, 1, "b") });
    const begun = harness.crash();
    begun.resume();
    expect(begun.finish().exitStatus).toBe(0);
    expect(begun.performed.filter((name) => name.startsWith("on_start"))).toEqual([]);
    expect(begun.of("question_opened")).toEqual([]);
  });
});

describe("hooks of a nested workflow", () => {
  const inner = (hooks: HooksDefinition, rest: Parameters<typeof nested>[2] = {}) =>
    nested("sub", machine("in", [model("a"), model("b")]), { output: { got: "{{ a.output.name }}" }, hooks, ...rest });
  const around = (sub: ReturnType<typeof inner>) =>
    workflow(machine("main", [sub, set("after", { routes: [{ to: "$end" }] }), model("mend")]), { hooks: TEXTS });
  const toldWithPlace = (harness: EngineHarness) =>
    harness.of("hook_told").map(({ hook, text, path = "" }) => [path, hook, text]);
  const texts = { ...TEXTS, on_complete: { text: "got {{ result.got }}" } };

  it("tell of their own workflow, between its beginning and its end, once, from every prefix of the history", () => {
    const harness = new EngineHarness(around(inner(texts)));
    expect(harness.run().exitStatus).toBe(0);
    const whole = [
      ["", "on_start", "test begins"],
      ["main/sub", "on_start", "sub begins"],
      ["main/sub", "on_complete", "got a"],
      ["", "on_complete", expect.stringContaining("the text of this hook cannot be rendered")],
    ];
    expect(toldWithPlace(harness)).toEqual(whole);
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      if (next.closed === undefined) next.finish();
      expect([count, toldWithPlace(next)]).toEqual([count, whole]);
    }
  });

  it("tell every visit anew", () => {
    const again = set("again", { routes: [{ to: "sub", when: "{{ context.iteration < 4 }}" }, { to: "$end" }] });
    const sub = inner({ on_start: texts.on_start }, { routes: [{ to: "again" }] });
    const harness = new EngineHarness(workflow(machine("main", [sub, again])));
    expect(harness.run().exitStatus).toBe(0);
    expect(toldWithPlace(harness)).toEqual([
      ["main/sub", "on_start", "sub begins"],
      ["main/sub", "on_start", "sub begins"],
    ]);
  });

  it("tell a failure that somebody deals with before it is dealt with", () => {
    const sub = inner({ on_error: texts.on_error }, { onError: "mend" });
    const harness = new EngineHarness(around(sub), {
      perform: (step) => (step.name === "a" ? failed("it broke") : done({ name: step.name })),
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(toldWithPlace(harness)[1]).toEqual(["main/sub", "on_error", "STEP_FAILED: it broke"]);
    expect(harness.performed).toContain("mend#1");
  });

  it("tell a failure that nobody deals with from the inside out, and again to the next owner whom it stops", () => {
    const deep = nested("deep", machine("in", [model("a")]), { hooks: { on_error: texts.on_error } });
    const sub = nested("sub", machine("in", [deep]), { hooks: { on_error: texts.on_error } });
    const harness = new EngineHarness(workflow(machine("main", [sub]), { hooks: { on_error: texts.on_error } }), {
      perform: () => failed("it broke"),
    });
    expect(harness.run().exitStatus).toBe(4);
    const once = ["main/sub/in/deep", "main/sub", ""].map((path) => [path, "on_error", "STEP_FAILED: it broke"]);
    expect(toldWithPlace(harness)).toEqual(once);
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(4);
    expect(toldWithPlace(next)).toEqual([...once, ...once]);
  });

  it("run beside it: nothing waits for them, and the workflow around may go on", () => {
    const step = (name: string): StepDefinition => ({
      ...command(name),
      path: `main/sub/in/$hooks/${name}`,
      onUnknown: "skip",
    });
    const hooks = { on_start: { step: step("on_start") }, on_complete: { step: step("on_complete") } };
    const harness = new EngineHarness(around(inner(hooks, { routes: [{ to: "mend" }] })));
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["on_start#1", "a#1", "on_complete#1", "mend#1"]);
    expect(harness.step("main/sub/in/$hooks/on_complete").status).toBe("completed");
    expect(harness.state.stored.get("main")).toEqual(["main/sub", "main/mend"]);
  });
});
