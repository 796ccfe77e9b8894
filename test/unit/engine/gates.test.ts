import { describe, expect, it } from "vitest";
import type { StepDefinition } from "../../../src/definition/model/step.js";
import { BY_TIMEOUT } from "../../../src/engine/rules/questions/questions.js";
import { done, EngineHarness, failed } from "../../support/engine-harness.js";
import {
  dag,
  forEach,
  gate,
  machine,
  model,
  nested,
  parallel,
  terminateStep,
  workflow,
} from "../../support/workflow-builder.js";

const OPTIONS = [
  { value: "approve", route: "publish" },
  { value: "revise", route: "draft", promptFor: "feedback" },
  { value: "reject", route: "$end" },
];

const review = (options: Partial<StepDefinition> = {}) =>
  workflow(
    machine("main", [
      model("draft", { routes: [{ to: "review" }] }),
      gate("review", OPTIONS, { prompt: "Publish {{ draft.output.name }}?", ...(options as object) }),
      model("publish"),
    ]),
  );

const ask = (harness: EngineHarness) => harness.openQuestions[0]!;

describe("a gate", () => {
  it("asks what was rendered, ends the process with 20, and nothing after it runs", () => {
    const harness = new EngineHarness(review());
    const closed = harness.run();
    expect([closed.end, closed.exitStatus, closed.reason]).toEqual(["waiting", 20, "Publish draft?"]);
    expect(ask(harness)).toMatchObject({
      id: "gate:main/review@1.1:1",
      kind: "gate",
      step: "main/review@1.1",
      text: "Publish draft?",
      options: [
        { value: "approve", label: "approve" },
        { value: "revise", label: "revise", promptFor: "feedback" },
        { value: "reject", label: "reject" },
      ],
    });
    expect(harness.step("main/review").status).toBe("asked");
    expect(harness.performed).toEqual(["draft#1"]);
  });

  it("gives what was chosen and goes straight to the option's route", () => {
    const harness = new EngineHarness(review());
    harness.start();
    harness.performOne();
    harness.answer(ask(harness), "approve");
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["draft#1", "publish#1"]);
    expect(harness.step("main/review")).toMatchObject({
      status: "completed",
      output: { inline: { selected: "approve", additional_input: {} } },
    });
    expect(harness.of("step_completed").find(({ by }) => by === "answer")).toMatchObject({ next: "publish" });
    expect(harness.state.decisions.map(({ agent, description }) => [agent, description])).toEqual([
      ["person:ann", "approve: Publish draft?"],
    ]);
    expect(harness.state.unsettled.size).toBe(0);
  });

  it("takes the text that goes with a choice, asks anew at the next visit, and keeps the answers apart", () => {
    const harness = new EngineHarness(review());
    harness.start();
    harness.performOne();
    harness.answer(ask(harness), "revise", { feedback: "shorter" });
    expect(harness.step("main/review").output).toEqual({
      inline: { selected: "revise", additional_input: { feedback: "shorter" } },
    });
    harness.performOne();
    expect(ask(harness).id).toBe("gate:main/review@1.2:1");
    harness.answer(ask(harness), "revise", "plain text");
    harness.performOne();
    harness.answer(ask(harness), "revise");
    expect(harness.step("main/review", 3).output).toEqual({
      inline: { selected: "revise", additional_input: { feedback: "" } },
    });
    harness.performOne();
    harness.answer(ask(harness), "reject");
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed.filter((name) => name.startsWith("publish"))).toEqual([]);
  });

  it("refuses what is no option, and a second answer, and runs what follows once", () => {
    const harness = new EngineHarness(review());
    harness.start();
    harness.performOne();
    const question = ask(harness);
    harness.answer(question, "perhaps");
    expect(harness.of("noted").map(({ text }) => text)).toEqual([
      "answer of ann refused: perhaps is not one of approve, revise, reject",
    ]);
    harness.answer(question, "approve");
    harness.submit({
      kind: "message",
      message: { kind: "answer", question: question.id, answer: "reject", by: "bob" },
    });
    harness.answer(question, "approve");
    expect(harness.of("noted")).toHaveLength(2);
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.performed).toEqual(["draft#1", "publish#1"]);
  });

  it("E3: holds at every prefix of its history: what is asked is asked once more or still, and what was answered counts", () => {
    const harness = new EngineHarness(review());
    harness.start();
    harness.performOne();
    harness.answer(ask(harness), "approve");
    harness.finish();
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      const closed = next.closed ?? next.finish();
      const wasAnswered = harness.events.slice(0, count).some(({ type }) => type === "question_answered");
      if (wasAnswered) {
        expect([count, closed.exitStatus]).toEqual([count, 0]);
        continue;
      }
      expect([count, closed.exitStatus, next.openQuestions.length]).toEqual([count, 20, 1]);
      const again = next.crash();
      again.resume();
      again.answer(ask(again), "reject");
      expect(again.finish().exitStatus).toBe(0);
      expect(again.performed).not.toContain("publish#1");
    }
  });

  it("holds on every resume: no flag for steps of unknown outcome answers it", () => {
    const harness = new EngineHarness(review());
    harness.run();
    for (const onUnknown of ["rerun", "skip", "fail"] as const) {
      const next = harness.crash();
      next.resume({ onUnknown, onUnknownOf: { review: onUnknown }, byPerson: true });
      expect(next.finish().exitStatus).toBe(20);
      expect(next.openQuestions.map(({ id }) => id)).toEqual(["gate:main/review@1.1:1"]);
    }
  });

  it("does not count the time a person takes as working time", () => {
    const harness = new EngineHarness(review());
    harness.start();
    harness.performOne();
    const before = harness.state.totals.elapsedMs;
    harness.nowMs += 3_600_000;
    harness.answer(ask(harness), "reject");
    expect(harness.state.totals.elapsedMs).toBe(before);
  });

  it("blocks only what waits for it: the others of a dag or a group go on, also in a window of one", () => {
    const flow = workflow(
      dag("main", [
        gate("ok", [{ value: "yes" }]),
        model("other"),
        model("after", { dependsOn: ["ok"] }),
        parallel("group", [gate("inner", [{ value: "yes" }]), model("x"), model("y")], { maxConcurrent: 1 }),
      ]),
    );
    const harness = new EngineHarness(flow);
    expect(harness.run().exitStatus).toBe(20);
    expect(harness.performed).toEqual(["other#1", "x#1", "y#1"]);
    expect(harness.openQuestions.map(({ id }) => id)).toEqual(["gate:main/ok@1.1:1", "gate:main/group/inner@1.1:1"]);
    const next = harness.crash();
    next.resume();
    for (const question of next.openQuestions) next.answer(question, "yes");
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["after#1"]);
  });

  it("is withdrawn with a group that fails fast, and asks anew when the group is given another chance", () => {
    const flow = workflow(
      machine("main", [
        parallel("group", [gate("ok", [{ value: "yes" }]), model("bad")], { failureMode: "fail_fast" }),
      ]),
    );
    let isBad = true;
    const harness = new EngineHarness(flow, { perform: () => (isBad ? failed() : done(1)) });
    expect(harness.run().exitStatus).toBe(4);
    expect(harness.openQuestions).toEqual([]);
    isBad = false;
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(20);
    expect(ask(next).id).toBe("gate:main/group/ok@1.1:2");
  });

  it("is reminded of once at half of its time, and answers itself with what the workflow says", () => {
    const harness = new EngineHarness(review({ timeoutMs: 60_000, onTimeout: "reject" }));
    harness.start();
    harness.performOne();
    const { openedAtMs, expiresAtMs } = ask(harness);
    expect(expiresAtMs).toBe(openedAtMs + 60_000);
    expect(harness.finish().exitStatus).toBe(0);
    expect(harness.of("question_reminded")).toMatchObject([{ atMs: openedAtMs + 30_000 }]);
    expect(harness.of("question_answered")).toMatchObject([{ answer: "reject", by: BY_TIMEOUT, atMs: expiresAtMs }]);
    expect(harness.state.decisions.map(({ agent, rationale }) => [agent, rationale])).toEqual([
      ["engine", "nobody answered in time"],
    ]);
    expect(harness.performed).toEqual(["draft#1"]);
  });

  it("leaves a long wait to another process, and names when its time is over", () => {
    const harness = new EngineHarness(review({ timeoutMs: 86_400_000, onTimeout: "reject" }), {
      sleepMsMax: 60_000,
    });
    const closed = harness.run();
    expect([closed.end, closed.exitStatus, closed.resumeAtMs]).toEqual(["waiting", 20, ask(harness).expiresAtMs]);
  });
});

