import { describe, expect, it } from "vitest";
import type { Effects, OnUnknown } from "../../../src/definition/model/values.js";
import type { StepReport } from "../../../src/engine/model/input.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";

const STEP = "main/agent@1.1" as never;
const flow = (onUnknown?: OnUnknown) =>
  workflow(machine("main", [model("agent", onUnknown === undefined ? {} : { onUnknown })]));

const intended = (effects: Effects, attempt = 1): StepReport => ({
  type: "tool_intended",
  step: STEP,
  attempt,
  call: "1.1",
  name: "charge",
  value: { inline: { amount: 5 } },
  effects,
});

/** A model step that was calling a tool when its process died. */
function killInTool(effects: Effects, onUnknown?: OnUnknown): EngineHarness {
  const harness = new EngineHarness(flow(onUnknown), { perform: () => undefined });
  harness.start();
  harness.report({ type: "turn_recorded", step: STEP, attempt: 1, value: { inline: { calls: [] } } });
  harness.report(intended(effects));
  return harness.crash(harness.events.length, { perform: () => done("end") });
}

const toolOf = (harness: EngineHarness) => harness.state.histories.get(STEP)?.tools.get("1.1");

describe("a tool call that a crash left open", () => {
  it("is made again without asking when the tool is harmless", () => {
    for (const effects of ["none", "idempotent"] as const) {
      const next = killInTool(effects);
      next.resume();
      expect(next.finish().end).toBe("done");
      expect(next.performed).toEqual(["agent#2"]);
    }
  });

  it("is asked about when the tool acts on the world, and nothing runs until then", () => {
    const next = killInTool("external");
    next.resume();
    expect(next.finish()).toMatchObject({ end: "waiting", exitStatus: 22 });
    expect(next.performed).toEqual([]);
    expect(next.openQuestions[0]).toMatchObject({
      kind: "unknown_outcome",
      text: "main/agent was calling the tool charge and its result was not recorded: the tool may or may not have acted",
      about: { kind: "call", tool: "charge", call: "1.1" },
    });
  });

  it("rerun: the call counts as not made, and the step goes on", () => {
    const next = killInTool("external");
    next.resume();
    next.answer(next.openQuestions[0]!, "rerun");
    expect(toolOf(next)).toBeUndefined();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["agent#2"]);
  });

  it("done: the given value is the result of the call, not of the step", () => {
    const next = killInTool("external");
    next.resume();
    next.answer(next.openQuestions[0]!, "done", { receipt: 7 });
    expect(toolOf(next)?.result).toEqual({ inline: { value: { receipt: 7 } } });
    expect(next.finish().end).toBe("done");
    expect(next.step("main/agent").output).toEqual({ inline: "end" });
  });

  it("skip: the model is told that nobody knows", () => {
    const next = killInTool("external");
    next.resume();
    next.answer(next.openQuestions[0]!, "skip");
    expect(toolOf(next)?.result).toEqual({
      inline: { error: "the outcome of this call is unknown, and it is not made again" },
    });
    expect(next.finish().end).toBe("done");
  });

  it("fail: the step fails", () => {
    const next = killInTool("external");
    next.resume();
    next.answer(next.openQuestions[0]!, "fail");
    expect(next.finish().end).toBe("failed");
  });

  it("follows on_unknown without asking", () => {
    const again = killInTool("external", "rerun");
    again.resume();
    expect(again.finish().end).toBe("done");
    const skipped = killInTool("external", "skip");
    skipped.resume();
    expect(toolOf(skipped)?.result).toBeDefined();
    expect(skipped.finish().end).toBe("done");
    const failing = killInTool("external", "fail");
    failing.resume();
    expect(failing.finish().end).toBe("failed");
  });

  it("is asked about before a retry too, e.g. after a timeout in the middle of the call", () => {
    const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 0, delayMsMax: 0, jitter: 0 } as const;
    const harness = new EngineHarness(workflow(machine("main", [model("agent", { retry })])), {
      perform: (_step, _work, running) => {
        running.report(intended("external"));
        return failed("too slow", { code: "STEP_TIMEOUT" });
      },
    });
    expect(harness.run()).toMatchObject({ end: "waiting", exitStatus: 22 });
    expect(harness.performed).toEqual(["agent#1"]);
    expect(harness.openQuestions.map(({ about }) => about)).toMatchObject([{ kind: "call", tool: "charge" }]);
  });
});
