/** Several judges of one dimension, and what fell since the iteration before. */
import { describe, expect, it } from "vitest";
import { done, EngineHarness } from "../../../support/engine-harness.js";
import { storyOf } from "../../../support/eventful-task.js";
import { faultsOf, loadText } from "../../../support/workflow-files.js";

const FILE = `workflow: {name: t, runtime: {provider: local}}
phases:
  - name: write
    specialists: [{name: author, prompt: write}]
    evaluate:
      approve: 90
      scorers:
        - {dimension: quality, rubric: is it good, weight: 0.5, judges: [{name: strict}, {name: kind, model: other}, {name: calm}]}
        - {dimension: length, expression: 100, weight: 0.5}
`;
/** By iteration and judge. */
const SCORES: Readonly<Record<string, readonly number[]>> = {
  "quality~strict": [60, 50, 94],
  "quality~kind": [90, 80, 96],
  "quality~calm": [75, 65, 95],
  length: [100, 100, 100],
};

async function open(): Promise<EngineHarness> {
  const { definition } = await loadText(FILE);
  return new EngineHarness(definition, {
    perform: (step) => {
      if (step.kind !== "scorer") return done({ result: `draft ${step.visit}` }, { confidence: 0.9 });
      const score = SCORES[step.name]?.[step.visit - 1] ?? 0;
      return done({ score, issues: [{ text: "dull" }], feedback: `from ${step.name}`, evidence: "quote" });
    },
  });
}

describe("several judges", () => {
  it("are heard each for itself; their mean counts, and how far they are apart is recorded", async () => {
    const harness = await open();
    harness.run();
    expect(harness.of("score_recorded").filter(({ dimension }) => dimension === "quality")[0]).toMatchObject({
      score: 75,
      spread: 30,
      judges: { strict: 60, kind: 90, calm: 75 },
      issues: [{ text: "dull" }],
      feedback: "strict: from quality~strict\nkind: from quality~kind\ncalm: from quality~calm",
    });
    const [first] = harness.state.decisions.filter(({ type }) => type === "iterate");
    expect(first?.rationale).toContain("the judges of quality are 30 points apart");
  });

  it("E3: crashed after any event ask nobody again who has answered, and come to the same end", async () => {
    const whole = await open();
    whole.start();
    whole.finish();
    const wanted = storyOf(whole.state, whole.output);
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      next.resume({ byPerson: false, crashed: true });
      next.finish();
      expect(storyOf(next.state, next.output), `after event ${count}`).toEqual(wanted);
      const completed = next.of("step_completed").map(({ step }) => step);
      expect(new Set(completed).size).toBe(completed.length);
    }
  });

  it("tell the next iteration what fell since the one before", async () => {
    const harness = await open();
    harness.run();
    const second = harness.state.decisions.filter(({ type }) => type === "iterate")[1];
    expect(second?.facts?.["regressions"]).toEqual([{ dimension: "quality", from: 75, to: 65 }]);
    expect(harness.of("iteration_started")[1]?.feedback[0]).toBe(
      "quality: fell from 75 to 65 since the iteration before; bring back what was good there",
    );
    expect(harness.of("iteration_started")[0]?.feedback[0]).not.toContain("fell");
  });

  it("are models with a rubric, with names of their own", async () => {
    const twice = FILE.replace("{name: kind, model: other}", "{name: strict}");
    expect((await faultsOf(twice)).map(({ message }) => message)).toEqual(["two judges have the same name"]);
    const command = FILE.replace("expression: 100", "expression: 100, judges: 2");
    expect((await faultsOf(command)).map(({ message }) => message)).toEqual(["judges are models with a rubric"]);
  });

  it("may be a number, also of the criteria alone", async () => {
    const text =
      "workflow: {name: t}\nphases: [{name: p, specialists: [{name: a, prompt: x}], evaluate: {criteria: clear, judges: 2}}]\n";
    const { definition } = await loadText(text);
    const phase = definition.root.scope === "phases" ? definition.root.children[0] : undefined;
    expect(phase?.evaluate?.scorers.map(({ path, judge }) => [path, judge])).toEqual([
      ["main/p/$evaluate/quality~judge-1", "judge-1"],
      ["main/p/$evaluate/quality~judge-2", "judge-2"],
    ]);
    expect(phase?.evaluate?.weights).toEqual({ quality: 1 });
  });
});
