import { describe, expect, it } from "vitest";
import type { ScopeDefinition } from "../../../src/definition/model/workflow.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import {
  command,
  dag,
  gate,
  machine,
  model,
  phase,
  phases,
  undeclared,
  workflow,
} from "../../support/workflow-builder.js";

/** Runs the old form until it fails or is cut, then goes on with the new one. */
function change(old: ScopeDefinition, now: ScopeDefinition, isBroken: (name: string) => boolean): EngineHarness {
  const harness = new EngineHarness(workflow(old), {
    perform: (step) => (isBroken(step.name) ? failed() : done(step.name)),
  });
  harness.run();
  const next = harness.crash(undefined, {
    perform: (step, work) => done({ ran: step.name, saw: work["prompt"] ?? null }),
  });
  next.resume({ definition: workflow(now) });
  checkState(next.state);
  next.finish();
  checkState(next.state);
  return next;
}

describe("a changed definition", () => {
  it("renders a failed step anew, with another key, and keeps finished steps", () => {
    const next = change(
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { prompt: "old", fingerprint: "1" })]),
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b", { prompt: "new", fingerprint: "2" })]),
      (name) => name === "b",
    );
    expect(next.closed?.end).toBe("done");
    expect(next.performed).toEqual(["b#2"]);
    expect(next.step("main/b").output).toEqual({ inline: { ran: "b", saw: "new" } });
  });

  it("forgets a phase that was under way under a name that is gone, and keeps one that was left", () => {
    const next = change(
      phases("main", [phase(1, "p", [model("a")]), phase(2, "q", [model("b")])]),
      phases("main", [phase(1, "p", [model("a")]), phase(2, "r", [model("b")])]),
      (name) => name === "b",
    );
    expect([...next.state.phases.values()].map(({ name, status }) => [name, status])).toEqual([
      ["p", "done"],
      ["r", "done"],
    ]);
  });

  it("asks an open gate anew as it is now, once, and the task waits for the new answer", () => {
    const flow = (prompt: string, fingerprint: string) =>
      workflow(
        dag("main", [gate("ok", [{ value: "yes" }], { prompt, fingerprint }), model("after", { dependsOn: ["ok"] })]),
      );
    const harness = new EngineHarness(flow("old?", "1"), {});
    expect(harness.run().end).toBe("waiting");
    const next = harness.crash();
    next.resume({ definition: flow("new?", "2"), byPerson: true });
    checkState(next.state);
    expect(next.openQuestions.map(({ text }) => text)).toEqual(["new?"]);
    expect(next.finish().end).toBe("waiting");
    const again = next.crash();
    again.resume({ byPerson: true });
    again.answer(again.openQuestions[0]!, "yes");
    expect(again.finish().end).toBe("done");
    expect(again.performed).toEqual(["after#1"]);
  });

  it("tries a repaired route with the finished step's output", () => {
    const next = change(
      machine("main", [model("a", { routes: [{ to: "b", when: "{{ output == 'z' }}" }] }), model("b")]),
      machine("main", [model("a", { routes: [{ to: "b", when: "{{ output == 'a' }}" }] }), model("b")]),
      () => false,
    );
    expect(next.closed?.end).toBe("done");
    expect(next.performed).toEqual(["b#1"]);
  });

  it("takes in new members of an open group, with their dependencies, and forgets those that are gone", () => {
    const next = change(
      dag("main", [model("a"), model("x"), model("y", { dependsOn: ["x"] })], { failureMode: "all_or_nothing" }),
      dag("main", [model("a"), model("n", { dependsOn: ["a"] }), model("m", { dependsOn: ["n"] })], {
        failureMode: "all_or_nothing",
      }),
      (name) => name === "x",
    );
    expect(next.closed?.end).toBe("done");
    expect(next.performed).toEqual(["n#1", "m#1"]);
    expect(next.state.blocked.size).toBe(0);
  });

  it("goes on in the phase that was open and runs phases that were added behind it", () => {
    const next = change(
      phases("main", [phase(1, "p", [model("a")]), phase(2, "q", [model("b")])]),
      phases("main", [
        phase(1, "p", [model("a")]),
        phase(2, "q", [model("b"), model("b2")]),
        phase(3, "r", [model("c")]),
      ]),
      (name) => name === "b",
    );
    expect(next.closed?.end).toBe("done");
    expect([...next.performed].sort()).toEqual(["b#2", "b2#1", "c#1"]);
  });

  it("stops a machine that stands at a step that is gone, and says so", () => {
    const next = change(
      machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]),
      machine("main", [model("a", { routes: [{ to: "c" }] }), model("c")]),
      (name) => name === "b",
    );
    expect(next.closed?.exitStatus).toBe(4);
    expect(next.closed?.reason).toContain("the definition has no b any more");
  });
});

describe("a loss of records", () => {
  it("makes what is open unknown and asks before every external step that has no record", () => {
    const flow = workflow(
      machine("main", [
        model("a", { routes: [{ to: "pay" }] }),
        command("pay", { routes: [{ to: "mail" }] }),
        undeclared("mail"),
      ]),
    );
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    const next = harness.crash(undefined, { perform: (step) => done(step.name) });
    next.resume({ uncertain: true });
    expect(next.finish().exitStatus).toBe(22);
    expect(next.performed).toEqual(["a#2"]);
    expect(next.openQuestions[0]?.text).toContain("records of this task are lost: main/pay may have been run before");
    next.resume();
    next.answer(next.openQuestions[0]!, "rerun");
    next.finish();
    expect(next.performed).toEqual(["a#2", "pay#2"]);
    next.resume();
    next.answer(next.openQuestions[0]!, "done", "sent");
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a#2", "pay#2"]);
  });

  it("does not ask where on_unknown says rerun", () => {
    const harness = new EngineHarness(
      workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), command("b", { onUnknown: "rerun" })])),
      { perform: () => undefined },
    );
    harness.start();
    const next = harness.crash(undefined, { perform: (step) => done(step.name) });
    next.resume({ uncertain: true });
    expect(next.finish().exitStatus).toBe(0);
  });

  it("E6: a crash between that intent and its question still asks", () => {
    const harness = new EngineHarness(workflow(machine("main", [command("pay")])), { perform: () => undefined });
    harness.start();
    const lost = harness.crash(2);
    lost.resume({ uncertain: true });
    const at = lost.events.findIndex((event) => event.type === "step_intended");
    const next = lost.crash(at + 1, { perform: () => done("paid") });
    next.resume();
    expect(next.finish().exitStatus).toBe(22);
    expect(next.performed).toEqual([]);
  });
});
