import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { FunctionContext } from "../../../src/agents/functions/function-context.js";
import { SplashdownError } from "../../../src/base/errors.js";
import type { StepOutcome } from "../../../src/engine/model/ports.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { until } from "../../support/real-clock.js";
import { createRecordingSink, type RecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";

const PROGRAMS = path.resolve(import.meta.dirname, "../../support/programs");
const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

type Run = (ctx: FunctionContext) => unknown;
interface Parts extends WorkParts {
  readonly sink?: RecordingSink;
  readonly signal?: AbortSignal;
}

function roomFor(run: Run): PerformerRoom {
  const room = openPerformerRoom({ functions: new Map([["@root/work", run as (context: never) => unknown]]) });
  rooms.push(room);
  return room;
}

function perform(run: Run, { sink, signal, ...parts }: Parts = {}): Promise<StepOutcome> {
  return roomFor(run).perform(createStepWork("function", parts), { sink, signal });
}

describe("a function step", () => {
  it("gets its input, the workflow's, what others gave, and where it stands", async () => {
    const seen: unknown[] = [];
    const outcome = await perform(
      (ctx) => {
        seen.push(
          ctx.input,
          ctx.inputs,
          ctx.outputs,
          ctx.feedback,
          ctx.uncertainties,
          ctx.task.name,
          ctx.phase.iteration,
        );
        seen.push(ctx.path, ctx.visit, ctx.attempt, ctx.idempotencyKey, ctx.resumed);
      },
      {
        input: { n: 1 },
        inputs: { big: { $t: "bigint", v: "9007199254740993" } },
        outputs: { other: { $t: "set", v: [1] } },
        feedback: ["shorter"],
        uncertainties: ["price"],
        milestone: { name: "half", state: { $t: "date", v: "2024-01-02T00:00:00.000Z" } },
        step: { visit: 2, attempt: 3 },
      },
    );
    expect(outcome).toEqual({ status: "completed", output: null });
    expect(seen).toEqual([
      { n: 1 },
      { big: 9007199254740993n },
      { other: new Set([1]) },
      ["shorter"],
      ["price"],
      "audit-1",
      1,
      "root/work",
      2,
      3,
      "key-1",
      { name: "half", state: new Date("2024-01-02T00:00:00.000Z") },
    ]);
  });

  it("returns rich values, stored without loss", async () => {
    expect(await perform(() => ({ at: new Date(0), ids: new Map([[1n, "a"]]) }))).toEqual({
      status: "completed",
      output: {
        at: { $t: "date", v: "1970-01-01T00:00:00.000Z" },
        ids: { $t: "map", v: [[{ $t: "bigint", v: "1" }, "a"]] },
      },
    });
  });

  it("may report like a command", async () => {
    expect(await perform(() => ({ output: 1, confidence: 0.5, uncertainties: ["x"] }))).toEqual({
      status: "completed",
      output: 1,
      confidence: 0.5,
      uncertainties: ["x"],
    });
  });

  it("fails with the message and the place of what it throws", async () => {
    const outcome = await perform(() => {
      throw new RangeError("no such page");
    });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { code: "STEP_FAILED", message: "no such page", retryable: true, details: { name: "RangeError" } },
    });
    expect(JSON.stringify(outcome)).toContain("function.test.ts");
  });

  it("may say itself that a retry is of no use", async () => {
    const outcome = await perform(() => Promise.reject(Object.assign(new Error("gone"), { retryable: false })));
    expect(outcome).toMatchObject({ error: { message: "gone", retryable: false } });
  });

  it("is refused when its value cannot be stored, with the path", async () => {
    expect(await perform(() => ({ a: [() => 1] }))).toMatchObject({
      status: "failed",
      error: { code: "VALUE_UNSUPPORTED", retryable: false, details: { path: "$.a[0]" } },
    });
  });

  it("is held against the declared output", async () => {
    expect(await perform(() => 1, { definition: { outputSchema: { type: "string" } } })).toMatchObject({
      error: {
        code: "STEP_OUTPUT_INVALID",
        message: "the output is not what the step declares: the value must be string",
      },
    });
  });
});

