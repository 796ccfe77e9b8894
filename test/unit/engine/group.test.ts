import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { done, EngineHarness, failed, type HarnessOptions } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import { command, dag, machine, model, parallel, undeclared, workflow } from "../../support/workflow-builder.js";

const abc = [model("a"), model("b"), model("c")];

describe("a dag", () => {
  it("starts a step when all it depends on is done, in a sliding window", () => {
    const children = [
      model("a"),
      model("b"),
      model("c", { dependsOn: ["a"] }),
      model("d", { dependsOn: ["b", "c"] }),
      model("e"),
    ];
    const harness = new EngineHarness(workflow(dag("main", children, { maxConcurrent: 2 })));
    harness.start();
    expect(harness.running.map((step) => step.name)).toEqual(["a", "b"]);
    harness.performOne();
    expect(harness.running.map((step) => step.name)).toEqual(["b", "e"]);
    expect(harness.finish().end).toBe("done");
    expect(harness.performed).toEqual(["a#1", "b#1", "e#1", "c#1", "d#1"]);
  });

  it("hands the outputs a step depends on to it by path", () => {
    const works: JsonObject[] = [];
    const children = [model("a"), model("b", { dependsOn: ["a"], input: { n: "{{ a.output.n }}" } })];
    const harness = new EngineHarness(workflow(dag("main", children)), {
      perform: (_step, work) => {
        works.push(work);
        return done({ n: 1 });
      },
    });
    harness.run();
    expect(works[1]).toMatchObject({ input: { n: 1 }, uses: ["main/a"] });
  });

  it("goes on with what does not depend on a failure when it is tolerated, and names the shortfall", () => {
    const children = [model("a"), model("b", { dependsOn: ["a"] }), model("c"), model("d", { dependsOn: ["c"] })];
    const harness = new EngineHarness(workflow(dag("main", children, { failureMode: "continue_on_error" })), {
      perform: (step) => (step.name === "a" ? failed("no") : done(step.name)),
    });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus]).toEqual(["partial", 3]);
    expect(harness.rootOutput).toEqual({
      type: "dag",
      outputs: { c: "c", d: "d" },
      errors: { a: { agent_name: "a", exception_type: "STEP_FAILED", message: "no", suggestion: null } },
      unreached: ["b"],
    });
  });
});

