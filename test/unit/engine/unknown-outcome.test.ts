import { describe, expect, it } from "vitest";
import { parseStepId, processKeyOf } from "../../../src/engine/model/identity.js";
import { captureState, decodeState, encodeCaptured } from "../../../src/engine/model/state-codec.js";
import { processOf } from "../../support/places.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import { command, dag, machine, model, parallel, undeclared, workflow } from "../../support/workflow-builder.js";
import type { EngineInput, OrphanCompletion } from "../../../src/engine/model/input.js";
import type { OnUnknown } from "../../../src/definition/model/values.js";

type ResumeOptions = Partial<Extract<EngineInput, { kind: "resumed" }>>;

const chargeThenNotify = (onUnknown?: OnUnknown) =>
  workflow(
    machine("main", [
      command("charge", { ...(onUnknown === undefined ? {} : { onUnknown }), routes: [{ to: "notify" }] }),
      command("notify"),
    ]),
  );

/** The state right after a named point of the first step. */
function killAt(point: "before_intent" | "intent" | "spawned" | "done", flow = chargeThenNotify()) {
  const harness = new EngineHarness(flow, {
    perform: (step) => (point === "done" || step.name !== "charge" ? done(step.name) : undefined),
  });
  harness.start();
  const type = {
    before_intent: "scope_entered",
    intent: "step_intended",
    spawned: "step_spawned",
    done: "step_completed",
  } as const;
  if (point === "spawned" || point === "done") harness.performOne();
  const at = harness.events.findIndex((event) => event.type === type[point]);
  return harness.crash(at + 1, { perform: (step) => done(step.name) });
}

