import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.js";
import { changeState } from "../../../src/runtime/verbs/state-change.js";
import { done, EngineHarness } from "../../support/engine-harness.js";
import { codeOfAsync } from "../../support/error-code.js";
import { machine, model, parallel, workflow } from "../../support/workflow-builder.js";

const LOADED: JsonValue = { big: "loaded" };

function midway(): EngineHarness {
  const flow = workflow(
    machine("main", [
      parallel("left", [model("look"), model("v1.2")], { routes: [{ to: "right" }] }),
      parallel("right", [model("look")]),
    ]),
  );
  const harness = new EngineHarness(flow, {
    inputs: { subject: "tea", tags: ["a", "b"], deep: { n: 1 } },
    perform: () => done({ found: [1, { x: 2 }] }),
  });
  harness.start();
  while (harness.performOne());
  harness.changeChannel({ op: "set", key: "notes", value: { first: "x" } });
  harness.changeChannel({ op: "set", key: "notes.more", value: ["y"] });
  return harness;
}

const set = (harness: EngineHarness, path: string, value: JsonValue) =>
  changeState(harness.state, { path, value }, () => Promise.resolve(LOADED));

describe("changeState", () => {
  it("changes an input, a part of one, an item of a list, and adds a new one", async () => {
    const harness = midway();
    await set(harness, "inputs.subject", "coffee");
    await set(harness, "inputs.deep.n", 2);
    await set(harness, "inputs.tags.1", "c");
    await set(harness, "inputs.tags.2", "d");
    await set(harness, "inputs.fresh", null);
    expect(harness.state.task?.inputs).toEqual({
      subject: "coffee",
      tags: ["a", "c", "d"],
      deep: { n: 2 },
      fresh: null,
    });
  });

  it("changes the channel by the longest key that is there, and adds new keys", async () => {
    const harness = midway();
    await set(harness, "channel.notes.first", "z");
    await set(harness, "channel.notes.more.0", "w");
    await set(harness, "channel.new", 1);
    expect(Object.fromEntries(harness.state.channel)).toEqual({
      notes: { first: "z" },
      "notes.more": ["w"],
      new: 1,
    });
  });

  it("changes an output where templates see it and in its step, by path or by an end that is the only one", async () => {
    const harness = midway();
    await set(harness, "outputs.left/look.found.1.x", 3);
    await set(harness, "outputs.v1.2", "whole");
    const look = { inline: { found: [1, { x: 3 }] } };
    expect(harness.state.outputs.get("main/left/look")?.value).toEqual(look);
    expect(harness.step("main/left/look").output).toEqual(look);
    expect(harness.step("main/left/v1.2").output).toEqual({ inline: "whole" });
    expect(Object.isFrozen(harness.step("main/left/look"))).toBe(true);
  });

  it("loads an output that is a blob before it changes a part of it", async () => {
    const harness = midway();
    const before = harness.state.outputs.get("main/left/look");
    harness.state.outputs.set("main/left/look", {
      by: before?.by ?? "",
      value: { blob: { key: "k", sizeBytes: 1, digest: "d" } },
    });
    await set(harness, "outputs.main/left/look.more", true);
    expect(harness.state.outputs.get("main/left/look")?.value).toEqual({ inline: { big: "loaded", more: true } });
  });

  it("E4: leaves what was captured before alone", async () => {
    const harness = midway();
    const inputs = harness.state.task?.inputs;
    const step = harness.step("main/left/look");
    await set(harness, "inputs.deep.n", 9);
    await set(harness, "outputs.left/look.found", 9);
    expect(inputs).toMatchObject({ deep: { n: 1 } });
    expect(step.output).toEqual({ inline: { found: [1, { x: 2 }] } });
  });

  it.each([
    "inputs",
    "inputs.",
    "steps.a",
    "outputs.look",
    "outputs.nowhere",
    "inputs.subject.x",
    "inputs.tags.7",
    "inputs.tags.x",
    "inputs.deep.m.n",
    "inputs.__proto__.x",
  ])("refuses %s, which leads nowhere, and changes nothing", async (path) => {
    const harness = midway();
    const before = { ...harness.state.task?.inputs };
    expect(await codeOfAsync(() => set(harness, path, 1))).toBe("USAGE_INVALID");
    expect(harness.state.task?.inputs).toEqual(before);
    expect(Object.prototype).not.toHaveProperty("x");
  });
});
