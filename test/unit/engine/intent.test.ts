import { describe, expect, it } from "vitest";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { command, model, phase, phases, workflow } from "../../support/workflow-builder.js";

describe("an intent", () => {
  it("hands the outputs of earlier phases and of what it depends on to a command, the later where names are equal", () => {
    const measure = phase(1, "measure", [model("a"), model("b")]);
    const look = phase(2, "look", [model("b"), model("late", { dependsOn: ["b"] })]);
    const report = phase(3, "report", [model("draft"), model("aside"), command("author", { dependsOn: ["draft"] })]);
    const uses: Record<string, unknown> = {};
    const harness = new EngineHarness(workflow(phases("main", [measure, look, report])), {
      perform: (step, work) => {
        uses[step.path] = work["uses"];
        return done({ n: step.name });
      },
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(uses["main/report/author"]).toEqual([
      "main/measure/a",
      "main/measure/b",
      "main/look/b",
      "main/look/late",
      "main/report/draft",
    ]);
    expect(uses["main/look/late"]).toEqual(["main/look/b"]);
    expect(uses["main/measure/a"]).toEqual([]);
  });
});
