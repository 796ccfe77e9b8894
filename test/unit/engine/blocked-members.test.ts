import { describe, expect, it } from "vitest";
import type { NodeDefinition } from "../../../src/definition/model/workflow.js";
import type { FailureMode } from "../../../src/definition/model/values.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import { forEach, machine, model, nested, parallel, workflow } from "../../support/workflow-builder.js";

const body = () =>
  nested("sub", machine("in", [model("a", { routes: [{ to: "b" }] }), model("b")]), {
    output: { ok: "{{ b.output.ok }}" },
  });

/** Two items run at a time; the first step of item 0 fails. */
function start(
  failureMode: FailureMode,
  node: NodeDefinition = forEach("each", body(), { failureMode, maxConcurrent: 2 }),
) {
  const harness = new EngineHarness(workflow(machine("main", [node])), {
    inputs: { items: [0, 1, 2, 3] },
    perform: (step) => (step.path.includes("[0]") && step.name === "a" ? failed() : done({ ok: true })),
  });
  return harness;
}

const mend = (harness: EngineHarness) => {
  const next = harness.crash();
  next.perform = () => done({ ok: true });
  next.resume({ byPerson: true, crashed: false });
  return next;
};

describe("a nested workflow that fails as a member of a group", () => {
  it("fail_fast: ends its siblings and starts nothing more; a resume goes on with all of them where they stood", () => {
    const harness = start("fail_fast");
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.performed).toEqual(["a#1"]);
    expect(harness.of("step_cancelled")).toMatchObject([
      { step: "main/each/sub[1]/in/a@1.1", reason: "sibling_failed" },
    ]);
    checkState(harness.state);
    const next = mend(harness);
    expect(next.finish().exitStatus).toBe(0);
    expect(next.output).toMatchObject({ states: ["done", "done", "done", "done"] });
  });

  it("fail_fast: the same from every prefix of the history", () => {
    const harness = start("fail_fast");
    harness.run();
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      if (next.closed === undefined) next.finish();
      expect([count, next.closed?.exitStatus]).toEqual([count, 4]);
      expect(next.running.length).toBe(0);
      checkState(next.state);
    }
  });

  it("all_or_nothing: takes no place in the window, so all others run before the group fails", () => {
    const harness = start("all_or_nothing");
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.performed.filter((name) => name.startsWith("b"))).toHaveLength(3);
    const next = mend(harness);
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a#2", "b#1"]);
    expect(next.output).toMatchObject({ states: ["done", "done", "done", "done"] });
  });

  it("continue_on_error: is left as failed, and the rest goes on", () => {
    const harness = start("continue_on_error");
    expect(harness.run().exitStatus).toBe(3);
    expect(harness.output).toMatchObject({ states: ["failed", "done", "done", "done"] });
  });

  it("is no failure of the group where the workflow itself deals with it", () => {
    const mending = nested("sub", machine("in", [model("a", { onError: "b", routes: [{ to: "b" }] }), model("b")]), {
      output: { ok: "{{ b.output.ok }}" },
    });
    const harness = start("fail_fast", forEach("each", mending, { failureMode: "fail_fast", maxConcurrent: 2 }));
    expect(harness.run().exitStatus).toBe(0);
    expect(harness.of("step_cancelled")).toEqual([]);
  });

  it("in a parallel group and further in, ends the siblings of the outermost group that fails fast too", () => {
    const inner = parallel("pair", [body(), model("beside")], { failureMode: "fail_fast" });
    const harness = new EngineHarness(
      workflow(
        machine("main", [parallel("outer", [machine("left", [inner]), model("right")], { failureMode: "fail_fast" })]),
      ),
      { perform: (step) => (step.name === "a" ? failed() : undefined) },
    );
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.of("step_cancelled").map(({ step }) => step)).toEqual([
      "main/outer/right@1.1",
      "main/outer/left/pair/beside@1.1",
    ]);
  });
});
