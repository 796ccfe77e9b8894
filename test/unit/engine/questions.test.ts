import { describe, expect, it } from "vitest";
import { nextDueAtMs } from "../../../src/engine/rules/steps/due.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { dag, machine, model, undeclared, wait, workflow } from "../../support/workflow-builder.js";

const options = [
  { value: "continue", label: "continue" },
  { value: "stop", label: "stop" },
];

describe("questions", () => {
  it("from outside hold the whole task; the first option goes on, and the answer is a decision of a person", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")])));
    harness.start();
    harness.submit({
      kind: "ask",
      questionKind: "definition_changed",
      subject: "task",
      text: "the file changed",
      options,
    });
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus, harness.performed]).toEqual(["waiting", 20, ["a#1"]]);
    const next = harness.crash();
    next.resume();
    next.submit({ kind: "answered_before", question: next.openQuestions[0]!.id, answer: "continue", by: "bob" });
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["b#1"]);
    expect(next.state.decisions.map((decision) => [decision.agent, decision.type])).toEqual([
      ["person:bob", "answer"],
      ["engine", "go_on"],
    ]);
    expect(next.state.unsettled.size).toBe(0);
  });

  it("from outside end the task on any other option", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])));
    harness.start();
    harness.submit({ kind: "ask", questionKind: "loss", subject: "task", text: "records are lost", options });
    harness.answer(harness.openQuestions[0]!, "stop");
    expect(harness.finish().end).toBe("stopped");
  });

  it("answer themselves when their time is over, also while nothing else happens", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])));
    harness.start();
    const expiresAtMs = harness.nowMs + 60_000;
    harness.submit({
      kind: "ask",
      questionKind: "gate",
      subject: "task",
      text: "?",
      options,
      expiresAtMs,
      onExpire: "continue",
    });
    expect(nextDueAtMs(harness.state)).toBe(expiresAtMs - 30_000);
    harness.performOne();
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.of("question_reminded")).toMatchObject([{ atMs: expiresAtMs - 30_000 }]);
    expect(harness.of("question_answered")).toMatchObject([{ by: "timeout", answer: "continue", atMs: expiresAtMs }]);
  });

  it("are told apart in the exit status: unknown before limit before other questions", () => {
    const harness = new EngineHarness(
      workflow(dag("main", [undeclared("a"), model("b"), model("c", { dependsOn: ["b"] })]), {
        limits: { maxIterations: 2 },
      }),
      {
        perform: (step) => (step.name === "a" ? undefined : done(1)),
      },
    );
    harness.start();
    const next = harness.crash();
    next.resume();
    const closed = next.finish();
    expect(next.openQuestions.map((question) => question.kind)).toEqual(["unknown_outcome", "limit"]);
    expect(closed.exitStatus).toBe(22);
  });
});

describe("limits", () => {
  const usage = { calls: 1, tokensIn: 60, tokensOut: 40, costMicroUsd: 5_000 };
  const chain = [model("a"), model("b", { dependsOn: ["a"] }), model("c", { dependsOn: ["b"] })];

  it.each([
    ["tokens", { tokensMax: 150 }, 2],
    ["calls", { callsMax: 1 }, 1],
    ["cost_micro_usd", { costMicroUsdMax: 10_000 }, 2],
    ["seconds", { timeoutMs: 15_000 }, 2],
    ["iterations", { maxIterations: 1 }, 1],
  ])("on %s are looked at before the next start", (name, limits, ran) => {
    const flow = workflow(dag("main", chain), { limits: { maxIterations: 100, ...limits } });
    const harness = new EngineHarness(flow, { perform: () => done(1, { usage }), stepMs: 10_000 });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus]).toEqual(["waiting", 21]);
    expect(harness.performed).toHaveLength(ran);
    expect(harness.openQuestions[0]?.about).toMatchObject({ limit: name });
  });

  it("on working time are found while a step runs, do not count the time between owners, and end the step", () => {
    let isSlow = true;
    const flow = workflow(dag("main", chain), { limits: { maxIterations: 100, timeoutMs: 20_000 } });
    const harness = new EngineHarness(flow, { perform: () => (isSlow ? undefined : done(1)) });
    harness.start();
    harness.nowMs += 15_000;
    harness.changeChannel({ op: "set", key: "k", value: 1 });
    const next = harness.crash();
    next.nowMs += 1_000_000;
    next.resume();
    expect(next.state.totals.elapsedMs).toBe(15_000);
    // The time so far is put on record every second of these twenty.
    expect(nextDueAtMs(next.state)).toBe(next.nowMs + 1_000);
    next.nowMs += 5_000;
    next.submit({ kind: "due" });
    expect(next.openQuestions.map((question) => question.kind)).toEqual(["limit"]);
    expect(nextDueAtMs(next.state)).toBeUndefined();
    expect(next.step("main/a").status).toBe("cancelled");
    isSlow = false;
    expect(next.finish().exitStatus).toBe(21);
    expect(next.performed).toEqual([]);
  });

  it("count an unknown price as unknown", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])), {
      perform: () => done(1, { usage: { calls: 2, tokensIn: 1, tokensOut: 1 } }),
    });
    harness.run();
    expect(harness.state.totals).toMatchObject({ calls: 2, costMicroUsd: 0, unpricedCalls: 2 });
  });

  it("count usage of failed attempts", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])), {
      perform: () => ({ ...failed(), usage }) as ReturnType<typeof failed>,
    });
    harness.run();
    expect(harness.state.totals.calls).toBe(1);
  });

  it("hold retries that are due, without asking again and again", () => {
    const retry = { maxAttempts: 5, backoff: "fixed" as const, delayMs: 1_000, delayMsMax: 1_000, jitter: 0 };
    const flow = workflow(machine("main", [model("a", { retry })]), { limits: { maxIterations: 10, callsMax: 2 } });
    const harness = new EngineHarness(flow, { perform: () => ({ ...failed(), usage }) as ReturnType<typeof failed> });
    expect(harness.run().exitStatus).toBe(21);
    expect(harness.performed).toEqual(["a#1", "a#2"]);
    expect(harness.of("question_opened")).toHaveLength(1);
  });
});