describe("a step that a crash left open", () => {
  it("runs once when its intent was not durable", () => {
    const next = killAt("before_intent");
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["charge#1", "notify#1"]);
  });

  it("E6: a command with an intent and no spawned record has not acted: it runs without asking, with the same key", () => {
    const next = killAt("intent");
    const key = next.step("main/charge").idempotencyKey;
    next.resume();
    expect(next.of("step_cancelled").map((event) => event.reason)).toEqual(["never_started"]);
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["charge#2", "notify#1"]);
    expect(next.step("main/charge").idempotencyKey).toBe(key);
  });

  it("E6: not after damage, where the spawned record may be among the lost ones", () => {
    const next = killAt("intent");
    next.resume({ uncertain: true });
    expect(next.openQuestions.map((question) => question.kind)).toEqual(["unknown_outcome"]);
  });

  it("[reliability E11] is asked about by a later owner too, where an earlier one accepted a loss and crashed at once", () => {
    const accepted = killAt("intent");
    accepted.resume({ uncertain: true });
    const at = accepted.events.findIndex((event) => event.type === "task_resumed");
    const later = accepted.crash(at + 1);
    expect(later.step("main/charge").status).toBe("open");
    later.resume();
    expect(later.openQuestions.map(({ kind, step }) => [kind, step])).toEqual([["unknown_outcome", "main/charge@1.1"]]);
    expect(later.finish().exitStatus).toBe(22);
    expect(later.performed).toEqual([]);
  });

  it("E6: a function has no such record, its intent alone makes it unknown", () => {
    const flow = workflow(machine("main", [undeclared("charge")]));
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(22);
  });

  it("is asked about when its child was spawned, and nothing runs until then", () => {
    const next = killAt("spawned");
    next.resume();
    const closed = next.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["waiting", 22]);
    expect(next.performed).toEqual([]);
    expect(next.step("main/charge").status).toBe("unknown");
    expect(next.openQuestions[0]?.options.map((option) => option.value)).toEqual(["rerun", "done", "skip", "fail"]);
    expect(next.openQuestions[0]?.id).toBe("unknown_outcome:main/charge@1.1:1");
  });

  it("is not run again when its completion was durable", () => {
    const next = killAt("done");
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["notify#1"]);
  });

  it("rerun: the intent that the answer permits consumes it, and a second crash asks anew", () => {
    const next = killAt("spawned");
    next.perform = (step) => (step.name === "charge" ? undefined : done(1));
    next.resume();
    const [question] = next.openQuestions;
    next.answer(question!, "rerun");
    expect(next.of("step_intended").at(-1)).toMatchObject({
      step: "main/charge@1.1",
      attempt: 2,
      permittedBy: question!.id,
    });
    expect(next.state.questions.get(question!.id)?.status).toBe("consumed");
    next.performOne();
    const again = next.crash();
    again.resume();
    expect(again.openQuestions.map((entry) => entry.id)).toEqual(["unknown_outcome:main/charge@1.1:2"]);
    expect(again.step("main/charge").idempotencyKey).toBe(next.step("main/charge").idempotencyKey);
  });

  it("an answer that nothing consumed yet is consumed by the next owner", () => {
    const next = killAt("spawned");
    next.resume();
    next.answer(next.openQuestions[0]!, "rerun");
    const at = next.events.findIndex((event) => event.type === "question_answered");
    const third = next.crash(at + 1);
    third.resume();
    expect(third.finish().end).toBe("done");
    expect(third.performed).toEqual(["charge#2", "notify#1"]);
  });

  it("done takes the output as JSON, and an orphaned completion is offered as the answer", () => {
    const next = killAt("spawned");
    const orphan = { step: next.step("main/charge").id, attempt: 1, epoch: 1, n: 9, output: { paid: 3 } };
    next.resume({ orphans: [orphan] });
    const [question] = next.openQuestions;
    expect(question?.offered).toEqual({ paid: 3 });
    next.answer(question!, "done");
    expect(next.finish().end).toBe("done");
    expect(next.step("main/charge").output).toEqual({ inline: { paid: 3 } });
    expect(next.performed).toEqual(["notify#1"]);
  });

  it("tells an orphaned completion by name, once: who wrote it, about which step, and what became of it", () => {
    const orphan = { step: killAt("spawned").step("main/charge").id, attempt: 1, epoch: 1, n: 9 };
    const told = (harness: EngineHarness) =>
      harness.of("decision_made").flatMap(({ decision }) => (decision.type === "orphan_completion" ? [decision] : []));
    const late = (epoch: number, attempt = 1) =>
      `main/charge was completed too late by the owner of epoch ${epoch} (attempt ${attempt})`;

    const asked = killAt("spawned");
    asked.resume({ orphans: [{ ...orphan, output: { paid: 3 } }] });
    expect(told(asked)).toMatchObject([
      {
        description: `${late(1)}; it is kept, and offered as the answer to the question about it`,
        subject: orphan.step,
        facts: { completions: [{ epoch: 1, n: 9, attempt: 1 }] },
      },
    ]);
    const again = asked.crash();
    again.resume({ orphans: [{ ...orphan, output: { paid: 3 } }] });
    expect(told(again)).toHaveLength(1);
    again.resume({ orphans: [orphan, { ...orphan, epoch: 2, n: 12 }] });
    expect(told(again).at(-1)?.description).toContain("epoch 1 (attempt 1) and the owner of epoch 2 (attempt 1)");

    const fates = (harness: EngineHarness, change: Partial<OrphanCompletion> = {}, options: ResumeOptions = {}) => {
      harness.resume({ orphans: [{ ...orphan, ...change }], ...options });
      return told(harness).map(({ description }) => description);
    };
    expect(fates(killAt("done"))).toEqual([`${late(1)}; it is not used: the history has the step done`]);
    expect(fates(killAt("intent"))).toEqual([`${late(1)}; it is not used: the step runs again`]);
    expect(fates(killAt("spawned"), { attempt: 2 })).toEqual([
      `${late(1, 2)}; it is not used: the history knows no attempt 2`,
    ]);
    expect(fates(killAt("spawned"), {}, { onUnknown: "skip" })).toEqual([
      `${late(1)}; it is not used: the step was settled otherwise`,
    ]);
    expect(fates(killAt("before_intent"))).toEqual([`${late(1)}; it is not used: the history knows no such step`]);
    const second = killAt("intent");
    second.resume();
    expect(fates(second.crash())).toEqual([`${late(1)}; it is not used: attempt 2 began after it`]);
  });

  it("done without a value is refused when nothing is offered; so is an answer that is no option", () => {
    const next = killAt("spawned");
    next.resume();
    const [question] = next.openQuestions;
    next.answer(question!, "done");
    next.answer(question!, "maybe");
    expect(next.openQuestions).toHaveLength(1);
    expect(next.of("noted").map((event) => event.text)).toEqual([
      "answer of ann refused: done needs a value",
      "answer of ann refused: maybe is not one of rerun, done, skip, fail",
    ]);
    next.answer(question!, "done", { paid: 1 });
    next.answer(question!, "rerun");
    expect(next.of("noted").at(-1)?.text).toContain("answered with done by ann");
    expect(next.step("main/charge").output).toEqual({ inline: { paid: 1 } });
  });

  it("skip goes on without it and the task ends partial; fail fails it", () => {
    const skipped = killAt("spawned");
    skipped.resume();
    skipped.answer(skipped.openQuestions[0]!, "skip");
    expect(skipped.finish().exitStatus).toBe(3);
    expect(skipped.step("main/charge").status).toBe("skipped");
    const ended = killAt("spawned");
    ended.resume();
    ended.answer(ended.openQuestions[0]!, "fail");
    expect(ended.finish().exitStatus).toBe(4);
    expect(ended.performed).toEqual([]);
  });

  it.each(["rerun", "skip", "fail"] as const)("on_unknown: %s decides without a person, and says so", (policy) => {
    const next = killAt("spawned", chargeThenNotify(policy));
    next.resume();
    const closed = next.finish();
    expect(closed.exitStatus).toBe({ rerun: 0, skip: 3, fail: 4 }[policy]);
    expect(next.performed).toEqual({ rerun: ["charge#2", "notify#1"], skip: ["notify#1"], fail: [] }[policy]);
    expect(next.state.decisions.find((decision) => decision.type === "unknown_outcome")?.rationale).toContain(policy);
  });

  it("takes the policy by precedence: flag over step over workflow over settings", () => {
    const flow = (step: OnUnknown | undefined, whole: OnUnknown | undefined) =>
      workflow(
        machine("main", [command("charge", step === undefined ? {} : { onUnknown: step })]),
        whole === undefined ? {} : { onUnknown: whole },
      );
    const chosen = (definition: ReturnType<typeof flow>, settings = {}, flag?: OnUnknown) => {
      const harness = new EngineHarness(definition, { perform: () => undefined, settings });
      harness.start();
      harness.performOne();
      const next = harness.crash(undefined, { perform: () => done(1) });
      next.resume(flag === undefined ? {} : { onUnknown: flag });
      return next.finish().exitStatus;
    };
    expect(chosen(flow(undefined, undefined))).toBe(22);
    expect(chosen(flow(undefined, undefined), { recovery_config: { on_unknown: "rerun" } })).toBe(0);
    expect(chosen(flow(undefined, "skip"), { recovery_config: { on_unknown: "rerun" } })).toBe(3);
    expect(chosen(flow("fail", "skip"))).toBe(4);
    expect(chosen(flow("fail", "skip"), {}, "rerun")).toBe(0);
  });

  it("a flag given later answers the question that an earlier owner asked", () => {
    const next = killAt("spawned");
    next.resume();
    expect(next.finish().exitStatus).toBe(22);
    next.resume({ onUnknown: "rerun" });
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["charge#2", "notify#1"]);
    expect(next.of("question_answered")).toMatchObject([{ answer: "rerun", by: "a flag" }]);
  });

  it("believes a probe: done completes it, not done runs it again", () => {
    const yes = killAt("spawned");
    yes.resume({ probed: new Map([[yes.step("main/charge").id, { done: true, output: { paid: 9 } }]]) });
    expect(yes.finish().end).toBe("done");
    expect(yes.performed).toEqual(["notify#1"]);
    expect(yes.of("step_completed")[0]).toMatchObject({ by: "probe", output: { inline: { paid: 9 } } });
    const no = killAt("spawned");
    no.resume({ probed: new Map([[no.step("main/charge").id, { done: false }]]) });
    expect(no.finish().end).toBe("done");
    expect(no.performed).toEqual(["charge#2", "notify#1"]);
  });

  it("blocks only what depends on it", () => {
    const flow = workflow(
      dag("main", [undeclared("a"), model("b", { dependsOn: ["a"] }), model("c"), model("d", { dependsOn: ["c"] })]),
    );
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    const next = harness.crash(undefined, { perform: (step) => done(step.name) });
    next.resume();
    expect(next.finish().exitStatus).toBe(22);
    expect(next.performed).toEqual(["c#2", "d#1"]);
    const later = next.crash();
    later.resume();
    later.answer(later.openQuestions[0]!, "done", "a");
    expect(later.finish().end).toBe("done");
    expect(later.performed).toEqual(["b#1"]);
  });

  it("waits with its answer while a failed sibling holds the group, and runs when the sibling gets its chance", () => {
    let isBroken = true;
    const flow = workflow(parallel("main", [undeclared("a"), model("b")]));
    const harness = new EngineHarness(flow, { perform: () => undefined });
    harness.start();
    const next = harness.crash(undefined, {
      perform: (step) => (step.name === "b" && isBroken ? failed() : done(step.name)),
    });
    next.resume();
    next.performOne();
    next.answer(next.openQuestions[0]!, "rerun");
    expect(next.finish().exitStatus).toBe(4);
    expect(next.performed).toEqual(["b#2"]);
    isBroken = false;
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["b#2", "a#2", "b#3"]);
  });

  it("without effects is rerun and keeps its turns, sub-steps and milestone", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])), { perform: () => undefined });
    harness.start();
    const { id } = harness.step("main/a");
    harness.report({
      type: "turn_recorded",
      step: id,
      attempt: 1,
      value: { inline: "t1" },
      usage: { calls: 1, tokensIn: 5, tokensOut: 2 },
    });
    harness.report({ type: "substep_intended", step: id, attempt: 1, name: "s" });
    harness.report({ type: "substep_completed", step: id, attempt: 1, name: "s", value: { inline: 7 } });
    harness.report({ type: "milestone_reached", step: id, attempt: 1, name: "half", state: { inline: { at: 5 } } });
    const next = harness.crash(undefined, { perform: () => done("ok") });
    next.resume();
    expect(next.running.map((step) => step.attempt)).toEqual([2]);
    expect(next.state.histories.get(id)?.turns).toEqual([{ inline: "t1" }]);
    expect(next.state.histories.get(id)?.substeps.get("s")).toEqual({ done: true, value: { inline: 7 } });
    expect(next.step("main/a").milestone).toEqual({ name: "half", state: { inline: { at: 5 } } });
    expect(next.finish().end).toBe("done");
    expect(next.state.totals).toMatchObject({ calls: 1, tokensIn: 5, tokensOut: 2, unpricedCalls: 1 });
  });

  it("refuses the late result of a closed attempt", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])), { perform: () => undefined });
    harness.start();
    const next = harness.crash();
    next.resume();
    const { id } = next.step("main/a");
    const events = next.submit({
      kind: "outcome",
      step: id,
      attempt: 1,
      outcome: done("late"),
      durationMs: 1,
    });
    expect(events.map((event) => event.type)).toEqual(["noted"]);
    expect(next.step("main/a").status).toBe("open");
  });
});

