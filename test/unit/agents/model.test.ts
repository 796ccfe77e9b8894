import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import { FakeClock } from "../../support/fake-clock.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

function open(answers: JsonObject, clock?: FakeClock): PerformerRoom {
  const room = openPerformerRoom(clock === undefined ? { answers } : { answers, clock });
  rooms.push(room);
  return room;
}

const FACTOR = "scripted answer: no model was called";
const ask = (answers: JsonObject, parts: WorkParts = {}) => open(answers).perform(createStepWork("model", parts));
const OBJECT = { type: "object", required: ["a"], properties: { a: { type: "number" } } };

describe("a scripted model step", () => {
  it("says its text, its confidence and that it is scripted", async () => {
    expect(await ask({ work: [{ say: "Hello", confidence: 0.7, uncertainties: ["x"] }] })).toEqual({
      status: "completed",
      output: { result: "Hello" },
      confidence: 0.7,
      uncertainties: ["x"],
      factors: [FACTOR],
    });
  });

  it("makes its answer durable with its usage, in whole micro-dollars", async () => {
    const sink = createRecordingSink();
    const answer = { say: { a: 1 }, usage: { input_tokens: 900, output_tokens: 40 }, cost_usd: 0.0123456 };
    const outcome = await open({ work: [answer] }).perform(createStepWork("model"), { sink });
    expect(outcome).toEqual({ status: "completed", output: { a: 1 }, factors: [FACTOR] });
    expect(sink.calls).toEqual([
      [
        "turn",
        { say: { a: 1 }, whole: true, factors: [FACTOR] },
        { calls: 1, tokensIn: 900, tokensOut: 40, costMicroUsd: 12346 },
      ],
    ]);
  });

  it("leaves an unknown price unknown", async () => {
    const sink = createRecordingSink();
    await open({ work: [{ say: "x" }] }).perform(createStepWork("model"), { sink });
    expect(sink.of("turn")[0]?.[1]).toEqual({ calls: 1, tokensIn: 0, tokensOut: 0, costMicroUsd: undefined });
  });

  it("A3: uses a durable answer again and asks nothing", async () => {
    const sink = createRecordingSink();
    const work = createStepWork("model", { turns: [{ say: "paid for", factors: [FACTOR] }] });
    expect(await open({}).perform(work, { sink })).toMatchObject({
      status: "completed",
      output: { result: "paid for" },
    });
    expect(sink.calls).toEqual([]);
  });

  it("asks again when the durable answer was refused", async () => {
    const work = {
      definition: { outputSchema: OBJECT },
      turns: [{ say: "no json" }] as JsonValue[],
      step: { attempt: 2 },
    };
    expect(await ask({ work: [{ say: "no json" }, { say: '{"a": 2}' }] }, work)).toMatchObject({ output: { a: 2 } });
  });

  it("reads JSON from text and from a fenced block when an output is declared", async () => {
    const definition = { outputSchema: OBJECT };
    expect(await ask({ work: [{ say: ' {"a": 1} ' }] }, { definition })).toMatchObject({ output: { a: 1 } });
    expect(await ask({ work: [{ say: '```json\n{"a": 1}\n```' }] }, { definition })).toMatchObject({
      output: { a: 1 },
    });
  });

  it("fails with the text kept when the answer is malformed", async () => {
    const definition = { outputSchema: OBJECT };
    expect(await ask({ work: [{ say: "Sure! {a" }] }, { definition })).toMatchObject({
      status: "failed",
      error: { code: "STEP_OUTPUT_INVALID", retryable: false, details: { raw: "Sure! {a", answers: 3 } },
    });
    expect(await ask({ work: [{ say: { a: "1" } }] }, { definition })).toMatchObject({
      error: { code: "STEP_OUTPUT_INVALID", details: { raw: '{"a":"1"}' } },
    });
  });

  it("is MODEL_UNAVAILABLE with any other provider", async () => {
    expect(await ask({}, { definition: { provider: "openai" } })).toMatchObject({
      status: "failed",
      error: {
        code: "MODEL_UNAVAILABLE",
        message:
          "provider openai of step root/work cannot be had here; name another for it in splashdown.config.yaml, as in provider_map: {openai: ollama}",
        retryable: false,
      },
    });
  });

  it("says which steps have answers when this one has none, or where answers are written when there are none at all", async () => {
    const none = await ask({});
    expect(none).toMatchObject({ error: { message: expect.stringContaining("scripted_answers: FILE") as string } });
    expect(await ask({ other: [{ say: "x" }] })).toMatchObject({
      error: {
        code: "MODEL_FAILED",
        message: "there is no scripted answer for step root/work; there are some for: other",
        retryable: false,
      },
    });
  });
});

