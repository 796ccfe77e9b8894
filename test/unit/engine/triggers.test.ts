import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import {
  command,
  dag,
  machine,
  model,
  parallel,
  phase,
  phases,
  set,
  workflow,
} from "../../support/workflow-builder.js";
import { loadText } from "../../support/workflow-files.js";

const triggersOf = (harness: EngineHarness) => harness.of("checkpoint_recorded").map((event) => event.trigger);
const withRules = (triggers: JsonObject, more: JsonObject = {}) => ({ checkpoint_config: { triggers, ...more } });

describe("triggers", () => {
  it("number checkpoints without gaps, each right after the event that fired", () => {
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a"), model("b")])])));
    harness.run();
    const checkpoints = harness.of("checkpoint_recorded");
    expect(checkpoints.map((event) => event.seq)).toEqual([1, 2, 3, 4]);
    const at = harness.events.findIndex((event) => event.type === "checkpoint_recorded" && event.seq === 2);
    expect(harness.events[at - 1]).toMatchObject({ type: "step_completed", step: "main/p/a@1.1" });
    expect(harness.state.checkpoints[1]).toMatchObject({ seq: 2, position: at + 1 });
  });

  it("fire for every kind of specialist that ends, requests and calls of servers too, and for no other step", async () => {
    const { definition } = await loadText(`workflow:
  name: t
  runtime: {provider: local, mcp_servers: {odd: {command: odd}}}
steps:
  - {name: ask, prompt: x}
  - {name: get, url: "http://x/", depends_on: [ask]}
  - {name: call, server: odd, tool: act, depends_on: [get]}
  - {name: keep, value: 1, depends_on: [call]}
`);
    const harness = new EngineHarness(definition);
    harness.run();
    const ended = harness.of("checkpoint_recorded").filter(({ trigger }) => trigger === "specialist_finished");
    expect(ended.map(({ metadata }) => metadata?.["step"])).toEqual(["main/ask@1.1", "main/get@1.1", "main/call@1.1"]);
  });

  it("put a checkpoint before the intent of a risky step", () => {
    const harness = new EngineHarness(workflow(machine("main", [command("deploy", { risky: true })])));
    harness.start();
    const types = harness.events.map((event) => event.type);
    expect(types).toEqual(["task_started", "scope_entered", "checkpoint_recorded", "step_intended"]);
    expect(triggersOf(harness)).toEqual(["before_risky_operation"]);
  });

  it("take ctx.checkpoint after the step, with task, visit and elapsed time", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])));
    harness.start();
    harness.nowMs += 500;
    const { id } = harness.step("main/a");
    harness.submit({
      kind: "outcome",
      step: id,
      attempt: 1,
      outcome: done(1),
      durationMs: 500,
      wishes: { checkpoint: { rows: 3 } },
    });
    expect(harness.of("checkpoint_recorded")).toMatchObject([
      { trigger: "user_requested", metadata: { rows: 3, task: "a", visit: 1, cycle: 1, elapsed_ms: 500 } },
      { trigger: "phase_completed" },
    ]);
  });

  it("fire on failures, questions, a person's wish and a shutdown", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a", { onError: "b" }), model("b")])), {
      perform: (step) => (step.name === "a" ? failed() : undefined),
    });
    harness.start();
    harness.performOne();
    harness.submit({ kind: "message", message: { kind: "checkpoint", note: "lunch", by: "ann" } });
    harness.submit({
      kind: "ask",
      questionKind: "loss",
      subject: "task",
      text: "continue?",
      options: [{ value: "yes", label: "y" }],
    });
    harness.submit({ kind: "close", end: "stopped", reason: "SIGINT", exitStatus: 130, signal: "SIGINT" });
    expect(harness.of("checkpoint_recorded").map((event) => [event.trigger, event.status, event.note])).toEqual([
      ["error_encountered", "in_progress", undefined],
      ["user_requested", "in_progress", "lunch"],
      ["question_opened", "paused", undefined],
      ["shutdown", "paused", undefined],
    ]);
  });

  it("obey enabled, when and min_interval_seconds", () => {
    const flow = workflow(dag("main", [model("a"), model("b"), model("c")], { maxConcurrent: 1 }));
    const count = (rule: JsonObject) => {
      const harness = new EngineHarness(flow, { settings: withRules({ specialist_finished: rule }), stepMs: 600 });
      harness.run();
      return triggersOf(harness).filter((trigger) => trigger === "specialist_finished").length;
    };
    expect(count({})).toBe(3);
    expect(count({ enabled: false })).toBe(0);
    expect(count({ when: "'b' in step" })).toBe(1);
    expect(count({ min_interval_seconds: 1 })).toBe(2);
    expect(count({ when: "no_such_name > 1" })).toBe(3);
  });

  it("accept the seed's list of automatic triggers", () => {
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a")])])), {
      settings: withRules({ specialist_finished: { enabled: true } }, { automatic_triggers: ["phase_completed"] }),
    });
    harness.run();
    expect(triggersOf(harness)).toEqual(["specialist_finished", "phase_completed"]);
  });

  it("fire at an interval while a step runs, and under memory pressure at most once a minute", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])), {
      settings: withRules({}, { interval_seconds: 10 }),
      perform: () => undefined,
    });
    harness.start();
    for (let at = 0; at < 3; at += 1) {
      harness.nowMs += 10_000;
      harness.submit({ kind: "due" });
    }
    expect(triggersOf(harness)).toEqual(["interval", "interval", "interval"]);
    harness.memoryFraction = 0.9;
    const { id: step, attempt } = harness.step("main/a");
    for (let at = 0; at < 3; at += 1) harness.report({ type: "progress_reported", step, attempt, message: "on" });
    expect(triggersOf(harness).filter((trigger) => trigger === "memory_pressure_high")).toHaveLength(1);
    expect(harness.state.totals.memoryPeakBytes).toBe(1_000);
  });

  it("take the end of a workflow without phases for the end of its one phase, whatever its steps are", () => {
    const root = machine("main", [parallel("group", [set("a", { value: 1 }), set("b", { value: 2 })])]);
    const harness = new EngineHarness(workflow(root));
    harness.run();
    expect(harness.of("checkpoint_recorded")).toMatchObject([
      { trigger: "phase_completed", phase: 0, status: "completed" },
    ]);
    const cut = harness.crash(harness.events.findIndex(({ type }) => type === "checkpoint_recorded"));
    cut.resume();
    expect(cut.finish().end).toBe("done");
    expect(cut.of("checkpoint_recorded")).toMatchObject([{ trigger: "phase_completed", status: "completed" }]);
  });

  it("make no checkpoint of a set step", () => {
    const harness = new EngineHarness(workflow(machine("main", [set("s", { value: 1 })])));
    harness.run();
    expect(triggersOf(harness)).toEqual(["phase_completed"]);
  });
});