describe("a step that crashes its process", () => {
  const crashes = (count: number, perform?: (harness: EngineHarness) => void) => {
    const healthy = ["b1", "b2", "b3", "b4", "b5", "b6"].map((name, at) =>
      model(name, at === 0 ? {} : { dependsOn: [`b${at}`] }),
    );
    let harness = new EngineHarness(workflow(dag("main", [model("a"), ...healthy])), {
      perform: (step) => (step.name === "a" ? undefined : done("b")),
    });
    harness.start();
    for (let at = 0; at < count; at += 1) {
      harness.performOne();
      perform?.(harness);
      harness = harness.crash();
      harness.resume();
    }
    return harness;
  };

  it("is parked after three crashed owners without progress, while the rest goes on", () => {
    const harness = crashes(3);
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["waiting", 14]);
    expect(harness.step("main/a").status).toBe("parked");
    expect(harness.performed).toEqual(["b4#2", "b5#1", "b6#1"]);
  });

  it("is not parked when it made progress in between", () => {
    const harness = crashes(5, (at) => {
      const step = at.step("main/a");
      at.report({ type: "turn_recorded", step: step.id, attempt: step.attempt, value: { inline: "t" } });
    });
    expect(harness.step("main/a").status).toBe("open");
    expect(harness.step("main/a").crashes).toBe(1);
  });

  it("is not parked by planned stops", () => {
    let harness = new EngineHarness(workflow(machine("main", [model("a")])), { perform: () => undefined });
    harness.start();
    for (let at = 0; at < 10; at += 1) {
      harness.submit({ kind: "close", end: "stopped", reason: "SIGTERM", exitStatus: 143, signal: "SIGTERM" });
      harness = harness.crash();
      harness.resume({ byPerson: false, by: "recover" });
    }
    expect(harness.step("main/a").status).toBe("open");
  });

  it("starts afresh when a person resumes", () => {
    const parked = crashes(3);
    parked.finish();
    const next = parked.crash(undefined, { perform: (step) => done(step.name) });
    next.resume({ byPerson: true });
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["a#4"]);
  });
});

