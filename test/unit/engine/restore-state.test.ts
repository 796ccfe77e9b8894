import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import type { EngineEvent, EventOf } from "../../../src/engine/model/events.js";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { stateOf, encodeForReturn, encodeWhole, withInlineState } from "../../../src/engine/fold/restore-state.js";
import { createState } from "../../../src/engine/model/state.js";
import { done, EngineHarness, TASK_ID } from "../../support/engine-harness.js";
import { checkState } from "../../support/state-check.js";
import { cli, command, dag, machine, model, phase, phases, workflow } from "../../support/workflow-builder.js";
import { processOf } from "../../support/places.js";

/** `pay` acts outside, `look` does not; both run when the state is taken, and are done afterwards. */
function midway(): EngineHarness {
  const members = [model("first"), command("pay", { dependsOn: ["first"] }), model("look", { dependsOn: ["first"] })];
  const harness = new EngineHarness(workflow(dag("main", members)), {
    perform: (step) => (step.name === "first" ? done({ n: 1 }) : undefined),
  });
  harness.start();
  while (harness.performOne());
  harness.changeChannel({ op: "set", key: "k", value: "early" });
  return harness;
}

function rolledBack(harness: EngineHarness, state: JsonValue): EventOf<"rolled_back"> {
  const { round } = harness.state;
  const to = "00000000-0000-4000-8000-000000000009" as never;
  return {
    type: "rolled_back",
    atMs: harness.nowMs,
    to,
    seq: 1,
    round: round + 1,
    reason: "ann",
    state: { inline: state },
  };
}

function goBack(harness: EngineHarness, state: JsonValue): void {
  harness.events.push(rolledBack(harness, state));
  evolve(harness.state, rolledBack(harness, state));
  checkState(harness.state);
}

describe("a return to an earlier state", () => {
  it("brings back outputs, channel and where control stands; keeps steps, spend and decisions", () => {
    const harness = midway();
    const early = encodeForReturn(harness.state);
    harness.changeChannel({ op: "set", key: "k", value: "late" });
    harness.perform = (step) => done({ by: step.id }, { usage: { calls: 1, tokensIn: 2, tokensOut: 3 } });
    harness.finish();
    const { totals, steps, decisions } = harness.state;
    const stepsBefore = steps.size;
    expect(totals.calls).toBe(2);
    goBack(harness, early);
    expect(harness.state.channel.get("k")).toBe("early");
    expect([...harness.state.outputs.keys()]).toEqual(["main/first"]);
    expect(harness.state.round).toBe(2);
    expect(harness.state.totals).toEqual(totals);
    expect(harness.state.steps.size).toBe(stepsBefore);
    expect(harness.state.decisions).toEqual(decisions);
    expect(harness.state.frontier.get("main")?.ready.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(["look", "pay"]);
  });

  it("starts what was in flight again, as the same visit of the next round; what was done keeps its round", () => {
    const harness = midway();
    goBack(harness, encodeForReturn(harness.state));
    harness.perform = (step) => done({ round: step.round });
    harness.resume({ crashed: true, byPerson: true });
    expect(harness.state.rounds.get("main/first")).toBe(1);
    expect(harness.step("main/look", 1, 2).status).toBe("open");
    expect(harness.step("main/look", 1, 2).idempotencyKey).not.toBe(harness.step("main/look").idempotencyKey);
  });

  it("calls an external step that was in flight unknown, another one cancelled, and asks before the external one", () => {
    const harness = midway();
    expect(harness.step("main/pay").process).toBeDefined();
    goBack(harness, encodeForReturn(harness.state));
    expect(harness.step("main/pay").status).toBe("unknown");
    expect(harness.step("main/look").status).toBe("cancelled");
    for (const set of [harness.state.open, harness.state.waiting, harness.state.blocked]) expect(set.size).toBe(0);
    harness.perform = () => done(1);
    harness.resume({ crashed: true, byPerson: true });
    expect(harness.openQuestions).toMatchObject([{ kind: "repeat_step", step: "main/pay@2.1" }]);
  });

  it("withdraws every open question", () => {
    const flow = workflow(phases("main", [phase(1, "p", [model("a")])]));
    const harness = new EngineHarness(flow, { perform: () => done("x", { confidence: 0.1 }) });
    harness.run();
    expect(harness.openQuestions).toHaveLength(1);
    goBack(harness, encodeForReturn(harness.state));
    expect(harness.state.unsettled.size).toBe(0);
    expect([...harness.state.questions.values()]).toMatchObject([
      { status: "consumed", answer: "withdrawn", answeredBy: "engine" },
    ]);
    const scope = harness.state.scopes.get("main/p");
    expect(scope?.data).not.toHaveProperty("settled");
  });

  it("lets a machine go on with the child it was at", () => {
    const flow = workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]));
    const harness = new EngineHarness(flow, { perform: (step) => (step.name === "a" ? done(1) : undefined) });
    harness.start();
    while (harness.performOne());
    goBack(harness, encodeForReturn(harness.state));
    expect(harness.state.scopes.get("main")?.data).toMatchObject({ next: "b" });
    harness.perform = () => done(2);
    harness.resume({ crashed: true, byPerson: true });
    expect(harness.finish().end).toBe("done");
    expect(harness.performed).toEqual(["a#1", "b#1"]);
  });
});

