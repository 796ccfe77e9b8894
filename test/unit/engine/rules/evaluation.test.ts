/** Apollo: scores, verdicts, iterations, and which of them is kept. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/base/json.js";
import { EVALUATION_ITERATIONS, WEIGHTS } from "../../../../src/definition/model/defaults.js";
import type { EvaluationDefinition } from "../../../../src/definition/model/phase-rules.js";
import type { PhaseScope } from "../../../../src/definition/model/workflow.js";
import { chooseIteration, computeScore, judgeScore } from "../../../../src/engine/rules/phases/evaluation.js";
import { done, EngineHarness, failed } from "../../../support/engine-harness.js";
import { checkState } from "../../../support/state-check.js";
import { BANDS, model, phase, phases, scorer, workflow } from "../../../support/workflow-builder.js";

const evaluate = (options: Partial<EvaluationDefinition> = {}): EvaluationDefinition => ({
  approve: 90,
  reject: 50,
  maxIterations: 5,
  weights: { quality: 1 },
  scorers: [scorer("quality")],
  ...options,
});
const scored = (score: number) => ({ score, issues: [] });

describe("a score", () => {
  it("weighs quality 0.4, performance 0.3, security 0.2 and confidence 0.1 unless told otherwise", () => {
    expect(WEIGHTS).toEqual({ quality: 0.4, performance: 0.3, security: 0.2, confidence: 0.1 });
    const scores = { quality: scored(90), performance: scored(80), security: scored(70), confidence: scored(60) };
    expect(computeScore(evaluate({ weights: WEIGHTS }), scores)).toBe(80);
  });

  it("is the mean of what was scored: a dimension without a score does not count", () => {
    expect(computeScore(evaluate({ weights: { x: 0.6, y: 0.4 } }), { x: scored(90) })).toBe(90);
    expect(computeScore(evaluate({ weights: { x: 3, y: 1 } }), { x: scored(100), y: scored(60) })).toBe(90);
  });

  it.each([
    [100, "approve"],
    [90, "approve"],
    [89.99, "iterate"],
    [50, "iterate"],
    [49.99, "reject"],
    [0, "reject"],
  ])("of %d is a verdict of %s", (score, verdict) => {
    expect(judgeScore(evaluate(), score)).toBe(verdict);
  });

  it.each([
    [95, "iterate"],
    [95.01, "approve"],
  ])("of %d is %s where approval asks for 98: above 95 it stops early", (score, verdict) => {
    expect(judgeScore(evaluate({ approve: 98 }), score)).toBe(verdict);
  });
});

describe("what follows from a verdict", () => {
  const after = (at: Partial<Parameters<typeof chooseIteration>[1]>) =>
    chooseIteration(evaluate(), {
      iteration: 1,
      verdict: "iterate",
      withoutGain: 0,
      score: 70,
      bestScore: 70,
      ...at,
    });

  it("is another iteration up to the fifth, which is the last", () => {
    expect(EVALUATION_ITERATIONS).toBe(5);
    expect(after({ iteration: 4 }).follow).toBe("iterate");
    expect(after({ iteration: 5 })).toMatchObject({ follow: "stop", judged: "exhausted" });
  });

  it("is the end after two in a row without gain", () => {
    expect(after({ iteration: 3, withoutGain: 1 }).follow).toBe("iterate");
    expect(after({ iteration: 3, withoutGain: 2 })).toMatchObject({ follow: "stop", judged: "exhausted" });
  });

  it("is rejection only where no iteration was better", () => {
    expect(after({ verdict: "reject", score: 49, bestScore: 49 })).toMatchObject({ judged: "rejected" });
    expect(after({ iteration: 2, verdict: "reject", score: 49, bestScore: 70 }).follow).toBe("iterate");
  });

  it("says of an early stop that it is one", () => {
    const early = { iteration: 1, verdict: "approve" as const, withoutGain: 0, score: 96, bestScore: 96 };
    expect(chooseIteration(evaluate({ approve: 98 }), early)).toMatchObject({ why: "it is above 95" });
  });
});

/** A phase whose specialist `a` writes a file, and whose scorer gives the scores in turn; a phase after it reads both. */
function judged(scores: readonly JsonValue[], options: Partial<PhaseScope> = {}): EngineHarness {
  const specialist = model("a", { saveAs: { "draft.md": "text" } });
  const flow = workflow(
    phases("main", [
      phase(1, "p", [specialist, model("b", { dependsOn: ["a"] })], { evaluate: evaluate(), ...options }),
      phase(2, "q", [model("reader", { input: { seen: "{{ a.output.pass }}" } })]),
    ]),
  );
  const harness = new EngineHarness(flow, {
    perform: (step, work) => {
      if (step.kind === "scorer") return done(scores[step.visit - 1] ?? 0);
      if (step.name === "reader") return done(work["input"] ?? null);
      if (step.name !== "a") return done(step.visit, { confidence: 0.95 });
      return done({ pass: step.visit, text: `draft ${step.visit}` }, { confidence: 0.95 });
    },
  });
  harness.run();
  return harness;
}
const judgements = (harness: EngineHarness) =>
  harness.state.decisions.filter(({ agent }) => agent === "apollo").map(({ type }) => type);

