import { describe, expect, it } from "vitest";
import type { ScopeDefinition } from "../../../src/definition/model/workflow.js";
import { createCountingState, type Counter } from "../../support/counting-state.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { dag, machine, model, parallel, phase, phases, workflow } from "../../support/workflow-builder.js";

const STEPS = 2_000;
const each = (make: (at: number) => ReturnType<typeof model>) =>
  Array.from({ length: STEPS }, (_unused, at) => make(at));
const chained = (at: number) =>
  model(`s${at}`, at === 0 ? {} : { dependsOn: [`s${at - 1}`], prompt: `{{ s${at - 1}.output.v }}` });

const FORMS: readonly (readonly [string, ScopeDefinition])[] = [
  ["a chain in a dag", dag("main", each(chained))],
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

/** Looks at the state's containers during each tenth of the steps. */
function countLooks(root: ScopeDefinition): readonly number[] {
  const counter: Counter = { looks: 0 };
  const harness = new EngineHarness(workflow(root), { perform: () => done({ v: 1 }) });
  harness.state = createCountingState(counter);
  harness.start();
  return Array.from({ length: 9 }, () => {
    const before = counter.looks;
    for (let step = 0; step < STEPS / 10; step += 1) harness.performOne();
    return counter.looks - before;
  });
}

describe("the cost of a step", () => {
  it.each(FORMS)("E5: does not grow with the steps done in %s", (_name, root) => {
    const looks = countLooks(root);
    expect(looks[0]).toBeGreaterThan(STEPS / 10);
    expect(looks.at(-1)).toBeLessThanOrEqual((looks[1] ?? 0) * 1.05 + 10);
  });

  it("is seen by this test to grow where a template walks over the history", () => {
    const chain = each((at) =>
      model(`s${at}`, at === 0 ? {} : { dependsOn: [`s${at - 1}`], prompt: "{{ context.history | length }}" }),
    );
    const looks = countLooks(dag("main", chain));
    expect(looks.at(-1)).toBeGreaterThan((looks[1] ?? 0) * 2);
  });
});
