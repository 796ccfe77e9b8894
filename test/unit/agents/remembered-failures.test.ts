/** Functions whose sub-steps failed: what they see of it, and which way they go the second time. */
import { afterEach, describe, expect, it } from "vitest";
import type { FunctionContext } from "../../../src/agents/functions/function-context.js";
import type { SubstepFailure } from "../../../src/engine/model/call-events.js";
import type { EndedSubstep } from "../../../src/engine/model/ports.js";
import { SplashdownError } from "../../../src/base/errors.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork, type WorkParts } from "../../support/step-work.js";
import { errorOf } from "../../support/tool-talks.js";

const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

async function perform(run: (ctx: FunctionContext) => unknown, parts: WorkParts = {}, signal?: AbortSignal) {
  const room = openPerformerRoom({ functions: new Map([["@root/work", run as (context: never) => unknown]]) });
  rooms.push(room);
  const sink = createRecordingSink();
  const ends = signal === undefined ? { sink } : { sink, signal };
  return { outcome: await room.perform(createStepWork("function", parts), ends), sink };
}

/** Runs a function, then once more with what its sub-steps came to, as after a crash. */
async function twice(run: (ctx: FunctionContext) => unknown) {
  const first = await perform(run);
  const substeps = new Map<string, EndedSubstep>([
    ...first.sink.of("complete").map(([name, value]) => [name as string, { value: value as never }] as const),
    ...first.sink
      .of("fail")
      .map(([name, failure]) => [name as string, { failure: failure as SubstepFailure }] as const),
  ]);
  const second = await perform(run, { substeps });
  return { first: first.outcome, second: second.outcome, again: second.sink.calls };
}

class CardDeclined extends Error {
  override name = "CardDeclined";
  readonly status = 402;
  readonly code = "card_declined";
  readonly details = { card: "4242", tries: 2 };
}

const ledger: string[] = [];
afterEach(() => void ledger.splice(0));

describe("a sub-step's failure that the function handled", () => {
  it("[public B] is the same after a crash: the same way is gone, and nothing acts twice", async () => {
    let isUp = false;
    const { first, second, again } = await twice(async (ctx) => {
      try {
        return await ctx.step("card", () => {
          ledger.push("card");
          if (!isUp) throw new CardDeclined("declined");
          return "by card";
        });
      } catch {
        isUp = true;
        return ctx.step("invoice", () => (ledger.push("invoice"), "by invoice"));
      }
    });
    expect([first, second]).toEqual([
      { status: "completed", output: "by invoice" },
      { status: "completed", output: "by invoice" },
    ]);
    expect(ledger).toEqual(["card", "invoice"]);
    expect(again).toEqual([["recallSubstep", "invoice"]]);
  });

  it.each<[string, () => unknown]>([
    ["[public B kin] an error of a class of its own, by name, code and fields", () => new CardDeclined("declined")],
    ["[public B kin] a text that was thrown", () => "declined"],
    ["[public B kin] nothing that was thrown", () => undefined],
    ["[public B kin] an object that was thrown", () => ({ code: 7, at: new Date(0) })],
    ["[public B kin] an error of the machine", () => new RangeError("index")],
    [
      "[public B kin] a coded error of Splashdown",
      () => new SplashdownError("STORE_BUSY", "busy", { details: { n: 1 } }),
    ],
  ])("is seen alike the first and the second time: %s", async (_title, make) => {
    const seen: unknown[] = [];
    const describeSeen = (error: unknown) =>
      error instanceof Error
        ? [error.constructor.name, error.name, error.message, error.stack, Object.fromEntries(Object.entries(error))]
        : error;
    await twice(async (ctx) => {
      await ctx
        .step("card", () => Promise.reject(make() as Error))
        .catch((error: unknown) => {
          seen.push(describeSeen(error));
        });
      return null;
    });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
  });

  it("keeps what a function tells failures apart by", async () => {
    const seen: unknown[] = [];
    await perform((ctx) =>
      ctx
        .step("card", () => Promise.reject(new CardDeclined("declined")))
        .catch((error: unknown) => void seen.push(error)),
    );
    const { name, message, code, status, details } = seen[0] as CardDeclined;
    expect({ name, message, code, status, details }).toEqual({
      name: "CardDeclined",
      message: "declined",
      code: "card_declined",
      status: 402,
      details: { card: "4242", tries: 2 },
    });
  });

  it("[public B kin] is remembered where the work was done and only its value cannot be kept", async () => {
    const { again } = await twice((ctx) =>
      ctx
        .step("card", () => (ledger.push("card"), () => undefined))
        .catch((error: unknown) => (error as Error).message),
    );
    expect(ledger).toEqual(["card"]);
    expect(again).toEqual([]);
  });

  it("[public B kin] drops what the failed sub-step wished for, both times", async () => {
    const run = async (ctx: FunctionContext) => {
      await ctx
        .step("card", () => {
          ctx.channel.set("paid", true);
          throw new Error("declined");
        })
        .catch(() => undefined);
      return null;
    };
    const { again } = await twice(run);
    expect(again).toEqual([]);
  });

  it("is no failure where the attempt was over: nothing is remembered of it", async () => {
    const end = new AbortController();
    const { sink } = await perform(
      (ctx) =>
        ctx.step("card", () => {
          end.abort(new Error("leaving"));
          throw new Error("ended");
        }),
      {},
      end.signal,
    );
    expect(sink.of("fail")).toEqual([]);
  });
});

describe("a function that goes another way than before", () => {
  const substeps = new Map<string, EndedSubstep>([["invoice", { value: "sent" }]]);

  it("[public B kin] fails by name, and has acted", async () => {
    const { outcome } = await perform((ctx) => ctx.step("card", () => "by card"), { substeps });
    expect(errorOf(outcome)).toMatchObject({
      code: "SUBSTEP_MISMATCH",
      details: { left_out: ["invoice"], acted: "yes" },
    });
    expect(errorOf(outcome)?.message).toContain('an earlier attempt did "invoice"');
  });

  it("may leave out what came before a milestone", async () => {
    const { outcome } = await perform(() => "on", { substeps, milestone: { name: "sent", state: null } });
    expect(outcome).toEqual({ status: "completed", output: "on" });
  });

  it("has asked for what was inside a sub-step that is remembered", async () => {
    const inner = new Map<string, EndedSubstep>([
      ["outer", { value: 1 }],
      ["inner", { value: 2, within: "outer" }],
    ]);
    const { outcome } = await perform((ctx) => ctx.step("outer", () => 0), { substeps: inner });
    expect(outcome).toEqual({ status: "completed", output: 1 });
  });
});
