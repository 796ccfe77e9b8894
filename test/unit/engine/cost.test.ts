import { describe, expect, it } from "vitest";
import type { ScopeDefinition } from "../../../src/definition/workflow.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { dag, machine, model, parallel, phase, phases, workflow } from "../../support/workflow-builder.js";

const STEPS = 5_000;
const each = (make: (at: number) => ReturnType<typeof model>) =>
  Array.from({ length: STEPS }, (_unused, at) => make(at));

const FORMS: readonly (readonly [string, ScopeDefinition])[] = [
  [
    "a chain in a dag",
    dag(
      "main",
      each((at) => model(`s${at}`, at === 0 ? {} : { dependsOn: [`s${at - 1}`], prompt: `{{ s${at - 1}.output.v }}` })),
    ),
  ],
  [
    "a wide group",
    parallel(
      "main",
      each((at) => model(`s${at}`)),
      { maxConcurrent: 16 },
    ),
  ],
  [
    "a machine",
    machine(
      "main",
      each((at) => model(`s${at}`, { routes: at + 1 < STEPS ? [{ to: `s${at + 1}` }] : [] })),
    ),
  ],
  [
    "a loop of two steps",
    machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { routes: [{ to: "a" }] })]),
  ],
  [
    "a phase",
    phases("main", [
      phase(
        1,
        "p",
        each((at) => model(`s${at}`)),
        { maxConcurrent: 4 },
      ),
    ]),
  ],
];

describe("the cost of a step", () => {
  it.each(FORMS)("E5: does not grow with the steps done in %s", { timeout: 60_000 }, (_name, root) => {
    const harness = new EngineHarness(workflow(root), { perform: () => done({ v: 1 }) });
    harness.start();
    const part = STEPS / 10;
    const times: number[] = [];
    for (let at = 0; at < 10; at += 1) {
      const startedAt = performance.now();
      for (let step = 0; step < part; step += 1) harness.performOne();
      times.push(performance.now() - startedAt);
    }
    // The first parts warm the compiler up; the best of each half is compared, with room for a busy machine.
    const early = Math.min(...times.slice(2, 5));
    const late = Math.min(...times.slice(7));
    expect(late).toBeLessThan(early * 2 + 2);
    expect(harness.state.totals.steps).toBeGreaterThanOrEqual(STEPS);
  });
});
