/** What a function does to the process is a failure of its step, and of no other. */
import { afterEach, describe, expect, it } from "vitest";
import type { FunctionContext } from "../../../src/agents/functions/function-context.js";
import { openPerformerRoom, type PerformerRoom } from "../../support/performer-room.js";
import { createRecordingSink } from "../../support/recording-sink.js";
import { createStepWork } from "../../support/step-work.js";
import { errorOf } from "../../support/tool-talks.js";

type Run = (ctx: FunctionContext) => unknown;
const rooms: PerformerRoom[] = [];
afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())));

function roomOf(functions: Readonly<Record<string, Run>>): PerformerRoom {
  const given = Object.entries(functions).map(
    ([name, run]) => [`@${name}`, run as (context: never) => unknown] as const,
  );
  const room = openPerformerRoom({ functions: new Map(given) });
  rooms.push(room);
  return room;
}

const perform = (room: PerformerRoom, name: string) =>
  room.perform(createStepWork("function", { step: { path: `main/${name}` }, definition: { function: `@${name}` } }));
const one = async (run: Run) => errorOf(await perform(roomOf({ work: run }), "work"));

const never = new Promise<never>(() => undefined);
const throwing = new Proxy(
  {},
  {
    get: () => {
      throw new Error("hostile");
    },
    has: () => {
      throw new Error("hostile");
    },
    getPrototypeOf: () => {
      throw new Error("hostile");
    },
  },
);

describe("a function that would end the process", () => {
  it("[public I] by process.exit ends its step by name, and no other", async () => {
    const room = roomOf({ leave: () => process.exit(0), stay: () => Promise.resolve("here") });
    const [left, stayed] = await Promise.all([perform(room, "leave"), perform(room, "stay")]);
    expect(errorOf(left)).toMatchObject({
      code: "STEP_FAILED",
      message: "the function of step main/leave called process.exit(0)",
    });
    expect(stayed).toEqual({ status: "completed", output: "here" });
  });

  it.each<[string, Run, RegExp]>([
    [
      "[public I kin] by process.exit in a timer",
      () => new Promise(() => setTimeout(() => process.exit(0), 1)),
      /main\/work called process\.exit\(0\)/,
    ],
    [
      "[public I kin] by a rejection that nobody waits for",
      () => {
        void Promise.reject(new Error("nobody waits"));
        return "fine";
      },
      /main\/work left a rejected promise that nobody waits for: nobody waits/,
    ],
    [
      "[public I kin] by an exception in a timer",
      () =>
        new Promise(() =>
          setTimeout(() => {
            throw new Error("in a timer");
          }, 1),
        ),
      /main\/work threw outside of what it gave back: in a timer/,
    ],
    [
      "[public I kin] by a rejection that is no error",
      () => {
        void Promise.reject();
        return never;
      },
      /left a rejected promise that nobody waits for/,
    ],
    [
      "[public I kin] by throwing a text",
      () => {
        throw "out";
      },
      /^out$/,
    ],
    [
      "[public I kin] by throwing nothing",
      () => {
        throw undefined;
      },
      /^undefined$/,
    ],
    [
      "[public I kin] by throwing what cannot be read",
      () => {
        throw throwing;
      },
      /cannot be read/,
    ],
    [
      "[public I kin] by throwing a code of ours",
      () => {
        throw Object.assign(new Error("full"), { code: "STORE_FULL" });
      },
      /^full$/,
    ],
    [
      "[public I kin] by throwing what means a mistake of ours",
      () => {
        throw { code: "INTERNAL" };
      },
      /INTERNAL/,
    ],
  ])("fails its step: %s", async (_title, run, message) => {
    const error = await one(run);
    expect(error?.code).toBe("STEP_FAILED");
    expect(error?.message).toMatch(message);
  });

  it("[public I kin] by waiting for nothing fails where nothing is left to wait for", async () => {
    const room = roomOf({ hang: () => never });
    const performed = perform(room, "hang");
    await new Promise((resolve) => setImmediate(resolve));
    process.emit("beforeExit", 0);
    expect(errorOf(await performed)?.message).toBe(
      "the function of step main/hang never comes to an end: nothing is left that it could wait for",
    );
  });

  it("[public I kin] is told of when its step is over, and nothing else ends", async () => {
    let late: () => void = () => undefined;
    const room = roomOf({ work: () => void setTimeout(() => late(), 1) });
    const told = new Promise<void>((resolve) => {
      late = () => {
        resolve();
        process.exit(0);
      };
    });
    expect(await perform(room, "work")).toMatchObject({ status: "completed" });
    await told;
    await new Promise((resolve) => setImmediate(resolve));
    expect(room.warnings[0]).toBe("the function of step main/work called process.exit(0) (the step is over)");
  });

  it("[public I kin] as a tool of a model fails the call", async () => {
    const tool = { name: "leave", function: "@leave", parameters: { type: "object" }, effects: "none" };
    const turns = [{ say: "", calls: [{ id: "x", name: "leave", input: {} }], factors: [] }];
    const room = roomOf({ leave: () => process.exit(0) });
    const sink = createRecordingSink();
    await room.perform(createStepWork("model", { definition: { tools: [tool] }, turns }), { sink });
    expect(sink.of("toolCompleted")).toEqual([
      ["1.1", { error: "the function of step root/work called process.exit(0)" }],
    ]);
  });
});

describe("the handlers of the process", () => {
  it("are those of before when the last task that had functions is over", async () => {
    const count = () => [
      process.exit,
      ...["uncaughtException", "unhandledRejection", "beforeExit", "exit"].map((event) =>
        process.listeners(event as "exit").join(),
      ),
    ];
    const before = count();
    const room = openPerformerRoom({ functions: new Map([["@work", () => "fine"]]) });
    await perform(room, "work");
    expect(count()).not.toEqual(before);
    await room.close();
    expect(count()).toEqual(before);
  });
});
