import { describe, expect, it } from "vitest";
import type { StepDefinition } from "../../../src/definition/workflow.js";
import type { HooksDefinition } from "../../../src/definition/hooks.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { command, machine, model, workflow } from "../../support/workflow-builder.js";

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
    harness.submit({ kind: "spawned", step, attempt, process: { pid: 1, startTicks: 1, bootId: "b" } });
    const begun = harness.crash();
    begun.resume();
    expect(begun.finish().exitStatus).toBe(0);
    expect(begun.performed.filter((name) => name.startsWith("on_start"))).toEqual([]);
    expect(begun.of("question_opened")).toEqual([]);
  });
});
