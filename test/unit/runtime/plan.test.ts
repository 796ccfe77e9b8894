import { describe, expect, it } from "vitest";
import { planResume } from "../../../src/runtime/run/plan.js";
import type { ReloadedWorkflow } from "../../../src/runtime/workflow-loading.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { model, phase, phases, workflow } from "../../support/workflow-builder.js";

const flow = (second: string) =>
  workflow(phases("main", [phase(1, "p", [model("a")]), phase(2, second, [model("b")])]));

describe("the plan of a resume", () => {
  it("runs a failed step again, but not under a name that the file does not have any more", () => {
    const harness = new EngineHarness(flow("q"), { perform: ({ name }) => (name === "b" ? failed() : done(name)) });
    harness.run();
    const planFor = (second: string, changes: ReloadedWorkflow["changes"]) => {
      const reloaded = { workflow: { definition: flow(second) }, file: "f", isChanged: true, changes, notices: [] };
      return planResume(harness.state, reloaded as unknown as ReloadedWorkflow);
    };
    expect(planFor("q", [])).toMatchObject({ to_run: [], to_rerun: [{ step: "main/q/b@1.1" }] });
    for (const changes of [[{ path: "main/q", how: "renamed to main/r" }], [{ path: "main/q/b", how: "removed" }]])
      expect(planFor("r", changes)).toMatchObject({ to_run: ["main/r/b"], to_rerun: [] });
  });
});
