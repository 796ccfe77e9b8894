/** A nested workflow has the limits of its own file, from nothing each time it is entered; what it uses counts above too. */
import { describe, expect, it } from "vitest";
import type { LimitsDefinition } from "../../../src/definition/model/workflow.js";
import { done, EngineHarness, type HarnessOptions } from "../../support/engine-harness.js";
import { forEach, machine, model, nested, parallel, workflow } from "../../support/workflow-builder.js";

const CALL = { calls: 1, tokensIn: 10, tokensOut: 10, costMicroUsd: 100_000 };
const perform = () => done({ n: 1 }, { usage: CALL });
const items = (count: number) => ({ items: Array.from({ length: count }, (_none, index) => index) });
const MANY = { maxIterations: 1_000 };

/** A machine whose one step goes back to itself for ever. */
const loop = () => machine("in", [model("w", { routes: [{ to: "w" }] })]);
const child = (limits: Partial<LimitsDefinition>) => nested("c", loop(), { limits: { ...MANY, ...limits } });

function run(root: Parameters<typeof workflow>[0], limits: Partial<LimitsDefinition>, options: HarnessOptions = {}) {
  const harness = new EngineHarness(workflow(root, { limits: { ...MANY, ...limits } }), { perform, ...options });
  harness.start();
  return harness;
}

describe("the limits of a nested workflow", () => {
  it.each<[string, Partial<LimitsDefinition>, string, number]>([
    ["[kinds F1] budget", { costMicroUsdMax: 250_000 }, "the budget of $0.25 of main/c is reached ($0.30 spent)", 3],
    ["[kinds F1 kin] iterations", { maxIterations: 4 }, "the limit of 4 iterations of main/c is reached (4 used)", 4],
    ["[kinds F1 kin] calls", { callsMax: 2 }, "the limit of 2 calls of main/c is reached (2 used)", 2],
    ["[kinds F1 kin] tokens", { tokensMax: 50 }, "the limit of 50 tokens of main/c is reached (60 used)", 3],
  ])("%s stop it, and say which", (_title, limits, text, calls) => {
    const harness = run(machine("main", [child(limits)]), {});
    expect(harness.finish()).toMatchObject({ end: "waiting", exitStatus: 21 });
    expect(harness.openQuestions.map((question) => question.text)).toEqual([`${text}; extend it or stop?`]);
    expect(harness.performed).toHaveLength(calls);
  });

  it("[kinds F1 kin] are raised by their own question, over a crash too", () => {
    const harness = run(machine("main", [child({ maxIterations: 4 })]), {});
    harness.performOne();
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(21);
    expect(next.performed).toHaveLength(3);
    const last = next.crash();
    last.resume();
    last.answer(last.openQuestions[0]!, "extend", { iterations: 2 });
    expect(last.finish().exitStatus).toBe(21);
    expect(last.performed).toHaveLength(2);
  });

  it("[kinds F1 kin] begin from nothing each time it is entered", () => {
    const once = nested("c", machine("in", [model("a", { routes: [{ to: "b" }] }), model("b")]), {
      limits: { maxIterations: 2, costMicroUsdMax: 250_000 },
    });
    const harness = run(forEach("main", once, { maxConcurrent: 2 }), {}, { inputs: items(6) });
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed).toHaveLength(12);
  });

  it("[kinds F1 kin] count its iterations for itself alone: thirty children of three steps end under a limit of ten", () => {
    const three = machine("in", [
      model("a", { routes: [{ to: "b" }] }),
      model("b", { routes: [{ to: "c" }] }),
      model("c"),
    ]);
    const each = forEach("each", nested("c", three, { limits: { maxIterations: 10 } }));
    const harness = run(machine("main", [each]), { maxIterations: 10 }, { inputs: items(30) });
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed).toHaveLength(90);
    expect(harness.state.totals).toMatchObject({ iterations: 90, ownIterations: 30 });
  });

  it("[kinds F1 kin] do not let a loop over a nested workflow run for ever", () => {
    const again = nested("c", machine("in", [model("a")]), { routes: [{ to: "c" }] });
    const harness = run(machine("main", [again]), { maxIterations: 5 });
    expect(harness.finish().exitStatus).toBe(21);
    expect(harness.performed).toHaveLength(5);
  });

  it("[kinds F1 kin] leave the budget around it in force, and what it spends counts there", () => {
    const harness = run(machine("main", [child({ costMicroUsdMax: 900_000 })]), { costMicroUsdMax: 400_000 });
    expect(harness.finish().exitStatus).toBe(21);
    expect(harness.openQuestions[0]?.text).toContain("the budget of $0.40 is reached");
    expect(harness.state.totals.costMicroUsd).toBe(400_000);
  });

  it("[kinds F1 kin] hold that workflow alone: those beside it go on, and each has a question of its own", () => {
    const both = parallel("main", [
      nested("few", loop(), { limits: { maxIterations: 2 } }),
      nested("more", loop(), { limits: { maxIterations: 7 } }),
    ]);
    const harness = run(both, {});
    expect(harness.finish().exitStatus).toBe(21);
    expect(harness.openQuestions.map(({ id }) => id)).toEqual(["limit:main/few:1", "limit:main/more:1"]);
    expect(harness.performed).toHaveLength(9);
  });

  it("[kinds F1 kin] note a budget that is only audited, once, and go on", () => {
    const few = nested("c", machine("in", [model("a", { routes: [{ to: "b" }] }), model("b")]), {
      limits: { ...MANY, costMicroUsdAudited: 100_000 },
    });
    const harness = run(machine("main", [few]), {});
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.state.decisions.map(({ type, description }) => [type, description])).toEqual([
      ["budget_reached", "the budget of $0.10 of main/c is reached; the task continues"],
    ]);
  });

  it("[kinds F1 kin] do not return when the task goes back", () => {
    const harness = run(machine("main", [child({ maxIterations: 3 })]), {});
    harness.performOne();
    harness.performOne();
    expect(harness.state.scopes.get("main/c")?.data).toMatchObject({ used: { ownIterations: 3, calls: 2 } });
  });
});