describe("gates of items and nested workflows", () => {
  it("ask once per item, hold up that item only, and keep each answer with its item", () => {
    const body = nested(
      "each",
      machine("root", [
        gate("ok", [
          { value: "yes", route: "work" },
          { value: "no", route: "$end" },
        ]),
        model("work"),
      ]),
    );
    const flow = workflow(machine("main", [forEach("all", body)]), {
      inputs: { items: { type: "array", required: true } },
    });
    const harness = new EngineHarness(flow, { inputs: { items: ["a", "b", "c"] } });
    expect(harness.run().exitStatus).toBe(20);
    expect(new Set(harness.openQuestions.map(({ id }) => id)).size).toBe(3);
    const next = harness.crash();
    next.resume();
    const [first, second, third] = next.openQuestions;
    next.answer(second!, "yes");
    next.performOne();
    expect(next.performed).toEqual(["work#1"]);
    expect(next.openQuestions).toHaveLength(2);
    next.answer(first!, "no");
    next.answer(third!, "yes");
    expect(next.finish().exitStatus).toBe(0);
    expect(next.performed).toEqual(["work#1", "work#1"]);
  });

  it("are not asked again when a later step of the nested workflow is taken up after a crash", () => {
    const inner = machine("root", [gate("ok", [{ value: "yes", route: "work" }]), model("work")]);
    const flow = workflow(machine("main", [nested("deep", machine("root", [nested("sub", inner)]))]));
    const harness = new EngineHarness(flow);
    harness.start();
    harness.answer(ask(harness), "yes");
    const next = harness.crash();
    next.resume();
    expect(next.finish().exitStatus).toBe(0);
    expect([next.performed, next.of("question_opened").length]).toEqual([["work#2"], 1]);
  });
});

