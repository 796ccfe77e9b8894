import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import type { EvaluationDefinition } from "../../../src/definition/model/phase-rules.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { command, model, phase, phases, scorer, workflow } from "../../support/workflow-builder.js";

const evaluate = (options: Partial<EvaluationDefinition> = {}): EvaluationDefinition => ({
  approve: 90,
  reject: 50,
  maxIterations: 5,
  weights: { quality: 1 },
  scorers: [scorer("quality")],
  ...options,
});
const decisionTypes = (harness: EngineHarness) => harness.state.decisions.map((decision) => decision.type);

describe("phases", () => {
  it("run in order, each a dag of specialists, with checkpoints at start, end and every specialist", () => {
    const research = phase(1, "research", [model("a"), model("b", { dependsOn: ["a"] })]);
    const write = phase(2, "write", [
      model("author", { input: { all: "{{ research.outputs }}", a: "{{ a.output.n }}" } }),
    ]);
    const works: JsonObject[] = [];
    const harness = new EngineHarness(workflow(phases("main", [research, write])), {
      perform: (step, work) => {
        works.push(work);
        return done({ n: step.name });
      },
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["a#1", "b#1", "author#1"]);
    expect(works[2]?.["input"]).toEqual({ all: { a: { n: "a" }, b: { n: "b" } }, a: "a" });
    expect(
      harness.of("checkpoint_recorded").map((event) => [event.seq, event.phase, event.trigger, event.status]),
    ).toEqual([
      [1, 1, "phase_started", "in_progress"],
      [2, 1, "specialist_finished", "in_progress"],
      [3, 1, "specialist_finished", "in_progress"],
      [4, 1, "phase_completed", "in_progress"],
      [5, 2, "phase_started", "in_progress"],
      [6, 2, "specialist_finished", "in_progress"],
      [7, 2, "phase_completed", "completed"],
    ]);
    expect(harness.rootOutput).toEqual({ type: "phase", outputs: { author: { n: "author" } }, errors: {} });
  });

  it("restart a failed specialist, bounded, then fail; a resume runs only what is not done", () => {
    const flow = workflow(
      phases("main", [phase(1, "p", [model("a"), model("b")], { restart: { maxAttempts: 2, otherwise: "fail" } })]),
    );
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? failed() : done("b")) });
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.performed.filter((name) => name.startsWith("a"))).toEqual(["a#1", "a#2", "a#3"]);
    expect(harness.of("step_failed").map((event) => event.disposition.action)).toEqual(["restart", "restart", "fail"]);
    const next = harness.crash(undefined, { perform: () => done("ok") });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a#4"]);
  });

  it("go on without a failed specialist where that is configured: partial, and the confidence is lower", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a"), model("b"), model("c")], { restart: { maxAttempts: 0, otherwise: "continue" } }),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step) => (step.name === "a" ? failed("gone") : done(step.name, { confidence: 0.98 })),
    });
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.82);
    expect((harness.rootOutput as JsonObject)["errors"]).toMatchObject({ a: { message: "gone" } });
  });

  it("roll back to the phase's start where that is configured: a new round, earlier phases stay, the spend stays", () => {
    let broken = 2;
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a")]),
        phase(2, "q", [model("b"), model("c", { dependsOn: ["b"] })], {
          restart: { maxAttempts: 1, otherwise: "rollback" },
        }),
      ]),
    );
    const harness = new EngineHarness(flow, {
      perform: (step) => {
        const usage = { calls: 1, tokensIn: 1, tokensOut: 1 };
        if (step.name !== "c") return done(`${step.name}${step.round}`, { usage });
        broken -= 1;
        return broken >= 0 ? failed() : done("c", { usage });
      },
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["a#1", "b#1", "c#1", "c#2", "b#1", "c#1"]);
    expect(harness.state.round).toBe(2);
    expect(harness.step("main/q/b", 1, 2).idempotencyKey).not.toBe(harness.step("main/q/b").idempotencyKey);
    expect(harness.state.totals.calls).toBe(4);
    expect((harness.rootOutput as JsonObject)["outputs"]).toEqual({ b: "b2", c: "c" });
    expect(decisionTypes(harness)).toContain("roll_back");
  });

  it("ask before an external step that was done before the roll-back is done again, and offer what it gave", () => {
    let broken = 2;
    const rule = { restart: { maxAttempts: 1, otherwise: "rollback" as const } };
    const flow = workflow(phases("main", [phase(1, "p", [command("pay"), model("c", { dependsOn: ["pay"] })], rule)]));
    const harness = new EngineHarness(flow, {
      perform: (step) => {
        if (step.name === "pay") return done({ paid: step.round });
        broken -= 1;
        return broken >= 0 ? failed() : done("c");
      },
    });
    expect(harness.run().exitStatus).toBe(20);
    expect(harness.openQuestions[0]).toMatchObject({
      kind: "repeat_step",
      offered: { paid: 1 },
      step: "main/p/pay@2.1",
    });
    const early = harness.crash(harness.events.findLastIndex((event) => event.type === "step_intended") + 1);
    early.resume();
    expect(early.finish().exitStatus).toBe(20);
    expect(early.openQuestions).toMatchObject([
      { id: "repeat_step:main/p/pay@2.1:1", kind: "repeat_step", offered: { paid: 1 } },
    ]);
    harness.resume();
    harness.answer(harness.openQuestions[0]!, "done");
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["pay#1", "c#1", "c#2", "c#1"]);
  });

  it("end partial under on_failure: continue when a phase failed, and go on with the next", () => {
    const flow = workflow(phases("main", [phase(1, "p", [model("a")]), phase(2, "q", [model("b")])]), {
      onFailure: "continue",
    });
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? failed() : done("b")) });
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.performed).toEqual(["a#1", "b#1"]);
  });

  it("on_failure: rollback ends with 4, not resumable, and says that the checkpoints are to be discarded", () => {
    const harness = new EngineHarness(
      workflow(phases("main", [phase(1, "p", [model("a")])]), { onFailure: "rollback" }),
      { perform: () => failed() },
    );
    const closed = harness.run();
    expect([closed.exitStatus, closed.resumable]).toEqual([4, false]);
    expect(harness.of("noted")[0]?.effect).toBe("discard_checkpoints");
  });
});

