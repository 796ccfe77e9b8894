/** Failed sub-steps in the state: a crash keeps all of them, a failure of the step forgets those it is due to. */
import { describe, expect, it } from "vitest";
import type { StepId } from "../../../src/base/ids.js";
import { EngineHarness, failed } from "../../support/engine-harness.js";
import { undeclared, machine, workflow } from "../../support/workflow-builder.js";

const STEP = "main/order@1.1" as StepId;
const FAILURE = { name: "Error", message: "declined" };

function ordering(): EngineHarness {
  const step = undeclared("order", {
    effects: "none",
    retry: { maxAttempts: 2, backoff: "fixed", delayMs: 1, delayMsMax: 1, jitter: 0 },
  });
  const harness = new EngineHarness(workflow(machine("main", [step])), { perform: () => undefined });
  harness.start();
  return harness;
}

const report = (harness: EngineHarness, type: "substep_intended" | "substep_failed", name: string, attempt = 1) =>
  harness.report({
    type,
    step: STEP,
    attempt,
    name,
    ...(type === "substep_failed" ? { failure: FAILURE } : {}),
  } as never);
const fail = (harness: EngineHarness, name: string): void => {
  report(harness, "substep_intended", name);
  report(harness, "substep_failed", name);
};
const remembered = ({ state }: EngineHarness): string[] => [...(state.histories.get(STEP)?.substeps.keys() ?? [])];

describe("the failure of a sub-step", () => {
  it("[public B kin] is there for the next attempt after a crash, handled or not", () => {
    const harness = ordering();
    fail(harness, "card");
    const next = harness.crash();
    next.resume();
    expect(next.state.histories.get(STEP)?.substeps.get("card")).toMatchObject({ done: true, failure: FAILURE });
  });

  it("[public B kin] stays over a retry where the function went on after it", () => {
    const harness = ordering();
    fail(harness, "card");
    fail(harness, "invoice");
    harness.perform = () => failed();
    harness.performOne();
    // The second one is what the step failed of: a retry is for that.
    expect(remembered(harness)).toEqual(["card"]);
  });

  it("[public B kin] stays where the function told a milestone after it", () => {
    const harness = ordering();
    fail(harness, "card");
    harness.report({ type: "milestone_reached", step: STEP, attempt: 1, name: "unpaid", state: { inline: null } });
    harness.perform = () => failed();
    harness.performOne();
    expect(remembered(harness)).toEqual(["card"]);
  });

  it("runs again with a retry where it ended the step, with all that failed beside it", () => {
    const harness = ordering();
    report(harness, "substep_intended", "a");
    report(harness, "substep_intended", "b");
    report(harness, "substep_failed", "a");
    report(harness, "substep_failed", "b");
    harness.perform = () => failed();
    harness.performOne();
    expect(remembered(harness)).toEqual([]);
  });
});
