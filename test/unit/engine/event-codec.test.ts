import { describe, expect, it } from "vitest";
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