describe("leaving", () => {
  it("writes a shutdown checkpoint and leaves an external step open, to be unknown later", () => {
    const harness = new EngineHarness(workflow(machine("main", [command("a")])), { perform: () => undefined });
    harness.start();
    harness.performOne();
    harness.submit({
      kind: "outcome",
      step: harness.step("main/a").id,
      attempt: 1,
      outcome: { status: "cancelled" },
      durationMs: 1,
    });
    expect(harness.step("main/a").status).toBe("open");
    const events = harness.submit({
      kind: "close",
      end: "stopped",
      reason: "SIGINT",
      exitStatus: 130,
      signal: "SIGINT",
    });
    expect(events.map((event) => event.type)).toEqual(["checkpoint_recorded", "task_closed"]);
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(22);
  });

  it("cancels what has provably not acted, whatever its effects", () => {
    const harness = new EngineHarness(workflow(machine("main", [undeclared("a")])));
    harness.start();
    harness.submit({
      kind: "outcome",
      step: harness.step("main/a").id,
      attempt: 1,
      outcome: { status: "cancelled", acted: false },
      durationMs: 0,
    });
    expect(harness.step("main/a").attempt).toBe(2);
  });

  it("a pause by request starts nothing more and ends with 20 when what runs is done", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")])));
    harness.start();
    harness.submit({ kind: "message", message: { kind: "pause", by: "ann" } });
    const closed = harness.finish();
    expect([closed.end, closed.exitStatus]).toEqual(["paused", 20]);
    expect(harness.performed).toEqual(["a#1"]);
    const next = harness.crash();
    next.resume();
    expect(next.finish().end).toBe("done");
    expect(next.performed).toEqual(["b#1"]);
  });

  it("does not finish a failed step for a crash that happened elsewhere", () => {
    const harness = new EngineHarness(
      workflow(dag("main", [model("a"), model("b")], { failureMode: "all_or_nothing" })),
      {
        perform: (step) => (step.name === "a" ? failed() : undefined),
      },
    );
    harness.start();
    harness.performOne();
    const next = harness.crash(undefined, { perform: (step) => done(step.name) });
    next.resume();
    expect(next.finish().exitStatus).toBe(4);
    expect(next.performed).toEqual(["b#2"]);
  });
});

