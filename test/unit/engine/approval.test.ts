import { describe, expect, it } from "vitest";
import type { ApprovalWish } from "../../../src/engine/model/approval-wish.js";
import { findApproval } from "../../../src/engine/rules/questions/approval.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { machine, model, parallel, workflow } from "../../support/workflow-builder.js";

const STEP = "main/agent@1.1" as never;
const WISH: ApprovalWish = { call: "1.1", tool: '["charge"]', label: "charge", isForAll: false };

/** A model step that wants to call a tool, and ends when it is let. */
function wanting(wish = WISH): EngineHarness {
  const harness = new EngineHarness(workflow(machine("main", [model("agent", {})])), { perform: () => undefined });
  harness.start();
  harness.report({ type: "turn_recorded", step: STEP, attempt: 1, value: { inline: { calls: [] } } });
  want(harness, wish, 1);
  return harness;
}

function want(harness: EngineHarness, wish: ApprovalWish, attempt: number): void {
  harness.submit({ kind: "approval_wanted", step: STEP, attempt, wish, input: { amount: 5 } });
}

describe("a call of a tool that a person must allow", () => {
  it("ends the attempt and asks, with the tool and its input", () => {
    const harness = wanting();
    expect(harness.finish()).toMatchObject({ end: "waiting", exitStatus: 20 });
    expect(harness.openQuestions).toMatchObject([
      {
        kind: "tool_approval",
        text: 'main/agent wants to call the tool charge with {"amount":5}',
        options: [{ value: "approve" }, { value: "deny", promptFor: "reason" }],
      },
    ]);
    expect(harness.step("main/agent").status).toBe("asked");
    expect(findApproval(harness.state, STEP, WISH)).toBeUndefined();
  });

  it.each([
    ["approve", undefined, { isGiven: true }],
    ["deny", { reason: "too dear" }, { isGiven: false, reason: "too dear" }],
    ["deny", undefined, { isGiven: false }],
  ] as const)("goes on at its call after %s %j", (answer, value, approval) => {
    const harness = wanting();
    harness.perform = () => done("end");
    harness.answer(harness.openQuestions[0]!, answer, value);
    expect(findApproval(harness.state, STEP, WISH)).toEqual(approval);
    expect(harness.finish().end).toBe("done");
    expect(harness.performed).toEqual(["agent#2"]);
    expect(harness.step("main/agent").failures).toBe(0);
  });

  it("is asked about once: the answer stands for this call and no other, through every crash", () => {
    const harness = wanting();
    harness.answer(harness.openQuestions[0]!, "approve");
    for (
      let kept = harness.events.length;
      kept > 0 && harness.events[kept - 1]?.type !== "question_answered";
      kept -= 1
    ) {
      const next = harness.crash(kept, { perform: () => undefined });
      next.resume();
      expect(findApproval(next.state, STEP, WISH)).toEqual({ isGiven: true });
      expect(findApproval(next.state, STEP, { ...WISH, call: "2.1" })).toBeUndefined();
      const { attempt } = next.step("main/agent");
      want(next, WISH, attempt);
      expect(next.openQuestions).toEqual([]);
      want(next, { ...WISH, call: "2.1" }, attempt);
      expect(next.openQuestions).toHaveLength(1);
    }
  });

  it("asks again after a crash between the end of the attempt and the question", () => {
    const harness = wanting();
    const opened = harness.events.findIndex(({ type }) => type === "question_opened");
    const next = harness.crash(opened, { perform: () => undefined });
    next.resume();
    expect(next.openQuestions).toEqual([]);
    want(next, WISH, next.step("main/agent").attempt);
    expect(next.openQuestions).toHaveLength(1);
  });

  it("holds for all later calls of the tool where it is asked once, and a no holds for one", () => {
    const once = { ...WISH, isForAll: true };
    const yes = wanting(once);
    yes.answer(yes.openQuestions[0]!, "approve");
    const later = { ...once, call: "7.1" };
    expect(findApproval(yes.state, "main/other@1.1" as never, later)).toEqual({ isGiven: true });
    expect(findApproval(yes.state, STEP, { ...later, tool: "delete" })).toBeUndefined();
    expect(findApproval(yes.state, STEP, { ...later, isForAll: false })).toBeUndefined();
    const no = wanting(once);
    no.answer(no.openQuestions[0]!, "deny");
    expect(findApproval(no.state, STEP, later)).toBeUndefined();
  });

  it("holds up only what waits for it", () => {
    const flow = workflow(parallel("main", [model("agent", {}), model("other", {})]));
    const harness = new EngineHarness(flow, { perform: ({ name }) => (name === "other" ? done("o") : undefined) });
    harness.start();
    want(harness, WISH, 1);
    expect(harness.finish()).toMatchObject({ end: "waiting", exitStatus: 20 });
    expect(harness.step("main/other").status).toBe("completed");
  });
});
