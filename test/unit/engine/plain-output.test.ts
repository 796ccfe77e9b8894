/** What a workflow gives that declares no output: what its steps gave, by name. */
import { describe, expect, it } from "vitest";
import type { NodeDefinition, ScopeDefinition } from "../../../src/definition/model/workflow.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { dag, machine, model, nested, parallel, phase, phases, workflow } from "../../support/workflow-builder.js";

const outputOf = (root: ScopeDefinition) => {
  const harness = new EngineHarness(workflow(root), { perform: ({ name }) => done(`of ${name}`) });
  expect(harness.run().exitStatus).toBe(0);
  return harness.output;
};

describe("the output of a workflow that declares none", () => {
  it.each<[string, ScopeDefinition, unknown]>([
    ["steps", dag("main", [model("report")]), { report: "of report" }],
    ["members side by side", parallel("main", [model("a"), model("b")]), { a: "of a", b: "of b" }],
    ["phases: the last one", phases("main", [phase(1, "p", [model("a")]), phase(2, "q", [model("b")])]), { b: "of b" }],
    ["steps and routes: the last step", machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]), "of b"],
  ])("is what %s gave [public 7 kin]", (_name, root, output) => {
    expect(outputOf(root)).toEqual(output);
  });

  it.each<[string, ScopeDefinition]>([
    ["steps", dag("main", [model("report")])],
    ["phases", phases("main", [phase(1, "p", [model("report")])])],
  ])("is so of a nested workflow of %s too", (_name, root) => {
    const read: NodeDefinition = model("read", { dependsOn: ["inner"], input: { it: "{{ inner.output.report }}" } });
    const harness = new EngineHarness(workflow(dag("main", [nested("inner", root), read])), {
      perform: ({ name }, work) => done(name === "read" ? (work["input"] ?? null) : `of ${name}`),
    });
    harness.run();
    expect(harness.output).toEqual({ inner: { report: "of report" }, read: { it: "of report" } });
  });

  it("leaves out what failed, which the task tells", () => {
    const root = parallel("main", [model("a"), model("b")], { failureMode: "continue_on_error" });
    const harness = new EngineHarness(workflow(root), { perform: ({ name }) => (name === "a" ? failed() : done(1)) });
    expect(harness.run()).toMatchObject({ end: "partial", exitStatus: 3 });
    expect(harness.output).toEqual({ b: 1 });
  });
});