describe("iterations", () => {
  it("are five at most", () => {
    const harness = judged([60, 61, 62, 63, 64, 99]);
    expect(harness.of("evaluation_completed").map(({ score }) => score)).toEqual([60, 61, 62, 63, 64]);
    expect(judgements(harness)).toEqual(["iterate", "iterate", "iterate", "iterate", "keep_best"]);
    expect(harness.closed?.exitStatus).toBe(3);
  });

  it("keep the best: later steps, the phase's value and its files are those of that iteration", () => {
    const harness = judged([60, 80, 70, 75, 99]);
    expect(harness.of("evaluation_completed").map(({ best }) => best)).toEqual([true, true, false, false]);
    expect(harness.rootOutput).toMatchObject({ outputs: { reader: { seen: 2 } } });
    const left = harness.of("scope_left").find(({ path }) => path === "main/p");
    expect(left?.output).toMatchObject({ inline: { outputs: { a: { pass: 2 }, b: 2 } } });
    const [file] = left?.saved ?? [];
    expect(file).toMatchObject({ file: "phases/phase1/draft.md", content: { inline: "draft 2" } });
    expect(harness.state.deliverables.get("phases/phase1/draft.md")?.content).toEqual({ inline: "draft 2" });
  });

  it("take an equal score for no gain: the first one is kept", () => {
    const harness = judged([70, 70, 70, 99]);
    expect(judgements(harness)).toEqual(["iterate", "iterate", "keep_best"]);
    expect(harness.rootOutput).toMatchObject({ outputs: { reader: { seen: 1 } } });
  });

  it("write no file again where the last one is the best", () => {
    const harness = judged([60, 95]);
    expect(harness.of("scope_left").map(({ saved }) => saved)).toEqual([undefined, undefined, undefined]);
    expect(harness.state.deliverables.get("phases/phase1/draft.md")?.content).toEqual({ inline: "draft 2" });
  });

  it("keep a better earlier one over one under the edge of rejection", () => {
    const harness = judged([70, 40, 45]);
    expect(judgements(harness)).toEqual(["iterate", "iterate", "keep_best"]);
    expect(harness.rootOutput).toMatchObject({ outputs: { reader: { seen: 1 } } });
  });

  it("name the other choices in each decision, never the one that was made", () => {
    for (const scores of [[95], [40], [60, 60, 60]]) {
      for (const { type, alternativesConsidered } of judged(scores).state.decisions) {
        expect(alternativesConsidered.length, type).toBeGreaterThan(0);
        expect(alternativesConsidered).not.toContain(type);
      }
    }
  });

  it("stop at a rejection; a crash right after it asks for nothing more, a person's resume for one more", () => {
    const harness = judged([40, 95]);
    expect(harness.closed?.exitStatus).toBe(4);
    const rejected = harness.events.findIndex(
      (event) => event.type === "decision_made" && event.decision.type === "reject",
    );
    const crashed = harness.crash(rejected + 1);
    crashed.resume();
    expect(crashed.finish()).toMatchObject({ exitStatus: 4 });
    expect(crashed.performed).toEqual([]);
    const resumed = harness.crash();
    resumed.resume();
    expect(resumed.finish().exitStatus).toBe(0);
    expect(judgements(resumed)).toEqual(["reject", "approve"]);
    expect(resumed.state.decisions.map(({ type }) => type)).toContain("iterate");
  });

  it("give the best one's failures, not the last one's", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a"), model("b")], {
          evaluate: evaluate({ maxIterations: 2 }),
          restart: { maxAttempts: 0, otherwise: "continue" },
        }),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step) => {
        if (step.kind === "scorer") return done(step.visit === 1 ? 80 : 60);
        return step.name === "b" && step.visit === 2 ? failed("late") : done(step.visit);
      },
    });
    harness.run();
    checkState(harness.state);
    expect(harness.rootOutput).toEqual({ type: "phase", outputs: { a: 1, b: 1 }, errors: {} });
  });

  it("do not carry over what the best one did not reach", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a"), model("b", { dependsOn: ["a"] }), model("c")], {
          evaluate: evaluate({ maxIterations: 2 }),
          restart: { maxAttempts: 0, otherwise: "continue" },
          confidence: { minimum: 0.5, bands: BANDS, spawnMax: 0 },
        }),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step) => {
        if (step.kind === "scorer") return done(step.visit === 1 ? 60 : 80);
        return step.name === "a" && step.visit === 2 ? failed("late") : done(step.visit, { confidence: 0.99 });
      },
    });
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.rootOutput).toMatchObject({
      outputs: { c: 2 },
      errors: { a: { message: "late" } },
      unreached: ["b"],
    });
    expect(harness.state.outputs.has("main/p/b")).toBe(false);
  });

  it("let an added specialist work on the best one", () => {
    const harness = new EngineHarness(
      workflow(phases("main", [phase(1, "p", [model("a")], { evaluate: evaluate({ maxIterations: 2 }) })])),
      {
        perform: (step) => {
          if (step.kind === "scorer") return done(step.visit === 1 ? 80 : 60);
          return done(step.visit, { confidence: step.name === "a" ? 0.7 : 0.9 });
        },
      },
    );
    harness.run();
    expect(harness.performed).toEqual(["a#1", "quality#1", "a#1", "quality#1", "a-more#1"]);
    expect(harness.state.outputs.get("main/p/a")?.by).toBe("main/p/a@1.1");
    expect((harness.rootOutput as JsonObject)["outputs"]).toMatchObject({ a: 1 });
  });
});