describe("waiting", () => {
  it("sleeps out what is short and ends cleanly before what is long", () => {
    const flow = workflow(machine("main", [wait("w", "10s")]));
    const short = new EngineHarness(flow, { sleepMsMax: 10_000 });
    expect(short.run().end).toBe("done");
    const long = new EngineHarness(flow, { sleepMsMax: 9_999 });
    expect(long.run().exitStatus).toBe(75);
  });

  it("refuses a duration that is none", () => {
    const harness = new EngineHarness(workflow(machine("main", [wait("w", "soon")])));
    expect(harness.run().reason).toContain("not a duration");
  });
});

describe("FAULTS 17: a budget", () => {
  const dear = { calls: 1, tokensIn: 1, tokensOut: 1, costMicroUsd: 300_000 };
  const loop = (limits: Partial<Parameters<typeof workflow>[1] & object>["limits"]) =>
    workflow(machine("main", [model("again", { routes: [{ to: "again" }] })]), { limits: limits! });

  it("stops before the fourth of calls at a third of it each, counts over a crash, and goes on when it is raised", () => {
    const flow = loop({ maxIterations: 100, costMicroUsdMax: 900_000 });
    const first = new EngineHarness(flow, { perform: () => done(1, { usage: dear }) });
    first.start();
    first.performOne();
    first.performOne();
    const second = first.crash();
    second.resume();
    expect(second.finish()).toMatchObject({ end: "waiting", exitStatus: 21 });
    expect(second.performed).toHaveLength(1);
    expect(second.openQuestions[0]).toMatchObject({
      text: "the budget of $0.90 is reached ($0.90 spent); extend it or stop?",
      about: { kind: "limit", limit: "cost_micro_usd" },
      facts: { used: 900_000, max: 900_000 },
    });
    const third = second.crash();
    third.resume();
    third.answer(third.openQuestions[0]!, "extend", { cost_micro_usd: 900_000 });
    expect(third.finish().exitStatus).toBe(21);
    expect(third.performed).toHaveLength(3);
    expect(third.state.totals.costMicroUsd).toBe(1_800_000);
  });

  it("is passed by no more than what was under way: of many at once none starts for which there is no room", () => {
    const members = Array.from({ length: 8 }, (_one, index) => model(`m${index}`));
    const first = [model("probe"), ...members.map((member) => ({ ...member, dependsOn: ["probe"] }))];
    const harness = new EngineHarness(
      workflow(dag("main", first), { limits: { maxIterations: 100, costMicroUsdMax: 900_000 } }),
      { perform: () => done(1, { usage: dear }) },
    );
    expect(harness.run().exitStatus).toBe(21);
    expect(harness.state.totals.costMicroUsd).toBe(900_000);
    const blind = new EngineHarness(
      workflow(dag("main", members), { limits: { maxIterations: 100, costMicroUsdMax: 900_000 } }),
      { perform: () => done(1, { usage: dear }) },
    );
    blind.run();
    expect(blind.performed).toHaveLength(8);
  });

  it("keeps room for calls under way, and waits for their end instead of asking", () => {
    const members = Array.from({ length: 4 }, (_one, index) => model(`m${index}`));
    const harness = new EngineHarness(workflow(dag("main", members), { limits: { maxIterations: 100, callsMax: 3 } }), {
      perform: () => done(1, { usage: dear }),
    });
    harness.start();
    expect(harness.running.map(({ name }) => name)).toEqual(["m0", "m1", "m2"]);
    expect(harness.openQuestions).toEqual([]);
    expect(harness.finish().exitStatus).toBe(21);
    expect(harness.performed).toHaveLength(3);
  });

  it("in audit mode is told once and stops nothing; a call of unknown price is told too", () => {
    const flow = loop({ maxIterations: 5, costMicroUsdAudited: 600_000 });
    let calls = 0;
    const harness = new EngineHarness(flow, {
      perform: () => done(1, { usage: (calls += 1) === 1 ? { calls: 1, tokensIn: 1, tokensOut: 1 } : dear }),
    });
    harness.run();
    expect(harness.performed).toHaveLength(5);
    expect(harness.state.decisions.map(({ type }) => type)).toEqual(["budget_incomplete", "budget_reached"]);
  });

  it("is looked at before a further call inside a step, which goes on at its next turn when the budget is raised", () => {
    const flow = workflow(machine("main", [model("a")]), { limits: { maxIterations: 9, costMicroUsdMax: 300_000 } });
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    const { id: step, attempt } = harness.running[0]!;
    expect(harness.submit({ kind: "before_call", step, attempt })).toEqual([]);
    harness.report({ type: "turn_recorded", step, attempt, value: { inline: "one" }, usage: dear });
    harness.submit({ kind: "before_call", step, attempt });
    expect(harness.openQuestions.map(({ kind }) => kind)).toEqual(["limit"]);
    expect(harness.finish().exitStatus).toBe(21);
    const next = harness.crash();
    next.resume();
    next.answer(next.openQuestions[0]!, "extend", { cost_micro_usd: 300_000 });
    expect(next.running).toMatchObject([{ id: step, attempt: 2 }]);
    expect(next.state.histories.get(step)?.turns).toEqual([{ inline: "one" }]);
  });
});
