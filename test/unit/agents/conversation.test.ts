import { afterEach, describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import type { JsonObject, JsonValue } from "../../../src/base/json.js";
import type { WorkflowFunctions } from "../../../src/definition/model/loaded-workflow.js";
import { createScriptedModel } from "../../../src/agents/models/scripted-model.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { realClock } from "../../support/real-clock.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

const tool = (name: string, effects = "none") => ({
  name,
  function: `@${name}`,
  parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  effects,
});
const TOOLS = { tools: [tool("double"), tool("charge", "external")] };

interface Called {
  readonly name: string;
  readonly input: unknown;
  readonly key: string;
}

/** Tools that keep how they were called. */
function tools() {
  const called: Called[] = [];
  const take =
    (name: string, run: (n: number) => unknown) =>
    ({ input, idempotencyKey: key }: { input: { n: number }; idempotencyKey: string }) => {
      called.push({ name, input, key });
      return run(input.n);
    };
  const functions = new Map<string, unknown>([
    ["@double", take("double", (n) => n * 2)],
    [
      "@charge",
      take("charge", () => {
        throw new Error("card refused");
      }),
    ],
  ]) as WorkflowFunctions;
  return { called, functions };
}

async function talk(answers: JsonObject, parts: WorkParts = {}) {
  const { called, functions } = tools();
  const room = openPerformerRoom({ answers, functions });
  rooms.push(room);
  const sink = createRecordingSink();
  const outcome = await room.perform(createStepWork("model", { definition: TOOLS, ...parts }), { sink });
  return { called, sink, outcome };
}

const CALL = (name: string, n: JsonValue) => ({ calls: [{ tool: name, input: { n } }] });

describe("a model that asks for tools", () => {
  const answers = { work: [CALL("double", 2), CALL("double", 4), { say: "8" }] };

  it("is answered by each before its next turn, all of it durable in order", async () => {
    const { called, sink, outcome } = await talk(answers);
    expect(outcome).toMatchObject({ status: "completed", output: { result: "8" } });
    expect(called.map(({ input }) => input)).toEqual([{ n: 2 }, { n: 4 }]);
    expect(sink.calls.map(([name, first]) => (name === "turn" ? name : `${String(name)} ${String(first)}`))).toEqual([
      "turn",
      "toolIntended 1.1",
      "toolCompleted 1.1",
      "beforeCall undefined",
      "turn",
      "toolIntended 2.1",
      "toolCompleted 2.1",
      "beforeCall undefined",
      "turn",
    ]);
    expect(sink.of("toolCompleted")).toEqual([
      ["1.1", { value: 4 }],
      ["2.1", { value: 8 }],
    ]);
  });

  it("A3: goes on at the exact turn, and makes no finished call again", async () => {
    const turns = [{ say: "", calls: [{ id: "x", name: "double", input: { n: 2 } }], factors: [] }];
    const done = await talk(answers, { turns, tools: new Map([["1.1", { result: { value: 4 } }]]) });
    expect(done.called.map(({ input }) => input)).toEqual([{ n: 4 }]);
    expect(done.sink.of("turn")).toHaveLength(2);
    const open = await talk(answers, { turns, tools: new Map([["1.1", {}]]) });
    expect(open.called.map(({ input, key }) => [input, key])).toEqual([
      [{ n: 2 }, "key-1/1.1"],
      [{ n: 4 }, "key-1/2.1"],
    ]);
  });

  it("is told what a tool failed with, that the input does not fit, and that there is no such tool", async () => {
    const wrong = { work: [CALL("charge", 1), CALL("double", "two"), CALL("delete", 1), { say: "sorry" }] };
    const { sink, called } = await talk(wrong);
    expect(sink.of("toolCompleted").map(([, result]) => result)).toEqual([
      { error: "card refused" },
      { error: expect.stringContaining("/n") as string },
      { error: "there is no tool delete here" },
    ]);
    expect(called.map(({ name }) => name)).toEqual(["charge"]);
    expect(sink.of("toolIntended").map(([, intent]) => (intent as { effects: string }).effects)).toEqual([
      "external",
      "none",
      "none",
    ]);
  });

  it("is ended when it never comes to an end", async () => {
    const definition = { ...TOOLS, options: { max_agent_iterations: 3 } };
    const { outcome, called } = await talk({ work: [CALL("double", 1)] }, { definition });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "MODEL_FAILED", retryable: false, message: expect.stringContaining("3 turns") as string },
    });
    expect(called).toHaveLength(3);
  });
});