describe("scorers that fail", () => {
  const flow = (otherwise: "fail" | "continue", dimensions = ["x", "y"]) =>
    workflow(
      phases("main", [
        phase(1, "p", [model("a")], {
          evaluate: evaluate({
            weights: Object.fromEntries(dimensions.map((name) => [name, 1 / dimensions.length])),
            scorers: dimensions.map((name) => scorer(name)),
          }),
          restart: { maxAttempts: 1, otherwise },
        }),
      ]),
    );

  it("are restarted, and rescored alone", () => {
    let broken = 1;
    const harness = new EngineHarness(flow("fail"), {
      perform: (step) => (step.name === "x" && broken-- > 0 ? failed() : done(step.kind === "scorer" ? 95 : "a")),
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["a#1", "x#1", "y#1", "x#2"]);
    expect(harness.state.decisions.map(({ type }) => type)).toContain("restart_specialist");
  });

  it("fail the phase when restarts are used up; a resume rescores only what is missing", () => {
    const harness = new EngineHarness(flow("fail"), {
      perform: (step) => (step.name === "x" ? failed("no linter") : done(step.kind === "scorer" ? 95 : "a")),
    });
    expect(harness.run()).toMatchObject({ exitStatus: 4 });
    const next = harness.crash(undefined, { perform: () => done(95) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["x#3"]);
    expect(next.of("score_recorded").map(({ dimension }) => dimension)).toEqual(["x", "y"]);
  });

  it("are gone on without where that is configured: the others count alone, the phase is partial", () => {
    const harness = new EngineHarness(flow("continue"), {
      perform: (step) => (step.name === "x" ? failed("no linter") : done(step.kind === "scorer" ? 95 : "a")),
    });
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.of("evaluation_completed")).toMatchObject([{ score: 95, verdict: "approve" }]);
  });

  it("leave a phase unjudged when none gave a score: that is no rejection", () => {
    const harness = new EngineHarness(flow("continue", ["x"]), {
      perform: (step) => (step.kind === "scorer" ? failed("no linter") : done("a", { confidence: 0.9 })),
    });
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.of("evaluation_completed")).toEqual([]);
    expect(judgements(harness)).toEqual(["go_on_unjudged"]);
    expect(harness.rootOutput).toMatchObject({ outputs: { a: "a" } });
  });
});
