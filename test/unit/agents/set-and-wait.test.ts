import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { codeOfAsync } from "../../support/error-code.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createStepWork } from "../../support/step-work.js";

let room: PerformerRoom;
beforeEach(() => {
  room = openPerformerRoom();
});
afterEach(() => room.close());

const set = (definition: object, value: JsonValue) =>
  room.perform(createStepWork("set", { definition, rendered: { value } }));

describe("a set step", () => {
  it.each<[string, JsonValue, JsonValue]>([
    ["{{ a }}", "5", 5],
    ["{{ a }}{{ b }}", "55", 55],
    ["{{ a }}/{{ b }}", "org/repo", "org/repo"],
    ["{% if a %}yes{% endif %}", "yes", "yes"],
    ["[{{ a }}, {{ b }}]", "[1, x]", [1, "x"]],
    ["{% for %}- a{% endfor %}", "- a\n- b: 2024-01-02", ["a", { b: "2024-01-02" }]],
    ["x: {{ a }} : {", "x: 1 : {", "x: 1 : {"],
    ["{{ a }} ", "", ""],
    ["5", "5", 5],
    ["{{ a }}:{{ b }}", "1:30", "1:30"],
    ["#{{ a }}", "#12", "#12"],
    ["{{ a }}", "1234567890123456789", "1234567890123456789"],
    ["{{ a }}", "# nothing but a comment", "# nothing but a comment"],
    ["{{ a }}", { b: [1] }, { b: [1] }],
  ])("[kinds F2b] reads what %j gave, %j, as YAML 1.2", async (template, rendered, output) => {
    expect(await set({ value: template, outputType: "auto" }, rendered)).toEqual({ status: "completed", output });
  });

  it.each<[string, JsonValue, JsonValue]>([
    ["string", { a: true }, "{'a': True}"],
    ["number", "1.5", 1.5],
    ["integer", " 7 ", 7],
    ["boolean", "Yes", true],
    ["boolean", 0, false],
    ["list", "[1, 2]", [1, 2]],
    ["dict", '{"a": 1}', { a: 1 }],
    ["dict", { a: 1 }, { a: 1 }],
  ])("[kinds F2b kin] with output_type %s makes %j", async (outputType, rendered, output) => {
    expect(await set({ value: "{{ a }}", outputType }, rendered)).toEqual({ status: "completed", output });
  });

  it.each<[string, JsonValue]>([
    ["number", "x"],
    ["number", ""],
    ["number", true],
    ["integer", 1.5],
    ["boolean", "maybe"],
    ["list", "{}"],
    ["dict", [1]],
  ])("[kinds F2b kin] with output_type %s refuses %j", async (outputType, rendered) => {
    expect(await set({ value: "{{ a }}", outputType }, rendered)).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message: `the value of the set step is no ${outputType}` },
    });
  });

  it.each<[string, string]>([
    ["{1: a}", "1"],
    ["[{true: a}]", "true"],
    ["{a: {2: b}}", "2"],
  ])("[kinds F2b kin] refuses %j, as JSON has no key that is no text", async (text, key) => {
    expect(await set({ value: text, outputType: "auto" }, text)).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message: `the value of the set step has a key that is no text: ${key}` },
    });
  });

  it("keeps the placeholder of a secret, because its value is stored", async () => {
    const definition = { value: "{{ secrets.TOKEN }}", outputType: "auto", secrets: ["TOKEN"] };
    expect(await set(definition, "{{ secrets.TOKEN }}")).toMatchObject({ output: "{{ secrets.TOKEN }}" });
  });

  it("sets several values, each read by its own template", async () => {
    const definition = { values: { a: "{{ x }}", b: "{{ x }}{{ y }}" }, outputType: "auto" };
    const outcome = await room.perform(
      createStepWork("set", { definition, rendered: { values: { a: "1", b: "12" } } }),
    );
    expect(outcome).toEqual({ status: "completed", output: { a: 1, b: 12 } });
  });
});

describe("a wait step", () => {
  it("is nobody's work: to perform one is a mistake of ours", async () => {
    expect(await codeOfAsync(() => room.perform(createStepWork("wait")))).toBe("INTERNAL");
  });
});