describe("which scripted answer comes", () => {
  const answers = {
    work: [{ say: "one" }, { fail: { message: "overloaded" } }, { fail: {} }, { say: "two" }],
    once: { exhausted: "fail", answers: [{ say: "only" }] },
  };
  const at = async (step: { visit: number; attempt: number; path?: string }, turns: JsonValue[] = []) => {
    const outcome = await ask(answers, { step, turns });
    if (outcome.status === "completed") return (outcome.output as { result: string }).result;
    return outcome.status === "failed" ? outcome.error.message : outcome.status;
  };

  it("depends on visit and attempt alone", async () => {
    expect(await at({ visit: 1, attempt: 1 })).toBe("one");
    expect(await at({ visit: 2, attempt: 1 })).toBe("overloaded");
    expect(await at({ visit: 2, attempt: 2 })).toBe("a scripted failure");
    expect(await at({ visit: 2, attempt: 3 })).toBe("two");
  });

  it("is the same one for an attempt that a crash made necessary", async () => {
    expect(await at({ visit: 1, attempt: 2 })).toBe("one");
    expect(await at({ visit: 2, attempt: 9 })).toBe("two");
  });

  it("is the last one after the last", async () => {
    expect(await at({ visit: 3, attempt: 1 })).toBe("two");
    expect(await at({ visit: 30, attempt: 4 })).toBe("two");
  });

  it("is an error after the last where the script says so", async () => {
    expect(await at({ path: "root/once", visit: 1, attempt: 1 })).toBe("only");
    expect(await at({ path: "root/once", visit: 2, attempt: 1 })).toBe(
      "the scripted answers for step root/once are used up after 1",
    );
  });

  it("is that of the item where the script names it, else of the step's plain name, by visit", async () => {
    const script = { work: [{ say: "one" }, { say: "two" }], "work[b]": [{ say: "b alone" }] };
    const of = async (key: string, visit: number) => {
      const outcome = await ask(script, { step: { path: `root/each/work[${key}]`, visit, attempt: 1 } });
      return outcome.status === "completed" ? outcome.output : outcome.status;
    };
    expect([await of("a", 1), await of("a", 2), await of("b", 1), await of("0", 1)]).toEqual([
      { result: "one" },
      { result: "two" },
      { result: "b alone" },
      { result: "one" },
    ]);
  });

  it("is that of the longest end of the path, then of the name, then of *", async () => {
    const named = {
      "a/b/work": [{ say: "path" }],
      "b/work": [{ say: "end" }],
      work: [{ say: "name" }],
      "*": [{ say: "any" }],
    };
    const say = async (path: string) => (await ask(named, { step: { path } })) as { output: JsonObject };
    expect((await say("a/b/work")).output).toEqual({ result: "path" });
    expect((await say("x/b/work")).output).toEqual({ result: "end" });
    expect((await say("x/work")).output).toEqual({ result: "name" });
    expect((await say("x/y")).output).toEqual({ result: "any" });
  });
});

describe("a scripted failure", () => {
  it.each([
    [429, "MODEL_RATE_LIMITED", true],
    [529, "MODEL_RATE_LIMITED", true],
    [500, "MODEL_FAILED", true],
    [408, "MODEL_FAILED", true],
    [401, "MODEL_FAILED", false],
  ])("with status %i is %s", async (status, code, retryable) => {
    expect(await ask({ work: [{ fail: { message: "no", status } }] })).toMatchObject({
      error: { code, message: "no", retryable },
    });
  });

  it("says when to come again", async () => {
    const clock = new FakeClock(1_000_000);
    const room = open({ work: [{ fail: { message: "slow down", status: 429, retry_after: 30 } }] }, clock);
    expect(await room.perform(createStepWork("model"))).toMatchObject({ error: { retryAtMs: 1_030_000 } });
  });
});

describe("a slow scripted model", () => {
  it("takes the time it is told to, on the clock", async () => {
    const clock = new FakeClock();
    const room = open({ work: [{ say: "x", delay_ms: 5000 }] }, clock);
    let isDone = false;
    const outcome = room.perform(createStepWork("model")).finally(() => (isDone = true));
    await clock.advance(4999);
    expect(isDone).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ status: "completed" });
  });

  it("that hangs ends with the signal", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const outcome = open({ work: [{ hang: true }] }, clock).perform(createStepWork("model"), {
      signal: controller.signal,
    });
    await clock.advance(1_000_000);
    controller.abort();
    expect(await outcome).toEqual({ status: "cancelled" });
  });
});

describe("a script with a fault that no loader has seen", () => {
  it("is refused with its place", () => {
    expect(() => openPerformerRoom({ answers: { work: [{ say: 1, hang: true }] } })).toThrow(
      expect.objectContaining({
        code: "WORKFLOW_INVALID",
        message: "scripted answers: work[0]: an answer needs exactly one of say (or calls), fail and hang: true",
      }),
    );
  });
});
