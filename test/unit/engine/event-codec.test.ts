import { describe, expect, it } from "vitest";
import { evolve } from "../../../src/engine/fold/evolve.js";
import { decodeEvent, encodeEvent, EVENT_FAMILIES } from "../../../src/engine/model/event-codec.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { codeOf } from "../../support/error-code.js";
import { EngineHarness } from "../../support/engine-harness.js";
import { machine, model, workflow } from "../../support/workflow-builder.js";

const noted: EngineEvent = { type: "noted", atMs: 5, text: "hello", facts: { a: 1 } };

describe("events as text", () => {
  it("round-trip with their family in the clear", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])));
    harness.run();
    for (const event of harness.events) {
      const { kind, json } = encodeEvent(event);
      expect(EVENT_FAMILIES).toContain(kind);
      expect(JSON.parse(json)).toMatchObject({ schema: 1, type: event.type });
      expect(decodeEvent(kind, json)).toEqual(JSON.parse(JSON.stringify(event)));
    }
    expect(harness.events.map((event) => encodeEvent(event).kind)).toEqual([
      "task",
      "scope",
      "intent",
      "completion",
      "checkpoint",
      "scope",
      "checkpoint",
      "task",
    ]);
  });

  it.each([
    ["not JSON", "note", "{", "JOURNAL_CORRUPT"],
    ["no object", "note", "[]", "JOURNAL_CORRUPT"],
    ["an unknown type", "note", '{"schema":1,"type":"sung","atMs":1}', "JOURNAL_CORRUPT"],
    ["a type of the prototype", "note", '{"schema":1,"type":"toString","atMs":1}', "JOURNAL_CORRUPT"],
    ["another family", "task", encodeEvent(noted).json, "JOURNAL_CORRUPT"],
    ["no time", "note", '{"schema":1,"type":"noted","text":"x"}', "JOURNAL_CORRUPT"],
    ["a missing field", "note", '{"schema":1,"type":"noted","atMs":1}', "JOURNAL_CORRUPT"],
    ["an unknown field", "note", '{"schema":1,"type":"noted","atMs":1,"text":"x","mood":"good"}', "JOURNAL_CORRUPT"],
    ["a newer schema", "note", '{"schema":999,"type":"noted","atMs":1,"text":"x"}', "FORMAT_VERSION"],
    ["a schema in words", "note", '{"schema":"1","type":"noted","atMs":1,"text":"x"}', "FORMAT_VERSION"],
    ["no schema", "note", '{"type":"noted","atMs":1,"text":"x"}', "FORMAT_VERSION"],
  ])("refuse %s", (_what, kind, json, code) => {
    expect(codeOf(() => decodeEvent(kind, json))).toBe(code);
  });
});

const decision = (part: object): EngineEvent => ({
  type: "decision_made",
  atMs: 5,
  decision: {
    id: "d1",
    atMs: 5,
    agent: "engine",
    type: "stop",
    description: "stops",
    rationale: "asked",
    alternativesConsidered: [],
    ...part,
  },
});
const question = (about: object): EngineEvent => ({
  type: "question_opened",
  atMs: 5,
  question: { id: "limit:task:1", kind: "limit", text: "?", options: [], openedAtMs: 5, about } as never,
});

describe("what events act through", () => {
  it.each<[string, EngineEvent]>([
    ["a word that asks for a stop", decision({ effect: { kind: "stop", request: "r1" } })],
    ["a stop that keeps the status of a limit", decision({ effect: { kind: "stop", atLimit: true } })],
    [
      "a phase with one more specialist",
      decision({ effect: { kind: "settle_phase", spawn: [{ name: "a", path: "m/a" }] } }),
    ],
    ["the limit of a nested workflow", question({ kind: "limit", limit: "tokens", scope: "main/inner" })],
    ["why an owner left", { ...noted, effect: "crashed" }],
  ])("passes both ways: %s", (_what, event) => {
    const { kind, json } = encodeEvent(event);
    expect(decodeEvent(kind, json)).toEqual(event);
  });

  it.each<[string, EngineEvent, RegExp]>([
    ["an effect of no known kind", decision({ effect: { kind: "halt" } }), /an effect of an unknown kind "halt"/],
    ["an effect in a word", decision({ effect: "stop" }), /a decision without effect/],
    ["a misspelt field", decision({ effect: { kind: "stop", at_limit: true } }), /an effect stop with .* at_limit/],
    ["a missing field", decision({ effect: { kind: "route" } }), /an effect route without next/],
    ["a word that is none of the few", decision({ effect: { kind: "judge_phase", judged: "good" } }), /judged/],
    ["a specialist without a path", decision({ effect: { kind: "settle_phase", spawn: [{ name: "a" }] } }), /spawn/],
    ["a field of a decision", decision({ subjekt: "main" }), /a decision with an unknown field subjekt/],
    ["a question about a limit that is none", question({ kind: "limit", limit: "patience" }), /limit/],
    ["a note that would do something", { ...noted, effect: "explode" } as never, /unknown effect "explode"/],
  ])("is damage when read and our mistake when written: %s", (_what, event, fault) => {
    const { kind } = encodeEvent(
      event.type === "noted"
        ? noted
        : event.type === "question_opened"
          ? question({ kind: "plan", step: "s" })
          : decision({}),
    );
    const json = JSON.stringify({ schema: 1, ...event });
    expect(codeOf(() => decodeEvent(kind, json))).toBe("JOURNAL_CORRUPT");
    expect(() => decodeEvent(kind, json)).toThrow(fault);
    expect(() => encodeEvent(event)).toThrow(fault);
  });

  it("is never found among free facts", () => {
    const harness = new EngineHarness(workflow(machine("main", [model("a")])));
    harness.start();
    const before = harness.state.task;
    evolve(harness.state, decision({ facts: { request: "stop", consumes: "q1", discard_checkpoints: true } }));
    expect(harness.state.task).toEqual(before);
    expect(harness.state.decisions).toHaveLength(1);
  });
});
