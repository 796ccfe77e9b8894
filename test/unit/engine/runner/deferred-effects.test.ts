/** What a function wishes for on its way: it counts once, with its step's completion, wherever the process ends. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../src/base/json.js";
import { LIMITS } from "../../../../src/base/limits.js";
import { openFunctionContext, type FunctionContext } from "../../../../src/agents/functions/function-context.js";
import type { StepDefinition } from "../../../../src/definition/model/step.js";
import type { StepOutcome } from "../../../../src/engine/model/ports.js";
import { codeOf } from "../../../support/error-code.js";
import type { PerformRule } from "../../../support/hand-performer.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { machine, model, parallel, undeclared, workflow } from "../../../support/workflow-builder.js";

type Run = (context: FunctionContext) => Promise<JsonValue>;

const idempotent = (name: string, extra: Partial<StepDefinition> = {}) =>
  undeclared(name, { effects: "idempotent", ...extra } as never);

/** Every step performs this function, as the performer of functions does. */
function functionRule(run: Run): PerformRule {
  return async ({ work, sink, signal }): Promise<StepOutcome> => ({
    status: "completed",
    output: await run(openFunctionContext(work, sink, signal).context),
  });
}

async function started(run: Run, ...steps: readonly StepDefinition[]): Promise<RunnerRoom> {
  const room = new RunnerRoom(workflow(machine("main", steps)), { perform: functionRule(run) });
  await room.start();
  return room;
}

/** Visits whose checkpoint was asked for. */
const requestedIn = (room: RunnerRoom) =>
  room
    .of("checkpoint_recorded")
    .flatMap(({ trigger, metadata }) => (trigger === "user_requested" ? [metadata?.["visit"]] : []));
const channelOf = (room: RunnerRoom) => Object.fromEntries(room.state.channel);

/** Two iterations with changes before, between, inside and after sub-steps and a milestone; later code overrides earlier. */
const busy: Run = async (context) => {
  const { channel, resumed, visit } = context;
  if (resumed === undefined) {
    channel.set("order", ["begun", visit]);
    channel.add("count", 1);
    await context.step("charge", async () => {
      channel.add("charged", 10);
      await context.step("mail", () => channel.append("mails", visit));
      if (visit === 1) context.nextIteration();
    });
    channel.set("charged_at_milestone", channel.get("charged"));
    await context.milestone("half");
  }
  await context.step("pack", () => channel.append("order", "packed"));
  channel.append("order", "sent");
  context.checkpoint({ visit });
  channel.add("count", 100);
  return channel.get("order") as JsonValue;
};

const AFTER_BUSY = {
  order: ["begun", 2, "packed", "sent"],
  count: 202,
  charged: 20,
  mails: [1, 2],
  charged_at_milestone: 20,
};

/** Ends the process after so many records, the next one after so many more. */
async function crashTwice(whole: RunnerRoom, first: number, second: number): Promise<RunnerRoom> {
  let room = new RunnerRoom(whole.definition, { perform: functionRule(busy) });
  room.log.crashAt = first;
  await room.start();
  for (const more of [second, Infinity]) {
    if (room.end !== undefined && !("error" in room.end)) break;
    room = room.crash();
    room.log.crashAt = room.log.durableEvents.length + more;
    await room.resume();
  }
  return room;
}

describe("the wishes of a step", () => {
  it("E9: count once, after a crash behind every record and in two attempts in a row", async () => {
    const whole = await started(busy, idempotent("a"));
    expect(channelOf(whole)).toEqual(AFTER_BUSY);
    const count = whole.log.durableEvents.length;
    const wanted = requestedIn(whole);
    expect(wanted).toEqual([1, 2]);
    let crashes = 0;
    for (let first = 1; first < count; first += 1) {
      const room = await crashTwice(whole, first, first % 3);
      expect(channelOf(room)).toEqual(AFTER_BUSY);
      expect(room.output).toEqual(whole.output);
      expect(requestedIn(room)).toEqual(wanted);
      crashes += room.epoch - 1;
    }
    expect(crashes).toBeGreaterThan(count);
  });

  it("E9: are seen by the step at once, and by others when it has completed", async () => {
    const seen: JsonValue[] = [];
    const room = new RunnerRoom(workflow(parallel("main", [idempotent("a"), idempotent("b")])));
    await room.start();
    const a = room.performer.of("a").sink.channel;
    const b = room.performer.of("b").sink.channel;
    a.set("n", 1);
    a.add("n", 2);
    a.append("list", "x");
    a.append("list", "y");
    const inside = await room.performer.of("a").sink.openSubstep("s");
    inside.channel.add("n", 4);
    seen.push([inside.channel.get("n") ?? null, a.get("n") ?? null, b.get("n") ?? null, a.get("list") ?? null]);
    await inside.complete(null);
    b.add("n", 10);
    seen.push([a.get("n") ?? null, b.get("n") ?? null]);
    await room.finish("a");
    seen.push(b.get("n") ?? null);
    await room.finish("b");
    expect(seen).toEqual([[7, 3, null, ["x", "y"]], [7, 10], 17]);
    expect(channelOf(room)).toEqual({ n: 17, list: ["x", "y"] });
  });

  it("E9: of an attempt that failed do not count; those of its finished sub-step count once", async () => {
    const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 1, delayMsMax: 1, jitter: 0 } as const;
    const room = await started(
      async (context) => {
        context.channel.add("n", 1);
        await context.step("s", () => context.channel.add("n", 10));
        if (context.attempt < 3) throw new Error("not yet");
        return null;
      },
      idempotent("a", { retry }),
    );
    await room.drive();
    expect(room.of("step_failed")).toHaveLength(2);
    expect(channelOf(room)).toEqual({ n: 11 });
  });

  it("E9: of a step that failed for good leave nothing", async () => {
    const room = await started(async (context) => {
      context.channel.add("n", 1);
      await context.step("s", () => context.channel.add("n", 10));
      throw new Error("never");
    }, idempotent("a"));
    expect(room.closed.end).toBe("failed");
    expect(channelOf(room)).toEqual({});
  });

  it("are seen by the routes of their step", async () => {
    const routes = [{ to: "b", when: "{{ channel.n == 3 }}" }, { to: "$end" }];
    const room = await started(
      (context) => {
        if (context.path === "main/a") context.channel.add("n", 3);
        return Promise.resolve(context.path);
      },
      idempotent("a", { routes }),
      model("b"),
    );
    expect(room.of("step_completed").map((event) => event.step)).toEqual(["main/a@1.1", "main/b@1.1"]);
  });

  it("change no more of the channel than the limit, counting what stands and not what was set before", async () => {
    const room = new RunnerRoom(workflow(machine("main", [idempotent("a")])));
    await room.start();
    const { sink } = room.performer.of("a");
    const large = "x".repeat(LIMITS.channelChangesBytesMax / 2 + 1);
    sink.channel.set("k", large);
    sink.channel.set("k", large);
    expect(codeOf(() => sink.channel.append("k", large))).toBe("VALUE_TOO_LARGE");
    const inside = await sink.openSubstep("s");
    expect(codeOf(() => inside.channel.set("other", large))).toBe("VALUE_TOO_LARGE");
    sink.channel.set("k", 1);
    inside.channel.set("other", large);
    await inside.complete(null);
    await room.finish("a");
    expect(channelOf(room)).toEqual({ k: 1, other: large });
  });
});
