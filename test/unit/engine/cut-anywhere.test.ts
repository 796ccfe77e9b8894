/** What is recorded in two places is no less whole for a cut between them: histories cut after each of their events. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import type { EngineEventType } from "../../../src/engine/model/events.js";
import type { StepEntry } from "../../../src/engine/model/state.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { storyOf } from "../../support/eventful-task.js";
import { checkState } from "../../support/state-check.js";
import {
  command,
  forEach,
  gate,
  machine,
  model,
  nested,
  questions,
  set,
  terminateStep,
  undeclared,
  workflow,
} from "../../support/workflow-builder.js";

/** Every kind of choice of a machine: a wizard, a gate, a way for errors, items, a nested workflow, hooks, a limit, an end. */
const flow = () =>
  workflow(
    machine("main", [
      set("begin", { value: 1, routes: [{ to: "ask" }] }),
      questions("ask", ["name"], { routes: [{ to: "look" }] }),
      gate("look", [{ value: "approve", route: "pay" }], {}),
      command("pay", { onError: "mend", saveAs: { "pay.txt": "name" } }),
      undeclared("mend", { routes: [{ to: "each" }], input: { who: "{{ ask.output.answers.name }}" } }),
      forEach("each", model("w"), { source: "{{ [1, 2] }}", routes: [{ to: "inner" }] }),
      nested("inner", machine("main", [model("deep")]), { routes: [{ to: "stop" }] }),
      terminateStep("stop"),
    ]),
    {
      limits: { maxIterations: 7 },
      hooks: { on_start: { text: "begins" }, on_complete: { text: "ends" } },
    },
  );

function perform(step: StepEntry) {
  if (step.name === "pay") return failed("declined", { retryable: false });
  return done({ name: step.name }, step.kind === "model" ? { confidence: 0.9 } : {});
}

/** Runs to the end, each owner answering what is open. */
function settle(harness: EngineHarness): EngineHarness {
  for (let owner = 0; owner < 20; owner += 1) {
    harness.finish();
    if (harness.openQuestions.length === 0) return harness;
    harness.resume({ byPerson: true, crashed: false });
    for (const question of harness.openQuestions) {
      if (question.kind === "limit") harness.answer(question, "extend", { iterations: 20 });
      else if (question.kind === "gate") harness.answer(question, "approve");
      else if (question.kind === "questions") harness.answer(question, "answer", { name: "Ada" });
      else harness.answer(question, "rerun");
    }
  }
  throw new Error("questions without end");
}

const SKIPPED = new Set(["unknown_outcome", "repeat_step", "parked_step"]);

/** Decisions of people, but for those about a step whose outcome a crash made unknown. */
const answersOf = ({ state }: EngineHarness) =>
  state.decisions
    .filter(({ type, facts }) => type === "answer" && !SKIPPED.has(kindOf(facts?.["question"])))
    .map(({ agent, description, facts }) => [agent, description, facts]);
const kindOf = (question: JsonValue | undefined) =>
  JSON.stringify(question ?? "")
    .slice(1)
    .split(":")[0] ?? "";

describe("a history that is cut after any of its events", () => {
  it("E3: comes to the same end, with the same answers, decisions, checkpoints, files and texts told", () => {
    const whole = new EngineHarness(flow(), { perform });
    whole.start();
    settle(whole);
    expect(whole.closed).toMatchObject({ end: "done", exitStatus: 0 });
    const wanted = { ...storyOf(whole.state, whole.output), answers: answersOf(whole) };
    expect(wanted.answers.map(([agent]) => agent)).toEqual(["person:ann", "person:ann", "person:ann"]);
    expect(wanted.checkpoints.length).toBeGreaterThan(5);
    const kinds = new Set<EngineEventType>();
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      if (next.closed !== undefined && next.closed.end !== "waiting") continue;
      next.resume();
      settle(next);
      checkState(next.state);
      const type = whole.events[count - 1]!.type;
      expect(
        { ...storyOf(next.state, next.output), answers: answersOf(next) },
        `after event ${count}, ${type}`,
      ).toEqual(wanted);
      expect(next.of("hook_told")).toHaveLength(2);
      kinds.add(type);
    }
    for (const kind of ["question_answered", "question_moved", "step_completed", "step_failed", "hook_told"] as const)
      expect(kinds).toContain(kind);
  });

  it("asks nothing about a step that never ran: its intent was followed by a failure of its templates", () => {
    const broken = workflow(machine("main", [undeclared("a", { input: { x: "{{ nowhere.output }}" } })]));
    const whole = new EngineHarness(broken);
    expect(whole.run().exitStatus).toBe(4);
    const next = whole.crash(whole.events.findIndex(({ type }) => type === "step_intended") + 1);
    next.resume();
    expect(next.finish().exitStatus).toBe(4);
    expect(next.openQuestions).toEqual([]);
    expect(next.of("step_failed")).toMatchObject([{ attempt: 2, error: { code: "TEMPLATE_FAILED" } }]);
  });

  it("renders a step anew that failed to render, when a person goes on", () => {
    const broken = workflow(machine("main", [model("a", { input: { x: "{{ channel.x }}" } })]));
    const whole = new EngineHarness(broken);
    expect(whole.run().exitStatus).toBe(4);
    whole.changeChannel({ op: "set", key: "x", value: 7 });
    whole.resume();
    expect(whole.finish().exitStatus).toBe(0);
    expect(whole.step("main/a").work).toMatchObject({ inline: { input: { x: 7 } } });
  });

  it("says why it stopped where no route fits, whatever was cut off behind it", () => {
    const stuck = workflow(machine("main", [model("a", { routes: [{ to: "b", when: "{{ false }}" }] }), model("b")]));
    const whole = new EngineHarness(stuck);
    expect(whole.run().exitStatus).toBe(4);
    const reasons = (harness: EngineHarness) =>
      harness.state.decisions.filter(({ type }) => type === "no_route").length;
    expect(reasons(whole)).toBe(1);
    for (let count = 1; count < whole.events.length; count += 1) {
      const next = whole.crash(count);
      next.resume();
      next.finish();
      expect(reasons(next)).toBe(1);
    }
  });

  it("keeps a stop that an answer asks for", () => {
    const limited = workflow(machine("main", [model("a", { routes: [{ to: "a" }] })]), {
      limits: { maxIterations: 2 },
    });
    const whole = new EngineHarness(limited);
    whole.run();
    whole.resume();
    whole.answer(whole.openQuestions[0]!, "stop");
    const at = whole.events.findIndex(({ type }) => type === "question_answered");
    expect(whole.crash(at + 1).state.task?.request).toBe("stop");
  });
});