describe("a fork", () => {
  function forkOf(harness: EngineHarness) {
    const state = createState();
    evolve(state, {
      type: "task_forked",
      atMs: harness.nowMs + 5,
      taskId: "00000000-0000-4000-8000-000000000002" as never,
      name: "twin",
      origin: { taskId: TASK_ID, name: "task", checkpointId: "c" as never, seq: 3, position: 9 },
      by: "ann",
      state: { inline: encodeWhole(harness.state) },
    });
    return state;
  }

  it("has the other's outputs, steps and spend, a name and an identity of its own, and is paused", () => {
    const harness = midway();
    const state = forkOf(harness);
    checkState(state);
    expect(state.task).toMatchObject({
      id: "00000000-0000-4000-8000-000000000002",
      name: "twin",
      status: "paused",
      exitStatus: 20,
      resumable: true,
      forkedFrom: { seq: 3, name: "task" },
    });
    expect(state.outputs).toEqual(harness.state.outputs);
    expect(state.totals).toEqual(harness.state.totals);
    expect([...state.steps.keys()]).toEqual([...harness.state.steps.keys()]);
    expect([state.epoch, state.checkpoints.length, state.triggered.size]).toEqual([1, 0, 0]);
  });

  it("[reliability 7 kin] leaves tool servers with the task that they run for: nobody ends them as the fork's", () => {
    const harness = midway();
    const server = { server: "odd", process: processOf(77, 5, "boot") };
    harness.submit({ kind: "server_spawned", ...server });
    expect([...harness.state.servers.values()]).toEqual([server]);
    const state = forkOf(harness);
    expect([...state.servers]).toEqual([]);
  });

  it("leaves the session of an installed agent with the task that it was begun in", () => {
    const harness = new EngineHarness(workflow(machine("main", [cli("a", { session: "continue" })])), {
      perform: () => done(1),
    });
    harness.run();
    const id = harness.step("main/a").id;
    const report = { type: "milestone_reached", atMs: 1, step: id, attempt: 1, name: "session" } as const;
    evolve(harness.state, { ...report, state: { inline: { session: "s1" } } });
    expect(harness.step("main/a").milestone).toBeDefined();
    const forked = forkOf(harness).steps.get(id);
    expect(forked?.status).toBe("completed");
    expect(forked?.milestone).toBeUndefined();
  });

  it("begins a new round only where something was in flight", () => {
    expect(forkOf(midway()).round).toBe(2);
    const rested = midway();
    rested.perform = () => done(1);
    while (rested.performOne());
    expect(forkOf(rested).round).toBe(1);
  });
});

describe("an event that carries a state", () => {
  const ref = { key: "k", sizeBytes: 2, digest: "d" };
  const event = { type: "rolled_back", atMs: 1, to: "c" as never, seq: 1, round: 2, reason: "r" } as const;

  it("is folded with the state inline, loaded where it is a blob; others are left as they are", async () => {
    const load = () => Promise.resolve({ loaded: true });
    const noted: EngineEvent = { type: "noted", atMs: 1, text: "x" };
    expect(await withInlineState(noted, load)).toBe(noted);
    expect(await withInlineState(event, load)).toBe(event);
    expect(await withInlineState({ ...event, state: { blob: ref } }, load)).toEqual({
      ...event,
      state: { inline: { loaded: true } },
    });
    expect(stateOf({ ...event, state: { blob: ref } })).toEqual({ blob: ref });
    expect(stateOf(noted)).toBeUndefined();
  });
});
