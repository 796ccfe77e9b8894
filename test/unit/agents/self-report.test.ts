import { afterEach, describe, expect, it } from "vitest";
import type { Model, ModelRequest } from "../../../src/agents/outcome/contract.js";
import type { JsonValue } from "../../../src/base/json.js";
import type { StepOutcome } from "../../../src/engine/model/ports.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink, type RecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

const PARTS = { knowledge: 0.9, information: 0.8, implementation: 0.7, validation: 0.6 };
const UNSAID = "the model did not say how sure it is";

interface Asked {
  readonly outcome: StepOutcome;
  readonly requests: readonly ModelRequest[];
  readonly sink: RecordingSink;
}

/** A briefed specialist whose model says these things, one after the other. */
async function ask(says: readonly JsonValue[], parts: WorkParts = {}): Promise<Asked> {
  const requests: ModelRequest[] = [];
  const model: Model = {
    call: async (request) => {
      requests.push(request);
      const say = says[requests.length - 1];
      if (say === undefined) throw new Error("asked once too often");
      return Promise.resolve({ say, factors: [], usage: { calls: 1, tokensIn: 1, tokensOut: 1 } });
    },
  };
  const room = openPerformerRoom({ modelOf: () => model });
  rooms.push(room);
  const sink = createRecordingSink();
  const { definition, ...rest } = parts;
  const work = createStepWork("model", {
    rendered: { prompt: "Find out." },
    definition: { briefingTokensMax: 1_000, ...definition },
    ...rest,
  });
  return { outcome: await room.perform(work, { sink }), requests, sink };
}

const report = (more: object = {}) => JSON.stringify({ output: "found", confidence: PARTS, ...more });

describe("what a model says of its answer", () => {
  it("is its confidence in four parts, its uncertainties, assumptions, blockers and milestones", async () => {
    const { outcome, sink } = await ask([
      report({
        factors: ["saw it"],
        uncertainties: ["when"],
        assumptions: ["here"],
        blockers: ["no key"],
        milestones: ["read", "sorted"],
      }),
    ]);
    expect(outcome).toEqual({
      status: "completed",
      output: { result: "found" },
      confidence: PARTS,
      factors: ["saw it"],
      uncertainties: ["when"],
      assumptions: ["here"],
      blockers: ["no key"],
    });
    expect(sink.of("milestone").map(([name]) => name)).toEqual(["read", "sorted"]);
  });

  it("is asked for in words and in the form of the answer", async () => {
    const { requests } = await ask([report()]);
    expect(requests[0]?.messages[0]).toMatchObject({
      role: "user",
      text: expect.stringContaining("# How to answer") as string,
    });
    expect(requests[0]?.outputSchema).toMatchObject({
      required: ["output", "confidence", "factors", "uncertainties", "assumptions", "blockers", "milestones"],
    });
  });

  it("is asked for once when the answer is an output alone, which is kept", async () => {
    const { outcome, requests } = await ask([
      "Just text.",
      JSON.stringify({ confidence: PARTS, uncertainties: ["x"] }),
    ]);
    expect(outcome).toMatchObject({ output: { result: "Just text." }, confidence: PARTS, uncertainties: ["x"] });
    expect(requests).toHaveLength(2);
    expect(requests[1]?.messages.at(-1)).toMatchObject({ text: expect.stringContaining("do not repeat it") as string });
    expect(requests[1]?.outputSchema?.["properties"]).not.toHaveProperty("output");
  });

  it("A3: is not asked for again after a crash: the output of a durable turn is kept", async () => {
    const { outcome, requests } = await ask([JSON.stringify({ confidence: PARTS })], {
      turns: [{ say: "Paid for.", factors: [] }],
    });
    expect(outcome).toMatchObject({ output: { result: "Paid for." }, confidence: PARTS });
    expect(requests).toHaveLength(1);
  });

  it("is never made up: unsaid it is an uncertainty and no number", async () => {
    const { outcome } = await ask(["Text.", "I would rather not say."]);
    expect(outcome).toMatchObject({ output: { result: "Text." }, uncertainties: [UNSAID] });
    expect(outcome).not.toHaveProperty("confidence");
  });

  it("is lowered where parts are missing or no fractions: to the lowest of those given", async () => {
    const { outcome } = await ask([
      JSON.stringify({ output: "x", confidence: { knowledge: 0.9, information: 0.4, validation: 85 } }),
      JSON.stringify({ confidence: { knowledge: 0.9, information: 0.4 } }),
    ]);
    expect(outcome).toMatchObject({
      confidence: { knowledge: 0.9, information: 0.4, implementation: 0.4, validation: 0.4 },
      factors: ["not said, so counted as the lowest of the others: implementation, validation"],
    });
  });

  it("may be one number, which stands for itself", async () => {
    const { outcome } = await ask([
      JSON.stringify({ output: "x", confidence: 0.8 }),
      JSON.stringify({ confidence: 0.7 }),
    ]);
    expect(outcome).toMatchObject({ confidence: 0.7 });
  });

  it("stands beside a declared output, which is held against its schema before anything else is asked", async () => {
    const outputSchema = { type: "object", required: ["n"], properties: { n: { type: "number" } } };
    const { outcome, requests } = await ask(
      [JSON.stringify({ n: "one" }), JSON.stringify({ n: 1 }), JSON.stringify({ confidence: PARTS })],
      { definition: { outputSchema } },
    );
    expect(outcome).toMatchObject({ status: "completed", output: { n: 1 }, confidence: PARTS });
    expect(requests).toHaveLength(3);
  });

  it("is not asked for beyond the turns that are allowed", async () => {
    const { outcome, requests } = await ask(["Text."], { definition: { options: { max_agent_iterations: 1 } } });
    expect(outcome).toMatchObject({ status: "completed", output: { result: "Text." }, uncertainties: [UNSAID] });
    expect(requests).toHaveLength(1);
  });

  it("tells a milestone once, also where an attempt before had told it", async () => {
    const { sink } = await ask([report({ milestones: ["read", "sorted"] })], {
      milestone: { name: "read", state: null },
    });
    expect(sink.of("milestone").map(([name]) => name)).toEqual(["sorted"]);
  });

  it("is not asked of a step outside a phase", async () => {
    const { outcome, requests } = await ask(["Text."], { definition: { briefingTokensMax: undefined } });
    expect(outcome).toEqual({ status: "completed", output: { result: "Text." }, factors: [] });
    expect(requests[0]?.messages[0]).toMatchObject({ text: "Find out." });
  });
});