describe("Atlas' bands", () => {
  const run = (
    confidences: Readonly<Record<string, JsonValue>>,
    options: Partial<Parameters<typeof phase>[3] & object> = {},
  ) => {
    const harness = new EngineHarness(
      workflow(phases("main", [phase(1, "p", [model("a", { criticality: "critical" }), model("b")], options)])),
      {
        perform: (step) => {
          const said = confidences[step.name] as JsonObject | number | undefined;
          const value = typeof said === "object" ? (said["value"] as number) : (said ?? 0.95);
          return done(step.name, {
            confidence: value,
            uncertainties: typeof said === "object" ? (said["unsure"] as string[]) : [],
          });
        },
      },
    );
    harness.run();
    return harness;
  };

  it("proceed at or above 0.85, weighted by criticality", () => {
    const harness = run({ a: 0.9, b: 0.84 });
    expect(harness.closed?.exitStatus).toBe(0);
    expect(decisionTypes(harness)).toEqual(["proceed"]);
    expect(harness.state.decisions[0]).toMatchObject({ agent: "atlas", confidence: 0.88 });
    expect(harness.state.decisions[0]?.rationale).toContain("confidence 0.88 (mean 0.88), minimum 0.75");
    expect(harness.state.decisions[0]?.alternativesConsidered).toContain("halt");
  });

  it("take 0.02 per uncertainty off, at most 0.1, and flag between 0.75 and 0.85", () => {
    const harness = run({ a: { value: 0.9, unsure: ["x", "y", "z", "u", "v", "w", "q"] }, b: 0.9 });
    expect(decisionTypes(harness)).toEqual(["proceed_flagged"]);
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.8);
    expect(harness.closed?.exitStatus).toBe(0);
    expect(harness.of("checkpoint_recorded").map((event) => event.trigger)).toContain("confidence_threshold_crossed");
  });

  it("spawn one more specialist on the named uncertainties, whose confidence then stands for the helped one", () => {
    const harness = run({ a: { value: 0.65, unsure: ["which licence"] }, b: 0.9, "a-more": 0.95 });
    expect(decisionTypes(harness)).toEqual(["spawn_specialist", "proceed"]);
    expect(harness.performed).toEqual(["a#1", "b#1", "a-more#1"]);
    const spawned = harness.step("main/p/a-more");
    expect(spawned.spawnedDefinition).toMatchObject({
      name: "a-more",
      addresses: "a",
      uncertainties: ["which licence"],
    });
    expect(spawned.work).toMatchObject({ inline: { uncertainties: ["which licence"], uses: ["main/p/a"] } });
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.9333);
    expect(Object.keys((harness.rootOutput as JsonObject)["outputs"] as JsonObject)).toEqual(["a", "b", "a-more"]);
    expect(harness.closed?.exitStatus).toBe(0);
  });

  it("use the phase's spawn definition, named uniquely, and stop at spawnMax below the minimum: partial", () => {
    const harness = run({ a: 0.7, b: 0.7, helper: 0.7, "helper-2": 0.7 }, { spawn: model("helper") });
    expect(harness.performed).toEqual(["a#1", "b#1", "helper#1", "helper-2#1"]);
    expect(decisionTypes(harness)).toEqual(["spawn_specialist", "spawn_specialist", "proceed_below"]);
    expect(harness.closed?.exitStatus).toBe(3);
  });

  it("spawn several and ask between 0.50 and 0.65; the answer decides", () => {
    const harness = run({
      a: { value: 0.6, unsure: ["x"] },
      b: { value: 0.6, unsure: ["y"] },
      "a-more": 0.9,
      "b-more": 0.9,
    });
    expect([...harness.performed].sort()).toEqual(["a#1", "a-more#1", "b#1", "b-more#1"]);
    expect(harness.closed?.exitStatus).toBe(20);
    const [question] = harness.openQuestions;
    expect(question).toMatchObject({ kind: "low_confidence", phase: "main/p" });
    const next = harness.crash();
    next.resume();
    next.answer(question!, "proceed");
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual([]);
  });

  it("halt and ask below 0.50: fail stops, spawn adds one", () => {
    const halted = run({ a: 0.4, b: 0.4, "a-more": 0.95 });
    expect(decisionTypes(halted)).toEqual(["halt"]);
    expect(halted.closed?.exitStatus).toBe(20);
    const stopped = halted.crash();
    stopped.resume();
    stopped.answer(stopped.openQuestions[0]!, "fail");
    expect(stopped.finish().exitStatus).toBe(4);
    const helped = halted.crash();
    helped.resume();
    helped.answer(helped.openQuestions[0]!, "spawn");
    helped.finish();
    expect(helped.performed).toEqual(["a-more#1"]);
    expect(helped.state.phases.get("main/p")?.confidence).toBe(0.7667);
    expect(helped.closed?.exitStatus).toBe(0);
  });

  it("refuse a confidence over 1 and say what was meant", () => {
    const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", [model("a")])])), {
      perform: () => done(1, { confidence: 85 }),
    });
    expect(harness.run().reason).toContain("a confidence is 0 to 1, not 85, did you mean 0.85");
  });
});