describe("a function's reference", () => {
  const load = (reference: string, parts: WorkParts = {}) => {
    const room = roomFor(() => 1);
    return room.perform(
      createStepWork("function", { ...parts, workflowFolder: PROGRAMS, definition: { function: reference } }),
    );
  };

  it("loads a named export from a file in the workflow's folder", async () => {
    expect(await load("step-functions.mjs#double", { input: { n: 21 } })).toEqual({
      status: "completed",
      output: { doubled: 42 },
    });
  });

  it("loads the default export when it names none", async () => {
    expect(await load("./step-functions.mjs")).toEqual({ status: "completed", output: "from default" });
  });

  it.each(["missing.mjs#x", "step-functions.mjs#missing", "step-functions.mjs#notAFunction", "@elsewhere"])(
    "is FUNCTION_NOT_FOUND: %s",
    async (reference) => {
      expect(await load(reference)).toMatchObject({
        status: "failed",
        error: { code: "FUNCTION_NOT_FOUND", retryable: false },
      });
    },
  );
});

describe("ctx.step", () => {
  it("A3: runs once, is made durable before and after, and gives equal values on the first run and on a resume", async () => {
    const sink = createRecordingSink();
    const runs: string[] = [];
    const run: Run = async (ctx) => [
      await ctx.step("charge", ({ idempotencyKey }) => {
        runs.push(idempotencyKey);
        return { at: new Date(5) };
      }),
      await ctx.step("mail", () => undefined),
    ];
    const first = await perform(run, { sink });
    const stored = { at: { $t: "date", v: "1970-01-01T00:00:00.005Z" } };
    expect(sink.calls).toEqual([
      ["openSubstep", "charge"],
      ["complete", "charge", stored],
      ["openSubstep", "mail"],
      ["complete", "mail", null],
    ]);
    const again = createRecordingSink();
    const substeps = new Map([
      ["charge", { value: stored }],
      ["mail", { value: null }],
    ]);
    expect(await perform(run, { sink: again, substeps })).toEqual(first);
    expect(again.calls).toEqual([
      ["recallSubstep", "charge"],
      ["recallSubstep", "mail"],
    ]);
    expect(runs).toEqual(["key-1/charge"]);
    expect(first).toEqual({ status: "completed", output: [stored, null] });
  });

  it("is not completed when its function throws", async () => {
    const sink = createRecordingSink();
    const outcome = await perform((ctx) => ctx.step("charge", () => Promise.reject(new Error("declined"))), { sink });
    expect(outcome).toMatchObject({ status: "failed", error: { message: "declined" } });
    expect(sink.calls).toMatchObject([
      ["openSubstep", "charge"],
      ["fail", "charge", { name: "Error", message: "declined" }],
    ]);
  });

  it("E9: has the wishes of its own function, also of one it waits in and of steps within it", async () => {
    const sink = createRecordingSink();
    await perform(
      async (ctx) => {
        ctx.channel.set("n", 0);
        const charged = ctx.step("charge", async () => {
          await Promise.resolve();
          ctx.channel.add("n", 1);
          await ctx.step("mail", () => ctx.checkpoint({ at: "mail" }));
          ctx.nextIteration();
        });
        ctx.channel.add("n", 2);
        await charged;
        ctx.channel.add("n", 3);
      },
      { sink },
    );
    expect(sink.calls).toEqual([
      ["set", "n", 0],
      ["add", "n", 2],
      ["openSubstep", "charge"],
      ["charge: add", "n", 1],
      ["charge: openSubstep", "mail"],
      ["mail: requestCheckpoint", { at: "mail" }],
      ["charge: complete", "mail", null],
      ["charge: requestNextIteration"],
      ["complete", "charge", null],
      ["add", "n", 3],
    ]);
  });

  it("needs a name of its own", async () => {
    const outcome = await perform(async (ctx) => {
      for (const amount of [1, 2]) await ctx.step("charge", () => amount);
    });
    expect(outcome).toMatchObject({ error: { code: "STEP_FAILED", retryable: false } });
  });

  it("throws a lost ownership even when the function swallows it", async () => {
    const lost = new SplashdownError("OWNER_SUPERSEDED", "another process has claimed the task");
    const sink = createRecordingSink((name) => (name === "openSubstep" ? lost : undefined));
    const ran: string[] = [];
    const run: Run = (ctx) => ctx.step("charge", () => ran.push("charge")).catch(() => "fine");
    await expect(perform(run, { sink })).rejects.toBe(lost);
    expect(ran).toEqual([]);
  });
});

