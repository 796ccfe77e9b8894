import { describe, expect, it } from "vitest";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { command, model, phase, phases, scorer, workflow } from "../../support/workflow-builder.js";

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

  it("gives a model texts, also where a prompt is one whole expression over a value of another type", () => {
    const works: Record<string, unknown>[] = [];
    const whole = "{{ workflow.input.topic }}";
    const ask = model("ask", {
      prompt: whole,
      systemPrompt: "{{ workflow.input.count }}",
      model: "{{ workflow.input.count }}",
    });
    const rubric = scorer("quality", { scorer: { by: "model", provider: "scripted", rubric: whole } });
    const evaluate = { approve: 90, reject: 10, maxIterations: 1, weights: { quality: 1 }, scorers: [rubric] };
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [ask], { evaluate })])), {
      inputs: { topic: { title: "Bikes", tags: [1, true, null] }, count: 4 },
      perform: (step, work) => {
        works.push(work);
        return done(step.kind === "scorer" ? { score: 95 } : "x");
      },
    });
    expect(harness.run().exitStatus).toBe(0);
    const text = "{'title': 'Bikes', 'tags': [1, True, None]}";
    expect(works[0]).toMatchObject({ prompt: text, system_prompt: "4", model: "4" });
    expect(works[1]).toMatchObject({ rubric: text });
  });
});