describe("a parallel group", () => {
  it("fail_fast starts nothing more, keeps what is finished and cancels what runs; a resume runs only the rest", () => {
    let isBroken = true;
    const children = [model("a"), model("b"), model("c"), model("d"), model("e")];
    const harness = new EngineHarness(workflow(parallel("main", children, { maxConcurrent: 4 })), {
      perform: (step) =>
        step.name === "c" && isBroken ? failed() : step.name === "d" && isBroken ? undefined : done(step.name),
    });
    harness.start();
    for (let at = 0; at < 3; at += 1) harness.performOne();
    expect(harness.of("step_cancelled").map((event) => [event.step, event.reason])).toEqual([
      ["main/d@1.1", "sibling_failed"],
      ["main/e@1.1", "sibling_failed"],
    ]);
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["failed", 4]);
    isBroken = false;
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect([...next.performed].sort()).toEqual(["c#2", "d#2", "e#2"]);
    expect((next.rootOutput as JsonObject)["outputs"]).toEqual({ a: "a", b: "b", c: "c", d: "d", e: "e" });
  });

  it("fail_fast leaves an external sibling that was ended midway as unknown, and a resume asks about it", () => {
    let isBroken = true;
    const harness = new EngineHarness(workflow(parallel("main", [undeclared("pay"), model("b")])), {
      perform: (step) =>
        step.name === "pay" ? (isBroken ? undefined : done("paid")) : isBroken ? failed() : done("b"),
    });
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.step("main/pay").status).toBe("unknown");
    isBroken = false;
    const next = harness.crash();
    next.resume();
    const closed = next.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["waiting", 22]);
    expect(next.performed).toEqual(["b#2"]);
  });

  describe("that fails fast into a route, with a member that may have acted", () => {
    const flow = (pay: ReturnType<typeof undeclared>) =>
      workflow(machine("main", [parallel("g", [pay, model("b")], { onError: "rescue" }), model("rescue")]));
    /** Until b has failed while pay is under way. */
    const run = (pay: ReturnType<typeof undeclared>, options: Partial<HarnessOptions> = {}) => {
      const harness = new EngineHarness(flow(pay), {
        ...options,
        perform: (step) => (step.name === "pay" ? undefined : step.name === "b" ? failed() : done("safe")),
      });
      harness.start();
      while (harness.running.some((step) => step.name === "b")) harness.performOne();
      return harness;
    };

    it("asks before the group is left", () => {
      const harness = run(undeclared("pay"));
      const closed = harness.finish();
      expect([closed.end, closed.exitStatus]).toEqual(["waiting", 22]);
      expect(harness.openQuestions.map((question) => [question.kind, question.step])).toEqual([
        ["unknown_outcome", "main/g/pay@1.1"],
      ]);
      expect(harness.of("scope_left")).toEqual([]);
      checkState(harness.state);
    });

    it.each([
      ["rerun", undefined, "cancelled", { unreached: ["pay"] }],
      ["done", "paid", "completed", { outputs: { pay: "paid" } }],
      ["skip", undefined, "skipped", { skipped: ["pay"] }],
      ["fail", undefined, "failed", { errors: { pay: { exception_type: "STEP_UNKNOWN" } } }],
    ])("goes on after the answer %s, and starts nothing of the group", (answer, value, status, described) => {
      const harness = run(undeclared("pay"));
      harness.answer(harness.openQuestions[0]!, answer, value);
      const closed = harness.finish();
      expect([closed.end, closed.exitStatus, harness.output]).toEqual(["done", 0, "safe"]);
      expect(harness.step("main/g/pay").status).toBe(status);
      expect(harness.of("scope_left")[0]?.output).toMatchObject({ inline: described });
      expect(harness.performed).toEqual(["b#1", "rescue#1"]);
      expect(harness.state.unsettled.size).toBe(0);
      checkState(harness.state);
    });

    it("asks nobody where the flag of a first run says what to do, and asks under the next owner", () => {
      const harness = run(undeclared("pay"), { onUnknown: "skip" });
      expect([harness.finish().end, harness.step("main/g/pay").status]).toEqual(["done", "skipped"]);
      const next = harness.crash();
      next.resume({ byPerson: false, crashed: true });
      expect(next.state.task?.onUnknown).toBeUndefined();
    });

    it("asks nobody where the step says what to do", () => {
      const harness = run({ ...undeclared("pay"), onUnknown: "skip" });
      expect([harness.finish().end, harness.step("main/g/pay").status]).toEqual(["done", "skipped"]);
      expect(harness.of("decision_made").map((event) => event.decision.description)).toContain("main/g/pay: skip");
    });
  });

  it("continue_on_error fails only when all failed", () => {
    const flow = workflow(parallel("main", abc, { failureMode: "continue_on_error" }));
    const some = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? failed() : done(1)) });
    expect(some.run().exitStatus).toBe(3);
    expect((some.rootOutput as JsonObject)["outputs"]).toEqual({ b: 1, c: 1 });
    const all = new EngineHarness(flow, { perform: () => failed() });
    expect(all.run().exitStatus).toBe(4);
  });

  it("all_or_nothing runs all members, then fails", () => {
    const harness = new EngineHarness(workflow(parallel("main", abc, { failureMode: "all_or_nothing" })), {
      perform: (step) => (step.name === "a" ? failed() : done(1)),
    });
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.performed).toEqual(["a#1", "b#1", "c#1"]);
    const next = harness.crash(undefined, { perform: () => done(2) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["a#2"]);
  });

  it("fails into the on_error route of the machine around it, and its errors can be read there", () => {
    const group = parallel("g", [model("a"), model("b")], { onError: "rescue" });
    const rescue = model("rescue", { input: { why: "{{ g.errors.a.message }}" } });
    const works: JsonObject[] = [];
    const harness = new EngineHarness(workflow(machine("main", [group, rescue])), {
      perform: (step, work) => {
        works.push(work);
        return step.name === "a" ? failed("sour") : done(1);
      },
    });
    expect(harness.run().exitStatus).toBe(0);
    expect(works.at(-1)).toMatchObject({ input: { why: "sour" } });
  });

  it("keeps group order in its outputs whatever ends first", () => {
    const harness = new EngineHarness(workflow(parallel("main", abc)), { pick: () => 2 });
    harness.run();
    expect(Object.keys((harness.rootOutput as JsonObject)["outputs"] as JsonObject)).toEqual(["a", "b", "c"]);
  });

  it("a failed member of a nested scope stops only its own branch; siblings finish, and the task ends failed", () => {
    const branch = machine("m", [model("x", { routes: [{ to: "y" }] }), model("y")]);
    const harness = new EngineHarness(
      workflow(parallel("main", [branch, model("b")], { failureMode: "all_or_nothing" })),
      {
        perform: (step) => (step.name === "x" ? failed() : done(1)),
      },
    );
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.performed).toEqual(["b#1", "x#1"]);
    const next = harness.crash(undefined, { perform: () => done(2) });
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["x#2", "y#1"]);
  });
});

describe("retries", () => {
  const retry = { maxAttempts: 3, backoff: "exponential" as const, delayMs: 1_000, delayMsMax: 1_500, jitter: 0 };

  it("wait with backoff and survive a crash without starting to count afresh", () => {
    const flow = workflow(machine("main", [command("a", { retry })]));
    const harness = new EngineHarness(flow, { perform: () => failed() });
    harness.start();
    harness.performOne();
    const [first] = harness.of("step_failed");
    expect(first?.disposition).toEqual({ action: "retry", atMs: first!.atMs + 1_000, attempt: 2 });
    const next = harness.crash();
    next.resume();
    expect(next.running).toEqual([]);
    const closed = next.finish();
    expect(next.performed).toEqual(["a#2", "a#3"]);
    expect(next.of("step_failed").map((event) => event.disposition.action)).toEqual(["retry", "retry", "fail"]);
    expect(closed.exitStatus).toBe(4);
  });

  it("draw their jitter from the random source: equal seeds give equal times", () => {
    const flow = workflow(machine("main", [command("a", { retry: { ...retry, jitter: 0.5 } })]));
    const times = ["x", "x", "y"].map((seed) => {
      const harness = new EngineHarness(flow, { perform: () => failed(), seed });
      harness.run();
      return harness.of("step_failed").map((event) => ("atMs" in event.disposition ? event.disposition.atMs : 0));
    });
    expect(times[0]).toEqual(times[1]);
    expect(times[0]).not.toEqual(times[2]);
  });

  it("a rate limit is a pause with a resume time and no failure", () => {
    const flow = workflow(machine("main", [model("a")]));
    let limited = true;
    const harness = new EngineHarness(flow, {
      sleepMsMax: 1_000,
      perform: () =>
        limited ? failed("429", { code: "MODEL_RATE_LIMITED", retryAtMs: 1_704_300_000_000 }) : done("ok"),
    });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus, closed.resumeAtMs]).toEqual(["paused", 75, 1_704_300_000_000]);
    expect(harness.step("main/a").failures).toBe(0);
    limited = false;
    const next = harness.crash();
    next.nowMs = 1_704_300_000_001;
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["a#2"]);
  });
});
