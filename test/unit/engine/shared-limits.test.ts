import { describe, expect, it } from "vitest";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { forEach, machine, model, nested, wait, workflow } from "../../support/workflow-builder.js";

/** Each call costs 0.30 dollars. */
const dear = { calls: 1, tokensIn: 10, tokensOut: 10, costMicroUsd: 300_000 };
const items = (count: number) => ({ items: Array.from({ length: count }, (_none, index) => index) });

describe("FAULTS 17: one budget for the items of a for_each and what is nested in them", () => {
  const flow = (maxConcurrent: number) =>
    workflow(machine("main", [forEach("each", nested("sub", machine("in", [model("ask")])), { maxConcurrent })]), {
      limits: { maxIterations: 100, costMicroUsdMax: 900_000 },
    });
  const calls = ({ performed }: EngineHarness) => performed.length;
  const perform = () => done(1, { usage: dear });

  it("stops before the fourth call, over a crash after the second too, and goes on by what it is raised", () => {
    const harness = new EngineHarness(flow(1), { inputs: items(10), perform });
    harness.start();
    harness.performOne();
    harness.performOne();
    const second = harness.crash();
    second.resume();
    expect(second.finish().exitStatus).toBe(21);
    expect([calls(harness), calls(second)]).toEqual([2, 1]);
    const third = second.crash();
    third.resume();
    third.answer(third.openQuestions[0]!, "extend", { cost_micro_usd: 900_000 });
    expect(third.finish().exitStatus).toBe(21);
    expect(calls(third)).toBe(3);
    expect(third.state.totals.costMicroUsd).toBe(1_800_000);
  });

  it("is passed by no more than the calls that were under way before any price was known", () => {
    const harness = new EngineHarness(flow(8), { inputs: items(20), perform });
    expect(harness.run().exitStatus).toBe(21);
    expect(calls(harness)).toBe(8);
    expect(harness.state.totals.costMicroUsd).toBe(8 * 300_000);
  });
});

describe("a wait in a nested workflow in an item", () => {
  const flow = workflow(
    machine("main", [
      forEach(
        "each",
        nested("sub", machine("in", [wait("rest", "10s", { routes: [{ to: "then" }] }), model("then")])),
        {
          maxConcurrent: 2,
        },
      ),
    ]),
  );

  it("ends when it was to end, whatever was killed meanwhile", () => {
    const harness = new EngineHarness(flow, { inputs: items(2), sleepMsMax: 60_000 });
    harness.start();
    const dueAtMs = harness.step("main/each/sub[1]/in/rest").dueAtMs ?? 0;
    expect(dueAtMs - harness.nowMs).toBe(10_000);
    harness.nowMs += 6_000;
    const next = harness.crash();
    next.nowMs = harness.nowMs;
    next.resume();
    expect(next.step("main/each/sub[1]/in/rest").dueAtMs).toBe(dueAtMs);
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["then#1", "then#1"]);
    expect(next.step("main/each/sub[1]/in/rest").output).toEqual({ inline: { waited_seconds: 10 } });
    expect(next.nowMs).toBeLessThan(dueAtMs + 1_000);
  });
});
