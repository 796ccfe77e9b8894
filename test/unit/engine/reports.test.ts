import { describe, expect, it } from "vitest";
import { readProgress } from "../../../src/engine/runner/progress-throttle.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";
import { processOf } from "../../support/places.js";

function running(): EngineHarness {
  const harness = new EngineHarness(workflow(machine("main", [model("a")])), { perform: () => undefined });
  harness.start();
  return harness;
}

describe("reports of a running step", () => {
  it("keep progress, partial output, confidence history and blockers", () => {
    const harness = running();
    const { id: step } = harness.step("main/a");
    const told = [
      { fraction: 0.5, message: "half", partial: [1], confidence: 0.4 },
      { confidence: 0.7, blocker: "no key", fraction: "x", junk: 1 },
      { confidence: 7 },
    ];
    for (const progress of told)
      harness.report({ type: "progress_reported", step, attempt: 1, ...readProgress(progress) });
    expect(harness.step("main/a")).toMatchObject({
      progress: { fraction: 0.5, message: "half" },
      partial: { inline: [1] },
      confidenceHistory: [0.4, 0.7],
      blockers: ["no key"],
    });
  });

  it("number turns, pair tool calls, and are forgotten when the step completes", () => {
    const harness = running();
    const { id: step } = harness.step("main/a");
    for (const value of ["t1", "t2"])
      harness.report({ type: "turn_recorded", step, attempt: 1, value: { inline: value } });
    harness.report({
      type: "tool_intended",
      step,
      attempt: 1,
      call: "c",
      name: "grep",
      value: { inline: { q: 1 } },
      effects: "none",
    });
    harness.report({ type: "tool_completed", step, attempt: 1, call: "c", value: { inline: "found" } });
    expect(harness.of("turn_recorded").map((event) => event.turn)).toEqual([1, 2]);
    expect(harness.state.histories.get(step)?.tools.get("c")).toEqual({
      name: "grep",
      value: { inline: { q: 1 } },
      effects: "none",
      result: { inline: "found" },
    });
    harness.perform = () => done(1);
    harness.finish();
    expect(harness.state.histories.size).toBe(0);
  });

  it("say who answered in another model's place, for as long as the task is kept", () => {
    const harness = running();
    const { id: step } = harness.step("main/a");
    const fallback = { asked: "openai/big", answered: "ollama/small", why: "429" };
    harness.report({ type: "turn_recorded", step, attempt: 1, value: { inline: "t1" }, fallback });
    harness.report({ type: "turn_recorded", step, attempt: 1, value: { inline: "t2" } });
    expect(harness.of("turn_recorded").map((event) => event.fallback)).toEqual([fallback, undefined]);
    harness.perform = () => done(1);
    harness.finish();
    expect(harness.step("main/a").fallback).toEqual(fallback);
  });

  it("are refused from a closed attempt", () => {
    const harness = running();
    const { id: step } = harness.step("main/a");
    expect(harness.report({ type: "turn_recorded", step, attempt: 2, value: { inline: "t" } })).toEqual([]);
    harness.submit({ kind: "outcome", step, attempt: 1, outcome: done(1), durationMs: 1 });
    expect(harness.report({ type: "step_spawned", step, attempt: 1, process: processOf(1, 1, "b") })).toEqual([]);
  });

  it("change the channel: set, append, add", () => {
    const harness = running();
    const change = (op: "set" | "append" | "add", key: string, value: number | string) =>
      harness.changeChannel({ op, key, value });
    change("set", "s", "x");
    change("append", "l", 1);
    change("append", "l", 2);
    change("add", "n", 2);
    change("add", "n", 3);
    change("add", "s", 1);
    expect(Object.fromEntries(harness.state.channel)).toEqual({ s: 1, l: [1, 2], n: 5 });
  });

  it("take confidence as four parts, whose mean counts", () => {
    const harness = running();
    const parts = { knowledge: 1, information: 0.8, implementation: 0.6, validation: 0.4 };
    harness.perform = () =>
      done(1, { confidence: parts, factors: ["tests pass"], blockers: ["b"], assumptions: ["utc"] });
    harness.finish();
    expect(harness.step("main/a")).toMatchObject({
      confidence: { value: 0.7, parts, factors: ["tests pass"] },
      confidenceHistory: [0.7],
      blockers: ["b"],
      assumptions: ["utc"],
    });
  });

  it("snapshot results are kept with their checkpoint", () => {
    const harness = running();
    harness.submit({ kind: "message", message: { kind: "checkpoint", by: "ann" } });
    const [checkpoint] = harness.state.checkpoints;
    const base = { checkpointId: checkpoint!.checkpointId, seq: 1, atMs: 0 };
    harness.submit({
      kind: "snapshot_written",
      event: {
        type: "snapshot_written",
        ...base,
        file: "c.json",
        sha256: "ab",
        sizeBytes: 5,
        rawBytes: 9,
        durationMs: 1,
      },
    });
    expect(harness.state.checkpoints[0]?.snapshot).toEqual({ file: "c.json", sha256: "ab", sizeBytes: 5 });
    harness.submit({
      kind: "snapshot_written",
      event: { type: "pruned", atMs: 0, files: ["c.json"], reason: "retention" },
    });
    expect(harness.of("pruned")).toHaveLength(1);
  });
});