describe("the rest of a function's context", () => {
  it("reaches the sink, values encoded", async () => {
    const sink = createRecordingSink();
    const outcome = await perform(
      async (ctx) => {
        ctx.channel.set("seen", new Set(["a"]));
        ctx.channel.append("log", 1n);
        ctx.channel.add("count", 2);
        await ctx.milestone("half", { at: 1 });
        await ctx.milestone("bare");
        ctx.progress({ fraction: 0.5 });
        ctx.checkpoint({ note: "x" });
        ctx.checkpoint();
        ctx.nextIteration();
        return [ctx.channel.get("seen"), ctx.channel.get("missing") === undefined];
      },
      { sink },
    );
    expect(outcome).toEqual({ status: "completed", output: [{ $t: "set", v: ["a"] }, true] });
    expect(sink.calls).toEqual([
      ["set", "seen", { $t: "set", v: ["a"] }],
      ["append", "log", { $t: "bigint", v: "1" }],
      ["add", "count", 2],
      ["milestone", "half", { at: 1 }],
      ["milestone", "bare", null],
      ["progress", { fraction: 0.5 }],
      ["requestCheckpoint", { note: "x" }],
      ["requestCheckpoint", {}],
      ["requestNextIteration"],
    ]);
  });
});

describe("ctx.channel.add", () => {
  it.each([Number.NaN, Infinity, "2" as never])("refuses %s, which has no place in a history", async (amount) => {
    const sink = createRecordingSink();
    const outcome = await perform((ctx) => ctx.channel.add("n", amount), { sink });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "VALUE_UNSUPPORTED" } });
    expect(sink.calls).toEqual([]);
  });
});

describe("a function whose attempt is over", () => {
  it("is cancelled at once; what it still does is refused, what it still throws is logged", async () => {
    const controller = new AbortController();
    const sink = createRecordingSink();
    let goOn = (): void => undefined;
    let late: FunctionContext | undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const room = roomFor(async (ctx) => {
      late = ctx;
      await gate;
      await ctx.milestone("late");
    });
    const outcome = room.perform(createStepWork("function"), { sink, signal: controller.signal });
    await until("the function runs", () => late !== undefined);
    controller.abort();
    expect(await outcome).toEqual({ status: "cancelled" });
    expect(late?.signal.aborted).toBe(true);
    expect(() => late?.channel.set("a", 1)).toThrow(expect.objectContaining({ code: "CANCELLED" }));
    goOn();
    await until("the late failure is logged", () => room.warnings.length === 1);
    expect(sink.calls).toEqual([]);
  });

  it("takes nothing after it has completed", async () => {
    let late: FunctionContext | undefined;
    await perform((ctx) => {
      late = ctx;
    });
    expect(() => late?.nextIteration()).toThrow(expect.objectContaining({ code: "CANCELLED" }));
  });

  it("does not begin under a signal that has fired", async () => {
    const ran: number[] = [];
    expect(await perform(() => ran.push(1), { signal: AbortSignal.abort() })).toEqual({
      status: "cancelled",
      acted: false,
    });
    expect(ran).toEqual([]);
  });
});
