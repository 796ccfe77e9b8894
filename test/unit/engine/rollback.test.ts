/** Going back to a checkpoint names every external step that may have acted since. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { encodeForReturn } from "../../../src/engine/fold/restore-state.js";
import { EngineHarness, done } from "../../support/engine-harness.js";
import { command, machine, workflow } from "../../support/workflow-builder.js";

/** Three owners crashed at `pay` without progress, so it is parked; `state` is of the time before. */
function createParked(pay: object, isSpawned: boolean): { readonly harness: EngineHarness; readonly state: JsonValue } {
  const steps = [command("look", { effects: "none", routes: [{ to: "pay" }] }), command("pay", pay)];
  let harness = new EngineHarness(workflow(machine("main", steps)), {
    perform: (step) => (step.name === "look" ? done(1) : undefined),
  });
  harness.start();
  const state = encodeForReturn(harness.state);
  harness.performOne();
  for (let owner = 0; owner < 3; owner += 1) {
    if (isSpawned) harness.performOne();
    harness = harness.crash();
    harness.resume();
  }
  expect(harness.finish()).toMatchObject({ end: "waiting", exitStatus: 14 });
  expect(harness.step("main/pay")).toMatchObject({ status: "parked", effects: "external" });
  return { harness, state };
}

function goBack({ harness, state }: ReturnType<typeof createParked>): EngineHarness {
  const [to] = harness.state.checkpoints;
  if (to === undefined) throw new Error("the task has no checkpoint");
  const next = harness.crash(undefined, { perform: (step) => done(step.name) });
  next.resume({ goBack: { to, state, done: new Set(), by: "ann" } });
  return next;
}

const namedIn = (harness: EngineHarness) => harness.of("rolled_back")[0]?.decision?.facts?.["external_steps"];

describe("a return to a checkpoint", () => {
  it("[reliability E08] names an external step that was parked, and asks before that step runs again", () => {
    const next = goBack(createParked({ effects: "external" }, false));
    expect(namedIn(next)).toEqual(["main/pay@1.1"]);
    expect(next.finish()).toMatchObject({ end: "waiting", exitStatus: 20 });
    expect(next.performed).toEqual(["look#1"]);
    expect(next.openQuestions).toMatchObject([{ kind: "repeat_step", step: "main/pay@2.1" }]);
  });

  it("[reliability E08] names a parked step that may run again unasked, too", () => {
    const next = goBack(createParked({ effects: "external", onUnknown: "rerun" }, true));
    expect(namedIn(next)).toEqual(["main/pay@1.1"]);
    expect(next.finish().end).toBe("done");
  });
});
