/** Calls that reached their server: whatever is wrong with the answer, they were made and are told as made. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/base/json.js";
import type { StepWork } from "../../../../src/engine/model/ports.js";
import { createRecordingSink } from "../../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../../support/step-work.js";
import { SplashdownError } from "../../../../src/base/errors.js";
import { errorOf, ToolTalks, type ListedTool, type TalkEnd } from "../../../support/tool-talks.js";

const talks = new ToolTalks();
const CHARGE = {
  name: "charge",
  outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
};
const text = (said: string) => [{ type: "text", text: said }];
const ACTED = /the call was made|may have acted/;

/** One call of `charge` by an mcp step. */
async function step(tool: ListedTool, parts: WorkParts = {}, sink = createRecordingSink()) {
  const room = talks.open({ environment: { PATH: process.env["PATH"] ?? "" } });
  const { definition, ...rest } = parts;
  const server = talks.listed([tool], { allowed: [["charge"]], required: ["charge"] });
  const work = createStepWork("mcp", {
    workflowFolder: talks.folder,
    definition: { server, tool: "charge", ...definition },
    ...rest,
  });
  return { outcome: await room.perform(work, { sink }), sink, room };
}

const askModel = (tool: ListedTool): Promise<TalkEnd> =>
  talks.talk({ servers: [talks.listed([tool])], turns: [[{ tool: "reg__charge" }]] });

describe("a call whose answer is not of the declared form", () => {
  it("[public C] is made, kept as it came and told: an mcp step is done, and calls no second time", async () => {
    const answer = { content: text("charged"), structuredContent: { n: "7" } };
    const { outcome, sink, room } = await step({ ...CHARGE, answer });
    expect(outcome).toMatchObject({
      status: "completed",
      output: { n: "7" },
      factors: [expect.stringMatching(/not of the form that the server declares .*\/n/)],
    });
    expect(room.warnings).toEqual([expect.stringMatching(/was called, and the answer is not of the form/)]);
    const [, result] = sink.of("toolCompleted")[0] as [string, JsonObject];
    await step({ ...CHARGE, answer }, { tools: new Map([["1.1", { result }]]) });
    expect(await talks.read()).toEqual(["charge"]);
  });

  it("[public C kin] is made where the structured content is missing altogether", async () => {
    const { outcome } = await step({ ...CHARGE, answer: { content: text("charged") } });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "charged" } });
    expect(JSON.stringify(outcome)).toContain("there is no structured content");
  });

  it("[public C kin] is told to a model as made, with what came", async () => {
    const { requests, results } = await askModel({
      ...CHARGE,
      answer: { content: text("charged"), structuredContent: { n: "7" } },
    });
    const reply = JSON.stringify(requests[1]?.messages.at(-1));
    expect(reply).toContain("charged");
    expect(reply).toContain("[the call was made; ");
    expect(reply).toContain('"isError":false');
    expect(results).toMatchObject([{ structured: { n: "7" } }]);
  });

  it("[public L] is let through where the schema of the server cannot be used here", async () => {
    const odd = { type: "object", properties: { url: { type: "string", pattern: "^https\\:\\/\\/" } } };
    const { results } = await askModel({ name: "charge", inputSchema: odd, answer: { content: text("charged") } });
    expect(results).toMatchObject([{ value: "charged" }]);
  });

  it.each([
    ["[public L kin] draft 4", { $schema: "http://json-schema.org/draft-04/schema#", type: "object" }],
    ["[public L kin] a list of no values", { type: "object", properties: { way: { enum: [] } } }],
    ["[public L kin] a reference to elsewhere", { type: "object", properties: { a: { $ref: "https://x.example/a" } } }],
  ])("%s does not stand in the way of a call", async (_title, inputSchema) => {
    const { results, room } = await askModel({ name: "charge", inputSchema, answer: { content: text("charged") } });
    expect(results).toMatchObject([{ value: "charged" }]);
    expect(room.warnings.filter((line) => line.includes("cannot be used and is not checked"))).toHaveLength(1);
  });
});

describe("a call that was answered with an error of the protocol", () => {
  it.each([-32_700, -32_600, -32_601, -32_602])("was refused with %d: it was not carried out", async (code) => {
    const { results } = await askModel({ name: "charge", error: { code, message: "no" } });
    expect(results).toEqual([{ error: expect.stringContaining("refused charge") as string }]);
  });

  it.each([
    ["[public C kin] an internal error", { code: -32_603, message: "row written, then: out of memory" }],
    ["[public C kin] an error of the server's own", { code: -32_000, message: "gateway closed" }],
  ])("%s leaves open whether it acted", async (_title, error) => {
    const { outcome, sink } = await askModel({ name: "charge", error });
    expect(errorOf(outcome)).toMatchObject({ code: "TOOL_SERVER_FAILED", details: { sent: true } });
    expect(errorOf(outcome)?.message).not.toContain("refused");
    expect(sink.of("toolCompleted")).toEqual([]);
  });

  it("[public C kin] an answer without content leaves open whether it acted", async () => {
    const { outcome } = await askModel({ name: "charge", answer: { content: "no list" } });
    expect(errorOf(outcome)).toMatchObject({ code: "TOOL_SERVER_FAILED", details: { sent: true } });
  });
});

describe("a result that cannot be kept", () => {
  /** Takes no result but the short one that is told in its place. */
  const refusing = () => {
    let isFirst = true;
    return createRecordingSink((name) => {
      if (name !== "toolCompleted" || !isFirst) return undefined;
      isFirst = false;
      return new SplashdownError("VALUE_TOO_LARGE", "a value is over the limit");
    });
  };

  it("[public C kin] leaves the call made: an mcp step fails for its output and never calls again", async () => {
    const sink = refusing();
    const { outcome } = await step({ name: "charge" }, {}, sink);
    expect(errorOf(outcome)).toMatchObject({ code: "STEP_OUTPUT_INVALID" });
    expect(errorOf(outcome)?.message).toMatch(ACTED);
    const [, result] = sink.of("toolCompleted")[0] as [string, JsonObject];
    const tools: StepWork["tools"] = new Map([["1.1", { result }]]);
    expect(errorOf((await step({ name: "charge" }, { tools })).outcome)?.message).toMatch(ACTED);
    expect(await talks.read()).toEqual(["charge"]);
  });
});

describe("a function that a model calls", () => {
  const call = (run: (context: never) => unknown, timeoutMs?: number) => {
    const tool = {
      name: "charge",
      function: "@charge",
      parameters: { type: "object" },
      effects: "external",
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    };
    const turns = [{ say: "", calls: [{ id: "x", name: "charge", input: {} }], factors: [] }];
    const room = talks.open({ functions: new Map([["@charge", run]]) });
    const work = createStepWork("model", { definition: { tools: [tool] }, turns });
    const sink = createRecordingSink();
    return { ended: room.perform(work, { sink }), sink };
  };

  it("[public C kin] has been called when what it returns cannot be kept", async () => {
    const { ended, sink } = call(() => () => undefined);
    await ended;
    expect(sink.of("toolCompleted")).toEqual([["1.1", { error: expect.stringMatching(ACTED) as string, acted: true }]]);
  });

  it("[public C kin] may still act when its time is over: the attempt fails and nobody calls again", async () => {
    const { ended, sink } = call(() => new Promise(() => undefined), 1);
    expect(errorOf(await ended)).toMatchObject({ code: "STEP_TIMEOUT", details: { sent: true } });
    expect(sink.of("toolCompleted")).toEqual([]);
  });
});
