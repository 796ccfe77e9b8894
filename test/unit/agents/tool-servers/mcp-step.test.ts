/** A step that is one call of a server's tool: what it gives, what is recorded, and what a further attempt does. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/base/json.js";
import type { ToolServer } from "../../../../src/definition/model/tool-definition.js";
import type { StepWork } from "../../../../src/engine/model/ports.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../../support/step-work.js";
import { errorOf, ToolTalks } from "../../../support/tool-talks.js";

const talks = new ToolTalks();

async function call(server: ToolServer, tool: string, { input = {}, definition = {}, ...rest }: WorkParts = {}) {
  const room = talks.open({ environment: { PATH: process.env["PATH"] ?? "" } });
  const sink = createRecordingSink();
  const narrow = { ...server, allowed: [[tool]], required: [tool] };
  const work = createStepWork("mcp", {
    workflowFolder: talks.folder,
    definition: { server: narrow, tool, ...definition },
    input,
    ...rest,
  });
  return { outcome: await room.perform(work, { sink }), sink };
}

const recorded = (name: string, result: JsonObject): StepWork["tools"] => new Map([[name, { result }]]);

describe("an mcp step", () => {
  it("gives a text as its result, the call and its result recorded as those of a model are", async () => {
    const { outcome, sink } = await call(talks.strange("good"), "act", { input: { n: 1 } });
    expect(outcome).toEqual({ status: "completed", output: { result: 'act {"n":1}' } });
    const tool = JSON.stringify(["odd", "act"]);
    expect(sink.of("toolIntended")).toEqual([
      ["1.1", { name: "odd__act", tool, input: { n: 1 }, effects: "external" }],
    ]);
    expect(sink.of("toolCompleted")).toEqual([["1.1", { value: 'act {"n":1}' }]]);
  });

  it.each([
    ["read", "none"],
    ["again", "idempotent"],
  ])("takes what a call may do from the server's hints: %s", async (tool, effects) => {
    const { sink } = await call(talks.strange("good"), tool);
    expect(sink.of("toolIntended")).toMatchObject([["1.1", { effects }]]);
  });

  it("gives structured content as it is, and other content beside its text: a public server", async () => {
    const weather = await call(talks.everything(), "get-structured-content", { input: { location: "Chicago" } });
    expect(weather.outcome).toMatchObject({
      status: "completed",
      output: { temperature: expect.any(Number) as number },
    });
    const image = await call(talks.everything(), "get-tiny-image");
    expect(image.outcome).toMatchObject({
      status: "completed",
      output: { result: expect.stringContaining("image/png") as string, content: expect.any(Array) as unknown[] },
    });
  });

  it("gives the declared output, or fails with what came in its place", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const good = await call(talks.strange("good"), "act", { input: { n: 1 }, definition: { outputSchema } });
    expect(good.outcome).toEqual({ status: "completed", output: { n: 1 } });
    const bad = await call(talks.strange("large"), "act", { definition: { outputSchema } });
    expect(errorOf(bad.outcome)).toMatchObject({ code: "STEP_OUTPUT_INVALID" });
  });

  it("fails where the tool says that it failed, and where the input does not fit", async () => {
    const failed = await call(talks.strange("fails"), "act");
    expect(errorOf(failed.outcome)).toMatchObject({
      code: "TOOL_FAILED",
      message: "act of the server odd failed: disk full",
    });
    expect(failed.sink.of("toolCompleted")).toEqual([["1.1", { error: "disk full" }]]);
    const unfit = await call(talks.everything(), "get-sum", { input: { a: "four", b: 5 } });
    expect(errorOf(unfit.outcome)?.message).toContain("the input does not fit");
  });

  it("fails by name where the server has no such tool", async () => {
    const { outcome } = await call(talks.strange("good"), "fly");
    expect(errorOf(outcome)).toMatchObject({ code: "TOOL_UNAVAILABLE", details: { tool: "fly" } });
  });

  it("A3: uses a result that is recorded, and starts no server for it", async () => {
    const { outcome, sink } = await call(talks.program("odd", ["/nowhere/at-all"]), "act", {
      tools: recorded("1.1", { value: "paid" }),
    });
    expect(outcome).toEqual({ status: "completed", output: { result: "paid" } });
    expect(sink.of("toolIntended")).toEqual([]);
  });

  it("makes another call after one that was answered with an error", async () => {
    const { outcome, sink } = await call(talks.strange("good"), "act", {
      tools: recorded("1.1", { error: "disk full" }),
    });
    expect(outcome).toMatchObject({ status: "completed" });
    expect(sink.of("toolIntended")).toMatchObject([["1.2", { name: "odd__act" }]]);
  });
});
