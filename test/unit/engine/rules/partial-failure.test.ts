/** Atlas: failed specialists. Restart, go on without, roll back, give up: each a decision, and the confidence is lower. */
import { describe, expect, it } from "vitest";
import type { PhaseScope } from "../../../../src/definition/model/workflow.js";
import type { StepDefinition } from "../../../../src/definition/model/step.js";
import { done, EngineHarness, failed, type Perform } from "../../../support/engine-harness.js";
import { checkState } from "../../../support/state-check.js";
import { command, model, phase, phases, workflow } from "../../../support/workflow-builder.js";

type Restart = PhaseScope["restart"];

function run(
  restart: Restart,
  perform: Perform,
  members: readonly StepDefinition[] = [model("a"), model("b")],
): EngineHarness {
  const harness = new EngineHarness(workflow(phases("main", [phase(1, "p", members, { restart })])), { perform });
  harness.run();
  return harness;
}
const types = (harness: EngineHarness) => harness.state.decisions.map(({ type }) => type);

/** `a` fails the given number of times. */
function failing(times: number): Perform {
  let left = times;
  return (step) => {
    if (step.name !== "a") return done(step.name, { confidence: 0.95 });
    left -= 1;
    return left >= 0 ? failed("it broke") : done("a", { confidence: 0.95 });
  };
}

describe("a failed specialist", () => {
  it("leaves a checkpoint with the failure, before it is restarted", () => {
    const harness = run({ maxAttempts: 1, otherwise: "fail" }, failing(1));
    const [failure] = harness.of("checkpoint_recorded").filter(({ trigger }) => trigger === "error_encountered");
    expect(failure?.metadata).toMatchObject({ step: "main/p/a@1.1", code: "STEP_FAILED" });
    const at = harness.events.indexOf(failure!);
    expect(harness.events.slice(0, at).findLast(({ type }) => type !== "checkpoint_recorded")?.type).toBe(
      "step_failed",
    );
    expect(harness.events.slice(at).some((event) => event.type === "step_intended")).toBe(true);
  });

  it("is restarted by a decision for each restart, and each lowers the confidence by 0.02", () => {
    const harness = run({ maxAttempts: 2, otherwise: "fail" }, failing(2));
    expect(types(harness)).toEqual(["restart_specialist", "restart_specialist", "proceed"]);
    expect(harness.state.decisions[1]).toMatchObject({
      agent: "atlas",
      subject: "main/p/a@1.1",
      rationale: "it failed: STEP_FAILED: it broke",
      facts: { restart: 2, attempt: 3 },
    });
    expect(harness.state.phases.get("main/p")?.confidence).toBe(0.91);
    expect(harness.state.decisions[2]?.rationale).toContain("after 0.04 for 2 restarts and roll-backs");
  });

  it("is restarted no more often than allowed; then the phase gives up, by a decision that says why", () => {
    const harness = run({ maxAttempts: 2, otherwise: "fail" }, failing(9));
    expect(harness.performed.filter((name) => name.startsWith("a"))).toEqual(["a#1", "a#2", "a#3"]);
    expect(types(harness)).toEqual(["restart_specialist", "restart_specialist", "give_up"]);
    expect(harness.state.decisions[2]?.rationale).toBe("a failed after 2 restarts: STEP_FAILED: it broke");
    expect(harness.closed?.exitStatus).toBe(4);
  });

  it("is not restarted where the same would come again", () => {
    const perform: Perform = (step) =>
      step.name === "a" ? failed("no such program", { code: "PROGRAM_NOT_FOUND", retryable: false }) : done("b");
    expect(run({ maxAttempts: 2, otherwise: "fail" }, perform).performed).toEqual(["a#1", "b#1"]);
  });

  it("[source 5] is gone on without and not started under another name, once restarts are used up: one decision, half of its weight in the confidence, partial", () => {
    const harness = run({ maxAttempts: 1, otherwise: "continue" }, failing(9));
    expect(types(harness)).toEqual(["restart_specialist", "go_on_without", "proceed_below"]);
    expect(harness.state.decisions[1]).toMatchObject({
      confidence: 0.705,
      effect: { kind: "go_on_without", failed: ["main/p/a@1.1"] },
      rationale: "a failed after 1 restart: STEP_FAILED: it broke; the confidence of the phase is lowered",
    });
    expect(harness.closed?.exitStatus).toBe(3);
    checkState(harness.state);
  });

  it("is not gone on without when nothing else was done", () => {
    const harness = run({ maxAttempts: 0, otherwise: "continue" }, () => failed());
    expect(types(harness)).toEqual(["give_up"]);
    expect(harness.closed?.exitStatus).toBe(4);
  });
});

