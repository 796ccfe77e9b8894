import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/base/json.js";
import { LIMITS } from "../../../src/base/limits.js";
import { createState } from "../../../src/engine/model/state.js";
import { captureState, decodeState, encodeCaptured, hashState } from "../../../src/engine/model/state-codec.js";
import { codeOf } from "../../support/error-code.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { bestMsOf, measureSlowness } from "../../support/machine-speed.js";
import { model, parallel, workflow } from "../../support/workflow-builder.js";

const PIECE_CHARS_MAX = 64 * 1024;
const textOf = (state: EngineHarness["state"]) => [...encodeCaptured(captureState(state))].join("");

/** A task in the middle of a wide group, with something in every section. */
function midway(): EngineHarness {
  const harness = new EngineHarness(
    workflow(parallel("main", [model("a"), model("b"), model("c")], { maxConcurrent: 2 })),
    {
      perform: (step) => (step.name === "a" ? done({ x: 1 }, { confidence: 0.9 }) : undefined),
    },
  );
  harness.start();
  harness.performOne();
  const { id } = harness.step("main/b");
  harness.report({ type: "turn_recorded", step: id, attempt: 1, value: { inline: "t" } });
  harness.report({
    type: "tool_intended",
    step: id,
    attempt: 1,
    call: "c1",
    name: "grep",
    value: { inline: {} },
    effects: "none",
  });
  harness.report({ type: "substep_completed", step: id, attempt: 1, name: "s", value: { inline: 1 } });
  harness.changeChannel({ op: "append", key: "log", value: "x" });
  harness.submit({
    kind: "ask",
    questionKind: "loss",
    subject: "task",
    text: "?",
    options: [{ value: "y", label: "y" }],
  });
  return harness;
}

describe("a state as text", () => {
  it("comes back deep-equal, entries frozen", () => {
    const { state } = midway();
    const back = decodeState(textOf(state));
    expect(back).toEqual(state);
    expect(hashState(back)).toBe(hashState(state));
    expect(Object.isFrozen([...back.steps.values()][0])).toBe(true);
    expect(decodeState(textOf(createState()))).toEqual(createState());
  });

  it("E4: later events do not show in what was captured", () => {
    const harness = midway();
    const captured = captureState(harness.state);
    const before = [...encodeCaptured(captured)].join("");
    harness.perform = () => done("later");
    harness.report({ type: "turn_recorded", step: harness.step("main/b").id, attempt: 1, value: { inline: "t2" } });
    harness.answer(harness.openQuestions[0]!, "y");
    harness.finish();
    expect([...encodeCaptured(captured)].join("")).toBe(before);
    expect(textOf(harness.state)).not.toBe(before);
  });

  it("is captured in well under a millisecond at 10,000 steps and encoded in small pieces", () => {
    const names = Array.from({ length: 10_000 }, (_unused, at) => model(`s${at}`));
    const harness = new EngineHarness(workflow(parallel("main", names, { maxConcurrent: 64 })));
    harness.run();
    expect(bestMsOf(9, () => captureState(harness.state))).toBeLessThan(2 * measureSlowness());
    let longest = 0;
    for (const piece of encodeCaptured(captureState(harness.state))) longest = Math.max(longest, piece.length);
    expect(longest).toBeLessThan(PIECE_CHARS_MAX);
  });

  it("is encoded in pieces of at most 64 KB, however large an input, a group's value or a list of the channel is", () => {
    const harness = new EngineHarness(workflow(parallel("main", [model("a")])), {
      inputs: { text: "é\n".repeat(1_000_000) },
      perform: () => done({ text: "x".repeat(LIMITS.blobThresholdBytes - 100) }),
    });
    harness.run();
    const { state } = harness;
    const members = Array.from({ length: 5_000 }, (_none, at) => [`member ${at}`, { at, text: "y".repeat(40) }]);
    const value = { inline: { type: "for_each", outputs: Object.fromEntries(members) as JsonObject } };
    state.outputs.set("main/group", { value, by: "main/group" });
    state.channel.set(
      "log",
      Array.from({ length: 50_000 }, (_none, at) => at),
    );
    const pieces = [...encodeCaptured(captureState(state))];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(PIECE_CHARS_MAX);
    expect(decodeState(pieces.join(""))).toEqual(state);
  });

  it.each([
    ["not JSON", "{", "CHECKPOINT_CORRUPT"],
    ["no object", "7", "CHECKPOINT_CORRUPT"],
    ["no schema", "{}", "FORMAT_VERSION"],
    ["a newer schema", '{"schema":999}', "FORMAT_VERSION"],
    ["missing sections", '{"schema":1,"position":1,"atMs":1,"epoch":1,"round":1,"task":null}', "CHECKPOINT_CORRUPT"],
  ])("refuses %s", (_what, json, code) => {
    expect(codeOf(() => decodeState(json))).toBe(code);
  });

  it("refuses an entry that lacks what folding relies on", () => {
    const text = textOf(midway().state);
    for (const [from, to] of [
      ['"attempt":1', '"attempt":"1"'],
      ['"ready":[', '"ready":7,"x":['],
      ['"visits":[[', '"visits":[[7,'],
      ['"open":["', '"open":[7,"'],
      ['"totals":{', '"totals":{"steps":null,"q":{'],
    ] as const) {
      expect(text).toContain(from);
      const damaged = text.replace(from, to).replace(/"q":\{([^}]*)\}/, '"q":{$1}}');
      expect(`${to} ${codeOf(() => decodeState(damaged))}`).toBe(`${to} CHECKPOINT_CORRUPT`);
    }
  });
});
