/** What a person said before a task goes on counts for the first thing that begins. */
import { describe, expect, it } from "vitest";
import type { ControlMessage } from "../../../../src/engine/model/ports.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, workflow } from "../../../support/workflow-builder.js";

const GUIDANCE: ControlMessage = {
  kind: "guidance",
  text: "in euros",
  by: "ann",
  at: "2026-01-01T00:00:00.000Z",
  id: "g1",
};

const flow = workflow(machine("main", [command("a", { routes: [{ to: "b" }] }), model("b")]));

/** A task that was paused after `a`. */
async function paused(): Promise<RunnerRoom> {
  const room = new RunnerRoom(flow);
  await room.start();
  room.send({ kind: "pause", by: "ann", id: "p1" });
  await room.finish("a");
  expect(room.closed.end).toBe("paused");
  return room.crash();
}

const guidanceOf = (room: RunnerRoom, name: string): unknown => {
  const [intent] = room.of("step_intended").filter(({ path }) => path === `main/${name}`);
  return intent !== undefined && "inline" in intent.work
    ? (intent.work.inline as { guidance?: unknown }).guidance
    : "?";
};

describe("guidance to a task that goes on", () => {
  it("E10: that waited for its next owner is taken before the first step begins", async () => {
    const room = await paused();
    room.waiting.push(GUIDANCE);
    await room.resume();
    expect(guidanceOf(room, "b")).toEqual(["in euros"]);
  });

  it("without any, the task goes on as ever", async () => {
    const room = await paused();
    await room.resume();
    expect(guidanceOf(room, "b")).toBe(undefined);
    await room.finish("b");
    expect(room.closed.end).toBe("done");
  });

  it("E10: an attempt that begins after it is told what came since, with the input it had", async () => {
    const retry = { maxAttempts: 2, backoff: "fixed" as const, delayMs: 1_000, delayMsMax: 1_000, jitter: 0 };
    const room = new RunnerRoom(workflow(machine("main", [command("a", { effects: "none", retry })])));
    await room.start();
    room.send(GUIDANCE);
    await room.flush();
    const first = room.performer.of("a");
    expect([first.work.guidance, first.work.guidanceNow()]).toEqual([[], ["in euros"]]);
    first.end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: true } });
    await room.flush();
    await room.clock.advanceToNext();
    await room.flush();
    const [one, two] = room.of("step_intended");
    expect(two?.attempt).toBe(2);
    expect(two?.idempotencyKey).toBe(one?.idempotencyKey);
    expect(room.performer.of("a").work.guidanceNow()).toEqual(["in euros"]);
  });

  it("a pause that waited for the next owner is taken before anything begins", async () => {
    const room = await paused();
    room.waiting.push({ kind: "pause", by: "ann", id: "p2" });
    await room.resume();
    expect(room.closed.end).toBe("paused");
    expect(room.of("step_intended").map(({ path }) => path)).toEqual(["main/a"]);
  });
});