describe("Apollo", () => {
  const judged = (
    scores: readonly (number | JsonObject)[],
    options: Partial<EvaluationDefinition> = {},
    claim?: number,
  ) => {
    const harness = new EngineHarness(
      workflow(
        phases("main", [
          phase(1, "p", [model("a", { prompt: "{{ feedback | length }}" })], { evaluate: evaluate(options) }),
        ]),
      ),
      {
        perform: (step, work) => {
          if (step.kind === "scorer") return done(scores[step.visit - 1] as JsonValue);
          return done(
            { pass: step.visit, feedback: work["prompt"] ?? null },
            claim === undefined ? {} : { confidence: claim },
          );
        },
      },
    );
    harness.run();
    return harness;
  };

  it("approves at once at or above the threshold", () => {
    const harness = judged([92]);
    expect(harness.closed?.exitStatus).toBe(0);
    expect(harness.of("score_recorded")).toMatchObject([{ dimension: "quality", score: 92, iteration: 1 }]);
    expect(harness.of("evaluation_completed")).toMatchObject([{ score: 92, verdict: "approve", best: true }]);
    expect(harness.of("checkpoint_recorded").map((event) => event.trigger)).toContain("evaluation_completed");
  });

  it("iterates with feedback and issues, with the next visit of every specialist", () => {
    const harness = judged([
      { score: 70, feedback: "shorter", issues: [{ text: "typo", where: "line 3" }, "tone"] },
      91,
    ]);
    expect(harness.performed).toEqual(["a#1", "quality#1", "a#1", "quality#1"]);
    expect(harness.of("iteration_started")[0]?.feedback).toEqual([
      "quality: shorter",
      "quality: typo (line 3)",
      "quality: tone",
    ]);
    expect(harness.step("main/p/a", 2).output).toEqual({ inline: { pass: 2, feedback: "3" } });
    expect(decisionTypes(harness)).toEqual(["iterate", "approve", "proceed"]);
  });

  it("stops after two iterations without gain and keeps the best, not the last", () => {
    const harness = judged([60, 80, 70, 75, 99]);
    expect(harness.of("evaluation_completed").map((event) => event.score)).toEqual([60, 80, 70, 75]);
    expect((harness.rootOutput as JsonObject)["outputs"]).toEqual({ a: { pass: 2, feedback: "0" } });
    expect(harness.state.outputs.get("main/p/a")?.by).toBe("main/p/a@1.2");
    expect(decisionTypes(harness)).toContain("keep_best");
    expect(harness.closed?.exitStatus).toBe(3);
  });

  it("stops at the maximum of iterations", () => {
    const harness = judged([60, 61, 62, 63, 64, 65], { maxIterations: 3 });
    expect(harness.of("evaluation_completed")).toHaveLength(3);
    expect(harness.closed?.exitStatus).toBe(3);
  });

  it("stops early above 95 even where approval asks for more", () => {
    const harness = judged([96, 99], { approve: 98 });
    expect(harness.of("evaluation_completed")).toHaveLength(1);
    expect(harness.closed?.exitStatus).toBe(0);
  });

  it("rejects below the threshold: failed; a person's resume iterates once more", () => {
    const harness = judged([40, 95]);
    expect(harness.closed?.exitStatus).toBe(4);
    expect(harness.closed?.reason).toContain("rejected");
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a#1", "quality#1"]);
  });

  it("weighs dimensions, and reads a bare number, a boolean and an object", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [model("a")], {
          evaluate: evaluate({
            approve: 80,
            weights: { quality: 0.5, security: 0.3, style: 0.2 },
            scorers: [scorer("quality"), scorer("security"), scorer("style")],
          }),
        }),
      ]),
    );
    const given: Readonly<Record<string, JsonValue>> = { quality: 80, security: true, style: { score: 50 } };
    const harness = new EngineHarness(flow, { perform: (step) => done(given[step.name] ?? step.name) });
    harness.run();
    expect(harness.of("evaluation_completed")[0]?.score).toBe(80);
  });

  it("takes a value that is no score as 0 with an issue", () => {
    const harness = judged([{ nothing: 1 }]);
    expect(harness.of("score_recorded")[0]).toMatchObject({ score: 0, issues: [{ severity: "error" }] });
    expect(harness.closed?.exitStatus).toBe(4);
  });

  it("multiplies a claim of 0.90 or more by 0.8 when quality is under 80, and flags the gap", () => {
    const harness = judged([75], { approve: 70 }, 0.95);
    const decision = harness.state.decisions.find((entry) => entry.agent === "atlas");
    expect(decision).toMatchObject({ type: "proceed_flagged", confidence: 0.76 });
    expect(decision?.rationale).toContain("a claimed 0.95 with a quality of 75: counted as 0.76");
    expect(decision?.rationale).toContain("a gap of 0.2");
  });

  it("names claims in a rationale to four digits", () => {
    const harness = judged([95], {}, 0.7207500000000001);
    const rationale = harness.state.decisions.find((entry) => entry.agent === "atlas")?.rationale;
    expect(rationale).toContain("a claimed 0.7208, measured 0.95: a gap of 0.2292");
  });

  it("rescores only what is missing after a crash", () => {
    const flow = workflow(
      phases("main", [
        phase(1, "p", [command("a")], {
          evaluate: evaluate({ weights: { x: 1, y: 1 }, scorers: [scorer("x"), scorer("y")] }),
        }),
      ]),
    );
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "y" ? undefined : done(95)) });
    harness.start();
    while (harness.performOne());
    const next = harness.crash(undefined, { perform: () => done(95) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["y#2"]);
  });
});