describe("a step's identity", () => {
  it("escapes what would be ambiguous and is read back", () => {
    expect(parseStepId("a/c[k%5d]@2.3")).toEqual({ path: "a/c[k%5d]", round: 2, visit: 3 });
    expect(() => parseStepId("a@1")).toThrow("not a step identity");
  });
});

describe("tool servers of an earlier owner", () => {
  const [ended, left] = [77, 78].map((pid) => ({ server: `s${pid}`, process: processOf(pid, 5, "boot") }));

  it("[reliability 7 kin] stay on record until a new owner knows that they have ended, through a snapshot too", () => {
    if (ended === undefined || left === undefined) throw new Error("two servers are wanted");
    const harness = new EngineHarness(chargeThenNotify(), { perform: () => undefined });
    harness.start();
    for (const server of [ended, left]) harness.submit({ kind: "server_spawned", ...server });
    const next = harness.crash();
    const text = [...encodeCaptured(captureState(next.state))].join("");
    expect([...decodeState(text).servers.values()]).toEqual([ended, left]);
    next.resume({ serversLeft: new Set([processKeyOf(left.process)]) });
    expect(next.of("server_ended").map(({ server }) => server)).toEqual(["s77"]);
    expect([...next.state.servers.values()]).toEqual([left]);
  });

  it("of a task that has ended none begins", () => {
    if (left === undefined) throw new Error("a server is wanted");
    const harness = new EngineHarness(chargeThenNotify(), { perform: (step) => done(step.name) });
    harness.run();
    expect(harness.submit({ kind: "server_spawned", ...left })).toEqual([]);
  });
});
