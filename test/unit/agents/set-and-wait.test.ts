import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createStepWork } from "../../support/step-work.js";

let clock: FakeClock;
let room: PerformerRoom;
beforeEach(() => {
  clock = new FakeClock(1_000_000);
  room = openPerformerRoom({ clock });
});
afterEach(() => room.close());

const set = (definition: object, value: JsonValue) =>
  room.perform(createStepWork("set", { definition, rendered: { value } }));

describe("a set step", () => {
  it.each<[string, JsonValue, JsonValue]>([
    ["{{ a }}", "5", "5"],
    ["{{ a }}{{ b }}", "55", 55],
    ["{{ a }}/{{ b }}", "org/repo", "org/repo"],
    ["{% if a %}yes{% endif %}", "yes", true],
    ["[{{ a }}, {{ b }}]", "[1, x]", [1, "x"]],
    ["{% for %}- a{% endfor %}", "- a\n- b: 2024-01-02", ["a", { b: "2024-01-02T00:00:00.000Z" }]],
    ["x: {{ a }} : {", "x: 1 : {", "x: 1 : {"],
    ["{{ a }} ", "", ""],
    ["5", "5", "5"],
    ["{{ a }}", { b: [1] }, { b: [1] }],
  ])("of %j keeps or reads the type of %j", async (template, rendered, output) => {
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
  ])("with output_type %s makes %j", async (outputType, rendered, output) => {
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
  ])("with output_type %s refuses %j", async (outputType, rendered) => {
    expect(await set({ value: "{{ a }}", outputType }, rendered)).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", message: `the value of the set step is no ${outputType}` },
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
    expect(outcome).toEqual({ status: "completed", output: { a: "1", b: 12 } });
  });
});

describe("a wait step", () => {
  it("waits until the durable time and not from its own start", async () => {
    const work = createStepWork("wait", { step: { intendedAtMs: 990_000, dueAtMs: 1_200_000 } });
    let isDone = false;
    const outcome = room.perform(work).finally(() => (isDone = true));
    await clock.advance(199_999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect(await outcome).toEqual({ status: "completed", output: { waited_seconds: 210 } });
  });

  it("is over at once when the time has passed while nobody ran", async () => {
    const work = createStepWork("wait", { step: { intendedAtMs: 1, dueAtMs: 999_999 } });
    expect(await room.perform(work)).toMatchObject({ status: "completed", output: { waited_seconds: 999.998 } });
  });

  it("notices within a minute that wall time has jumped", async () => {
    const outcome = room.perform(createStepWork("wait", { step: { intendedAtMs: 0, dueAtMs: 1_000_000_000 } }));
    clock.jumpWall(1_000_000_000);
    await clock.advance(60_000);
    expect(await outcome).toMatchObject({ status: "completed" });
  });

  it("ends with the signal", async () => {
    const controller = new AbortController();
    const work = createStepWork("wait", { step: { dueAtMs: 2_000_000 } });
    const outcome = room.perform(work, { signal: controller.signal });
    controller.abort();
    expect(await outcome).toEqual({ status: "cancelled" });
  });
});
