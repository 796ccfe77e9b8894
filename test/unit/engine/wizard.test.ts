import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { machine, model, questions, workflow } from "../../support/workflow-builder.js";

const ITEMS = [
  "name",
  { id: "size", choices: ["small", "large"], allowFreeText: false },
  { id: "note", default: "none" },
  { id: "must", required: true },
];

const ALL = { back: true, skip: true, skipAll: true, abort: true };

function open(options: object = {}, items: Parameters<typeof questions>[1] = ITEMS) {
  const flow = workflow(
    machine("main", [
      questions("ask", items, { prompt: "Some questions", routes: [{ to: "after" }], ...options }),
      model("after"),
      model("left"),
    ]),
  );
  const harness = new EngineHarness(flow, { perform: () => done(1) });
  harness.start();
  return harness;
}

const question = (harness: EngineHarness) => [...harness.state.questions.values()].at(-1)!;
const wizard = (harness: EngineHarness) => question(harness).wizard!;
const move = (harness: EngineHarness, answer: string, value?: JsonValue) =>
  harness.answer(question(harness), answer, value);
const output = (harness: EngineHarness) => (harness.step("main/ask").output as { inline: JsonValue }).inline;

describe("a wizard of questions", () => {
  it("takes one answer after the other, each durable by itself, and gives what was said", () => {
    const harness = open();
    expect(question(harness)).toMatchObject({ kind: "questions", text: "Some questions", status: "open" });
    move(harness, "answer", { name: "Ada" });
    move(harness, "answer", { size: "large" });
    expect([wizard(harness).cursor, wizard(harness).moves]).toEqual([2, 2]);
    move(harness, "answer", { note: "" });
    move(harness, "answer", { must: true });
    expect(harness.finish().exitStatus).toBe(0);
    expect(output(harness)).toEqual({
      answers: { name: "Ada", size: "large", note: "none", must: true },
      items: [
        { id: "name", question: "name?", answer: "Ada", source: "free_text", skipped: false },
        { id: "size", question: "size?", answer: "large", source: "choice", skipped: false },
        { id: "note", question: "note?", answer: "none", source: "default", skipped: false },
        { id: "must", question: "must?", answer: true, source: "free_text", skipped: false },
      ],
      transcript: "Q: name?\nA: Ada\n\nQ: size?\nA: large\n\nQ: note?\nA: none\n\nQ: must?\nA: true",
      answered_count: 4,
      skipped_count: 0,
      answered_any: true,
      outcome: "completed",
    });
    expect(harness.performed).toEqual(["after#1"]);
    expect(harness.of("question_moved").map((event) => [event.move, event.outcome])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, "completed"],
    ]);
  });

  it("takes a map of answers at once, in any order", () => {
    const harness = open();
    move(harness, "answer", { must: "yes", name: "Ada" });
    expect(wizard(harness).cursor).toBe(1);
    move(harness, "answer", { note: "n", size: "small" });
    expect(output(harness)).toMatchObject({ answered_count: 4, outcome: "completed" });
  });

  it("goes back, skips one, skips what is left", () => {
    const harness = open();
    move(harness, "answer", { name: "Ida" });
    move(harness, "back");
    expect([wizard(harness).cursor, wizard(harness).settled]).toEqual([0, {}]);
    move(harness, "answer", { name: "Ada" });
    move(harness, "skip");
    move(harness, "answer", { must: 1 });
    move(harness, "skip_all");
    expect(output(harness)).toMatchObject({
      answers: { name: "Ada", size: null, note: null, must: 1 },
      answered_count: 2,
      skipped_count: 2,
      outcome: "skipped_remaining",
    });
  });

  it("is left without answers where that is allowed, and goes the way out", () => {
    const harness = open({ allow: ALL, abortRoute: "left" });
    move(harness, "answer", { name: "Ada" });
    move(harness, "abort");
    expect(output(harness)).toMatchObject({ answers: { name: "Ada", must: null }, outcome: "aborted" });
    harness.finish();
    expect(harness.performed).toEqual(["left#1"]);
  });

  it.each([
    ["answer", { name: { a: 1 } }, "the answer to name is a text, a number, true or false"],
    ["answer", { size: "huge" }, "huge is not one of small, large, the choices of size"],
    ["answer", { other: 1 }, "there is no question other; there are name, size, note, must"],
    ["answer", { must: "" }, "must needs an answer"],
    ["answer", undefined, 'answers are a map of ids, e.g. {"q1": "yes"}'],
    ["skip", "must", "must cannot be skipped"],
    ["skip_all", undefined, "must cannot be skipped"],
    ["back", undefined, "this is the first question"],
    ["abort", undefined, "it cannot be left without answers"],
    ["jump", undefined, "jump is not one of answer, skip, skip_all, back"],
  ] as const)("refuses %s %j: %s", async (answer, value, fault) => {
    const { findAnswerFault } = await import("../../../src/engine/rules/questions/questions.js");
    const harness = open();
    expect(findAnswerFault(question(harness), { answer, ...(value === undefined ? {} : { value }) })).toBe(fault);
  });

  it("refuses moves that the workflow does not allow", async () => {
    const { findAnswerFault } = await import("../../../src/engine/rules/questions/questions.js");
    const harness = open({ allow: { back: false, skip: false, skipAll: false, abort: false } }, ["a", "b"]);
    const faults = ["skip", "skip_all", "back", "abort"].map((answer) =>
      findAnswerFault(question(harness), { answer }),
    );
    expect(faults).toEqual([
      "a cannot be skipped",
      "what is left cannot be skipped",
      "there is no going back",
      "it cannot be left without answers",
    ]);
  });

  it("takes each move once, in order, whoever makes it: a late or repeated one changes nothing", () => {
    const harness = open();
    const at = (by: string, number: number, value: JsonValue) =>
      harness.submit({
        kind: "message",
        message: { kind: "answer", question: question(harness).id, answer: "answer", value, by, move: number },
      });
    at("ann", 1, { name: "Ada" });
    expect(at("ann", 1, { name: "Ada" })).toEqual([]);
    expect(at("bob", 1, { name: "Bob" })).toEqual([]);
    expect(at("bob", 3, { note: "x" })).toEqual([]);
    expect(wizard(harness).settled).toEqual({ name: { value: "Ada", source: "free_text" } });
  });

  it("E3: goes on with the next item from every prefix of its history", () => {
    const harness = open();
    move(harness, "answer", { name: "Ada" });
    move(harness, "skip");
    move(harness, "answer", { note: "n" });
    move(harness, "answer", { must: "m" });
    harness.finish();
    for (let count = 1; count < harness.events.length; count += 1) {
      const next = harness.crash(count);
      next.resume();
      const said = { name: "Ada", size: null, note: "n", must: "m" };
      while (question(next).status === "open") {
        const { items, cursor } = wizard(next);
        const { id } = items[cursor]!;
        if (id === "size") move(next, "skip");
        else move(next, "answer", { [id]: said[id as "name"] });
      }
      expect([count, (next.closed ?? next.finish()).exitStatus]).toEqual([count, 0]);
      expect(output(next)).toMatchObject({ answers: said, outcome: "completed" });
    }
  });

  it("asks what a step before gave: texts and maps, shown as they are", () => {
    const flow = workflow(
      machine("main", [
        model("think", { routes: [{ to: "ask" }] }),
        questions("ask", [], { source: "think.output.open" }),
      ]),
    );
    const given = [
      "plain {{ 1 }}",
      { question: "size?", choices: ["s", 2], allow_free_text: false },
      { id: "x", text: "t" },
    ];
    const harness = new EngineHarness(flow, { perform: () => done({ open: given }) });
    harness.start();
    harness.performOne();
    expect(wizard(harness).items).toMatchObject([
      { id: "q1", text: "plain {{ 1 }}", choices: [], allowFreeText: true },
      { id: "q2", text: "size?", choices: ["s", "2"], allowFreeText: false },
      { id: "x", text: "t" },
    ]);
    move(harness, "skip_all");
    expect(harness.finish().exitStatus).toBe(0);
  });

  it("without questions is answered at once, and with what are none it fails with their fault", () => {
    const flow = workflow(
      machine("main", [
        model("think", { routes: [{ to: "ask" }] }),
        questions("ask", [], { source: "think.output.open" }),
      ]),
    );
    const empty = new EngineHarness(flow, { perform: () => done({ open: [] }) });
    expect(empty.run().exitStatus).toBe(0);
    expect(output(empty)).toMatchObject({ answers: {}, answered_any: false, outcome: "completed" });
    const broken = new EngineHarness(flow, { perform: () => done({ open: [{ hint: "no text" }] }) });
    expect(broken.run()).toMatchObject({ exitStatus: 4 });
    expect(broken.step("main/ask").error?.message).toContain("item 0 has no text");
  });

  it("answers itself with skip_all when its time is over", () => {
    const harness = open({ timeoutMs: 10_000, onTimeout: "skip_all" }, ["a", "b"]);
    move(harness, "answer", { a: 1 });
    expect(harness.finish().exitStatus).toBe(0);
    expect(output(harness)).toMatchObject({ answers: { a: 1, b: null }, outcome: "skipped_remaining" });
    expect(harness.of("question_moved").at(-1)).toMatchObject({ by: "timeout", action: "skip_all" });
  });
});