describe("an added specialist that fails", () => {
  const perform: Perform = (step) =>
    step.name === "a-more" ? failed("of no help") : done(step.name, { confidence: 0.7 });

  it("fails the phase like any other; a resume starts it alone", () => {
    const harness = run({ maxAttempts: 0, otherwise: "fail" }, perform, [model("a")]);
    expect(types(harness)).toEqual(["spawn_specialist", "give_up"]);
    const next = harness.crash(undefined, { perform: () => done("x", { confidence: 0.9 }) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a-more#2"]);
  });

  it("is gone on without where that is configured: the one it was to help counts as it is", () => {
    const harness = run({ maxAttempts: 0, otherwise: "continue" }, perform, [model("a")]);
    expect(types(harness).slice(0, 2)).toEqual(["spawn_specialist", "go_on_without"]);
    expect(harness.state.decisions[1]?.confidence).toBe(0.7);
    expect(harness.closed?.exitStatus).toBe(3);
  });
});

describe("a roll-back to the phase's start", () => {
  const rollback = { maxAttempts: 1, otherwise: "rollback" as const };

  it("names every external step done since, of added specialists and earlier iterations too, and asks about each", () => {
    let broken = 2;
    const perform: Perform = (step) => {
      if (step.name === "c") {
        broken -= 1;
        return broken >= 0 ? failed() : done("c", { confidence: 0.95 });
      }
      return done(step.round, { confidence: 0.95 });
    };
    const members = [command("pay"), model("look"), command("send"), model("c", { dependsOn: ["pay", "send"] })];
    const harness = run(rollback, perform, members);
    const decision = harness.state.decisions.find(({ type }) => type === "roll_back");
    expect(decision).toMatchObject({
      agent: "atlas",
      subject: "main/p",
      facts: { round: 2, external_steps: ["main/p/pay@1.1", "main/p/send@1.1"] },
    });
    expect(harness.openQuestions.map(({ step, kind }) => [step, kind])).toEqual([
      ["main/p/pay@2.1", "repeat_step"],
      ["main/p/send@2.1", "repeat_step"],
    ]);
    expect(harness.closed?.exitStatus).toBe(20);
    harness.resume();
    for (const question of harness.openQuestions) harness.answer(question, "done");
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.state.round).toBe(2);
    expect(harness.performed.filter((name) => /pay|send/.test(name))).toEqual(["pay#1", "send#1"]);
  });

  it("lowers the confidence by 0.02, is bounded, and then the phase gives up", () => {
    const once = run(rollback, failing(2));
    expect(types(once)).toEqual(["restart_specialist", "roll_back", "proceed"]);
    expect(once.state.phases.get("main/p")?.confidence).toBe(0.93);
    const never = run(rollback, failing(99));
    expect(types(never)).toEqual(["restart_specialist", "roll_back", "restart_specialist", "give_up"]);
    expect(never.state.decisions.at(-1)?.rationale).toContain("it was rolled back 1 time");
    expect(never.closed?.exitStatus).toBe(4);
  });

  it("withdraws what was asked about the phase", () => {
    const perform: Perform = (step) => {
      if (step.name !== "a") return step.round === 1 ? failed() : done("x", { confidence: 0.95 });
      return done("a", { confidence: step.round === 1 ? 0.55 : 0.95 });
    };
    const harness = run({ maxAttempts: 0, otherwise: "rollback" }, perform, [model("a")]);
    expect(types(harness)).toEqual(["spawn_specialists", "roll_back", "proceed"]);
    expect(harness.openQuestions).toEqual([]);
    expect([...harness.state.questions.values()]).toMatchObject([{ status: "consumed", answer: "withdrawn" }]);
    expect(harness.state.unsettled.size).toBe(0);
    expect(harness.closed?.exitStatus).toBe(0);
  });
});
