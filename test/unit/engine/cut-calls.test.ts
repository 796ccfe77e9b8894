/** Calls of models that a kill, a limit in time or a cancellation cut off: made, and nobody knows what they used. */
import { describe, expect, it } from "vitest";
import type { StepId } from "../../../src/base/ids.js";
import { viewMetrics } from "../../../src/runtime/views/views.js";
import { EngineHarness, done, failed } from "../../support/engine-harness.js";
import { cli, machine, model, workflow } from "../../support/workflow-builder.js";

const ID = "main/ask@1.1" as StepId;
const USAGE = { calls: 1, tokensIn: 10, tokensOut: 8, costMicroUsd: 18_000 };
const begin = (harness: EngineHarness, attempt = 1): void =>
  void harness.report({ type: "call_begun", step: ID, attempt, asked: "local/m" });
const turn = (harness: EngineHarness, attempt = 1): void =>
  void harness.report({ type: "turn_recorded", step: ID, attempt, value: { inline: "t" }, usage: USAGE });

function asking(limits: object = {}, step = model("ask")): EngineHarness {
  const flow = workflow(machine("main", [step]), { limits: { maxIterations: 100, ...limits } });
  const harness = new EngineHarness(flow, { perform: () => undefined });
  harness.start();
  return harness;
}

const killed = (harness: EngineHarness): EngineHarness => {
  const next = harness.crash();
  next.resume();
  return next;
};

describe("a call of a model that a kill cut off", () => {
  it("[reliability 8] counts as begun, its tokens and price unknown", () => {
    let harness = asking();
    begin(harness);
    harness = killed(harness);
    begin(harness, 2);
    harness = killed(harness);
    begin(harness, 3);
    turn(harness, 3);
    harness.perform = () => done("fine");
    expect(harness.finish().end).toBe("done");
    expect(harness.state.totals).toMatchObject({
      calls: 3,
      tokensIn: 10,
      tokensOut: 8,
      costMicroUsd: 18_000,
      unpricedCalls: 2,
      uncountedCalls: 2,
    });
    expect(viewMetrics(harness.state)).toMatchObject({ api_calls: 3, tokens_used: 18, uncounted_calls: 2 });
    expect(harness.step("main/ask").usage).toMatchObject({ calls: 3 });
  });

  it("[reliability 8 kin] is shown before anybody resumes the task", () => {
    const harness = asking();
    begin(harness);
    expect(viewMetrics(harness.state).api_calls).toBe(0);
    expect(viewMetrics(harness.crash().state, true)).toMatchObject({
      api_calls: 1,
      unpriced_calls: 1,
      uncounted_calls: 1,
    });
  });

  it("[reliability 8 kin] counts against a limit of calls", () => {
    let harness = asking({ callsMax: 2 });
    begin(harness);
    harness = killed(harness);
    begin(harness, 2);
    harness = killed(harness);
    expect(harness.finish().exitStatus).toBe(21);
  });

  it("[reliability 8 kin] is taken for as dear as the others by a budget, and that is said", () => {
    let harness = asking({ costMicroUsdMax: 50_000 });
    begin(harness);
    turn(harness);
    begin(harness);
    harness = killed(harness);
    begin(harness, 2);
    harness = killed(harness);
    expect(harness.finish().exitStatus).toBe(21);
    expect(harness.openQuestions[0]?.text).toContain(
      "$0.05 is reached ($0.05 spent), with 2 calls of unknown size taken for as dear as the others",
    );
  });

  it("[reliability 8 kin] counts where a limit in time ended the step, and where an agent's outcome is unknown", () => {
    const timed = asking();
    begin(timed);
    timed.perform = () => failed("too long", { code: "STEP_TIMEOUT" });
    timed.performOne();
    expect(timed.state.totals).toMatchObject({ calls: 1, uncountedCalls: 1 });
    const agent = asking({}, cli("ask") as never);
    agent.report({
      type: "step_spawned",
      step: ID,
      attempt: 1,
      process: { pid: 1, startTicks: 1, bootId: "b" } as never,
    });
    begin(agent);
    expect(killed(agent).state.totals).toMatchObject({ calls: 1, uncountedCalls: 1 });
  });

  it("is none where the provider refused it", () => {
    const harness = asking();
    begin(harness);
    harness.perform = () => failed("401", { code: "MODEL_FAILED", retryable: false });
    harness.performOne();
    expect(harness.state.totals).toMatchObject({ calls: 0, uncountedCalls: 0 });
  });
});