describe("FAULTS 20: an answer that is not what the step declares", () => {
  const schema = {
    type: "object",
    properties: { title: { type: "string" }, items: { type: "array" } },
    required: ["title", "items"],
  };
  const GOOD = '{"title": "t", "items": []}';
  const ask = (says: readonly string[], more: JsonObject = {}, parts: WorkParts = {}) =>
    talk({ work: says.map((say) => ({ say })) }, { definition: { outputSchema: schema, ...more }, ...parts });

  it.each([
    ["fenced", [`\`\`\`json\n${GOOD}\n\`\`\``], 1],
    ["behind prose", [`Of course! ${GOOD}`], 1],
    ["at the second try, after a field was missing", ['{"title": "t"}', GOOD], 2],
    ["at the third try, after a number and nothing", ['{"title": 7, "items": []}', "", GOOD], 3],
    ["after a number that no program can hold", ['{"title": "t", "items": [1e999]}', GOOD], 2],
    ["after lists a thousand deep", [`{"title": "t", "items": ${"[".repeat(1_000)}${"]".repeat(1_000)}}`, GOOD], 2],
    ["after five megabytes of text", ["x".repeat(5_000_000), GOOD], 2],
  ])("is taken %s", async (_name, says, turns) => {
    const { outcome, sink } = await ask(says);
    expect(outcome).toMatchObject({ status: "completed", output: { title: "t", items: [] } });
    expect(sink.of("turn").map(([turn]) => (turn as { say: string }).say)).toEqual(says);
    expect(sink.of("turn")).toHaveLength(turns);
  });

  it("fails by name when no repair is left, with the path of the fault and the raw text", async () => {
    const { outcome, sink } = await ask(['{"title": "t"}'], { options: { retry: { max_parse_recovery_attempts: 1 } } });
    expect(sink.of("turn")).toHaveLength(2);
    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        code: "STEP_OUTPUT_INVALID",
        retryable: false,
        message: expect.stringContaining("items") as string,
        details: { raw: '{"title":"t"}', answers: 2 },
      },
    });
  });

  it("is asked for once more when a person resumes the step", async () => {
    const refused = { say: "no", factors: [] };
    const { outcome, sink } = await ask(["no", "no", "no", GOOD], {}, { turns: [refused, refused, refused] });
    expect(outcome).toMatchObject({ status: "completed" });
    expect(sink.of("turn")).toHaveLength(1);
  });
});

describe("a step with fallbacks", () => {
  const failing = { call: () => Promise.reject(new SplashdownError("MODEL_FAILED", "busy answered 500")) };
  const good = {
    call: () => Promise.resolve({ say: "hi", factors: [], usage: { calls: 1, tokensIn: 1, tokensOut: 1 } }),
  };
  const perform = (options: JsonObject, sink = createRecordingSink()) => {
    const modelOf = (provider: string) => ({ busy: failing, spare: good })[provider];
    const room = openPerformerRoom({ modelOf });
    rooms.push(room);
    return room.perform(createStepWork("model", { definition: { provider: "busy", options } }), { sink });
  };

  it("is answered by the next one, and says so, with the turn too", async () => {
    const sink = createRecordingSink();
    expect(await perform({ fallback: [{ provider: "spare", model: "small" }] }, sink)).toMatchObject({
      status: "completed",
      output: { result: "hi" },
      factors: ["answered by the fallback spare/small: busy answered 500"],
    });
    expect(sink.of("turn").map(([, , notes]) => notes)).toEqual([
      { fallback: { asked: "busy", answered: "spare/small", why: "busy answered 500" } },
    ]);
  });

  it("fails with what the last one said when none answers", async () => {
    expect(await perform({ fallback: [{ provider: "none" }] })).toMatchObject({
      status: "failed",
      error: { code: "MODEL_UNAVAILABLE", message: expect.stringContaining("provider none") as string },
    });
  });
});

describe("E10: guidance in a conversation", () => {
  const answers = { work: [CALL("double", 2), CALL("double", 4), { say: "8" }] };

  /** A model that is told of what it was asked, and a person who speaks after some turns. */
  async function guided(said: (turn: number) => readonly string[], parts: WorkParts = {}) {
    const asked: string[][] = [];
    const scripted = createScriptedModel(answers, realClock);
    const room = openPerformerRoom({
      functions: tools().functions,
      modelOf: () => ({
        call: (request, ends) => {
          asked.push(request.messages.flatMap((message) => (message.role === "user" ? [message.text] : [])));
          return scripted.call(request, ends);
        },
      }),
    });
    rooms.push(room);
    const sink = createRecordingSink();
    const guidanceNow = () => said((parts.turns?.length ?? 0) + sink.of("turn").length);
    await room.perform(
      createStepWork("model", { definition: TOOLS, rendered: { prompt: "Work." }, ...parts, guidanceNow }),
      {
        sink,
      },
    );
    const [turns, notes] = [0, 2].map((at) => sink.of("turn").map((turn) => turn[at] as JsonObject | undefined));
    return { asked, turns: turns as JsonObject[], guided: notes?.map((note) => note?.["guided"]) };
  }

  it("is told before the next turn, once, and the turn says how much was told", async () => {
    const { asked, turns, guided: counts } = await guided((turn) => (turn === 0 ? [] : ["in euros"]));
    expect(asked.map((texts) => texts.length)).toEqual([1, 2, 2]);
    expect(counts).toEqual([undefined, 1, 1]);
    expect(asked[1]?.[1]).toMatch(/^# Guidance\n\n[^\n]+\n- in euros$/);
    expect(turns.map(({ told }) => told)).toEqual([undefined, 1, 1]);
  });

  it("is told again at the same place after a crash, and what came since after it", async () => {
    const before = await guided((turn) => (turn === 0 ? [] : ["in euros"]));
    const { asked, turns } = await guided(() => ["in euros", "by Friday"], { turns: before.turns.slice(0, 2) });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.map((text) => text.split("\n- ").slice(1))).toEqual([[], ["in euros"], ["by Friday"]]);
    expect(turns.map(({ told }) => told)).toEqual([2]);
  });

  it("that its prompt has is not told again", async () => {
    const { asked, turns } = await guided(() => ["in euros"], { guidance: ["in euros"] });
    expect(asked.map((texts) => texts.length)).toEqual([1, 1, 1]);
    expect(asked[0]?.[0]).toMatch(/^Work\.\n\n# Guidance\n/);
    expect(turns.map(({ told }) => told)).toEqual([undefined, undefined, undefined]);
  });
});