describe("a terminate step", () => {
  const flow = (options: object) =>
    workflow(
      machine("main", [
        model("check", { routes: [{ to: "stop", when: "{{ output.stop }}" }, { to: "work" }] }),
        terminateStep("stop", { reason: "because {{ check.output.why }}", ...options }),
        model("work"),
      ]),
      { output: { result: "{{ work.output.name | default('none') }}" } },
    );
  const run = (options: object) => {
    const harness = new EngineHarness(flow(options), { perform: () => done({ stop: true, why: "old" }) });
    return { harness, closed: harness.run() };
  };

  it("ends the workflow well, with the workflow's output or its own", () => {
    const plain = run({});
    expect([plain.closed.end, plain.closed.exitStatus, plain.closed.reason]).toEqual(["done", 0, "because old"]);
    expect(plain.harness.output).toEqual({ result: "none" });
    const own = run({ outputTemplate: { result: "no-op", why: "{{ check.output.why }}" } });
    expect(own.harness.output).toEqual({ result: "no-op", why: "old" });
    expect(own.harness.performed).toEqual(["check#1"]);
  });

  it("ends it failed, with 4, an output, and nothing to resume", () => {
    const { harness, closed } = run({ status: "failed", outputTemplate: { result: "aborted" } });
    expect([closed.end, closed.exitStatus, closed.reason, closed.resumable]).toEqual([
      "failed",
      4,
      "because old",
      false,
    ]);
    expect(harness.output).toEqual({ result: "aborted" });
  });

  it("E3: ends it from every prefix of its history", () => {
    const { harness } = run({ status: "failed" });
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      expect([count, (next.closed ?? next.finish()).reason]).toEqual([count, "because old"]);
    }
  });
});
