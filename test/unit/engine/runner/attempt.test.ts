import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../../src/base/limits.js";
import type { StepOutcome } from "../../../../src/engine/model/ports.js";
import { codeOf, codeOfAsync } from "../../../support/error-code.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, undeclared, workflow } from "../../../support/workflow-builder.js";
import { processOf } from "../../../support/places.js";

const PROCESS = processOf(7, 1, "b");
const one = (step = command("a")) => workflow(machine("main", [step]));
const done = (
  output: StepOutcome extends infer T ? (T extends { output: infer V } ? V : never) : never,
): StepOutcome => ({ status: "completed", output });

async function started(definition = one()): Promise<RunnerRoom> {
  const room = new RunnerRoom(definition);
  await room.start();
  return room;
}

/** How a promise stands without waiting for it. */
function watch(promise: Promise<unknown>): { state: string } {
  const watched = { state: "pending" };
  promise.then(
    () => (watched.state = "resolved"),
    (error: { code?: string }) => (watched.state = error.code ?? "rejected"),
  );
  return watched;
}

describe("an attempt", () => {
  it("X2: what the sink promises is durable, and the epoch was looked at, when the promise resolves", async () => {
    const room = await started();
    room.log.isByHand = true;
    const looks = room.log.confirms;
    const spawned = watch(room.performer.of("a").sink.spawned(PROCESS));
    await room.flush();
    expect(spawned.state).toBe("pending");
    room.log.sync();
    await room.flush();
    expect(spawned.state).toBe("resolved");
    expect(room.log.confirms).toBe(looks + 1);
    expect(room.of("step_spawned")).toMatchObject([{ attempt: 1, process: PROCESS }]);
  });

  it("X2: every report stands in the history under its step", async () => {
    const room = await started(one(undeclared("a") as never));
    const { sink } = room.performer.of("a");
    const substep = await sink.openSubstep("pay");
    await substep.complete({ ok: true });
    await sink.milestone("half", { at: 1 });
    await sink.turn({ text: "hi" }, { calls: 1, tokensIn: 2, tokensOut: 3, costMicroUsd: 4 });
    await sink.toolIntended("c1", { name: "look_up", input: { q: 1 }, effects: "none" });
    await sink.toolCompleted("c1", { a: 2 });
    sink.progress({ fraction: 0.5, message: "half", partial: [1] });
    await room.flush();
    const types = room.log.durableEvents.slice(3).map((event) => event.type);
    expect(types).toEqual([
      "substep_intended",
      "substep_completed",
      "milestone_reached",
      "turn_recorded",
      "tool_intended",
      "tool_completed",
      "progress_reported",
    ]);
    expect(room.state.totals).toMatchObject({ calls: 1, tokensIn: 2, tokensOut: 3, costMicroUsd: 4 });
  });

  it("X1: refuses everything after it has come to its outcome", async () => {
    const room = await started(workflow(machine("main", [command("a", { routes: [{ to: "b" }] }), command("b")])));
    const { sink } = room.performer.of("a");
    await room.finish("a");
    const count = room.log.appended.length;
    expect(await codeOfAsync(() => sink.spawned(PROCESS))).toBe("CANCELLED");
    expect(await codeOfAsync(() => sink.turn("late"))).toBe("CANCELLED");
    expect(await codeOfAsync(() => sink.milestone("late", 1))).toBe("CANCELLED");
    expect(codeOf(() => sink.channel.set("k", 1))).toBe("CANCELLED");
    sink.progress({ message: "late" });
    await room.flush();
    expect(room.log.appended).toHaveLength(count);
  });

  it("X1: a child is not let go when its step was cancelled while `spawned` was on its way", async () => {
    const room = await started(workflow(parallel("main", [command("a"), command("b")])));
    room.performer.of("b").end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: false } });
    room.log.isByHand = true;
    await room.flush();
    expect(room.performer.of("a").signal.aborted).toBe(false);
    const spawned = watch(room.performer.of("a").sink.spawned(PROCESS));
    await room.flush();
    expect(spawned.state).toBe("CANCELLED");
  });

  it("X1: a child is not let go when the task leaves while `spawned` becomes durable", async () => {
    const room = await started();
    room.log.isByHand = true;
    const spawned = watch(room.performer.of("a").sink.spawned(PROCESS));
    await room.flush();
    room.runner.leave({ end: "stopped", reason: "SIGINT", exitStatus: 130, cancel: true });
    room.log.sync();
    await room.flush();
    expect(spawned.state).toBe("CANCELLED");
    expect(room.performer.of("a").signal.aborted).toBe(true);
  });

  it("X1: notes and refuses the late result of an attempt that was cancelled", async () => {
    const room = await started(
      workflow(parallel("main", [command("a"), command("b"), model("c")], { failureMode: "fail_fast" })),
    );
    await room.performer.of("a").sink.spawned(PROCESS);
    room.performer.of("b").end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: false } });
    await room.flush();
    expect(room.performer.of("a").signal.aborted).toBe(true);
    expect(room.performer.of("c").signal.aborted).toBe(true);
    await room.finish("a", "late");
    room.performer.of("c").end({ status: "cancelled" });
    await room.flush();
    expect(room.of("noted").map((event) => event.text)).toEqual(["late result of main/a@1.1 attempt 1 refused"]);
    expect(room.of("step_completed")).toEqual([]);
    expect(room.closed).toMatchObject({ end: "failed", exitStatus: 4 });
  });

  it("ends at its timeout and fails with STEP_TIMEOUT, whatever comes after", async () => {
    const room = await started(one(command("a", { timeoutMs: 5_000 })));
    await room.clock.advance(4_999);
    expect(room.performer.of("a").signal.aborted).toBe(false);
    await room.clock.advance(1);
    expect(room.performer.of("a").signal.aborted).toBe(true);
    await room.finish("a", "too late");
    expect(room.of("step_failed")).toMatchObject([
      { durationMs: 5_000, error: { code: "STEP_TIMEOUT", details: { acted: "maybe" } } },
    ]);
    // It acts on the world: nobody knows what it has done by then.
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
  });

  it("counts silence from the last content", async () => {
    const room = await started(one(command("a", { idleTimeoutMs: 1_000 })));
    const { sink, signal } = room.performer.of("a");
    for (let beat = 0; beat < 5; beat += 1) {
      await room.clock.advance(900);
      sink.progress({ message: `beat ${beat}` });
    }
    expect(signal.aborted).toBe(false);
    await room.clock.advance(1_000);
    expect(signal.aborted).toBe(true);
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.of("step_failed")[0]?.error).toMatchObject({
      code: "STEP_TIMEOUT",
      message: expect.stringContaining("silent") as string,
    });
  });

  it("counts signs of life that are no report as content, with one timer and no event", async () => {
    const room = await started(one(command("a", { idleTimeoutMs: 1_000 })));
    const { alive } = room.performer.of("a").sink;
    const { signal } = room.performer.of("a");
    const count = room.log.appended.length;
    for (let beat = 0; beat < 50; beat += 1) {
      await room.clock.advance(100);
      for (let chunk = 0; chunk < 100; chunk += 1) alive();
      expect(room.clock.pendingCount).toBe(1);
    }
    expect(signal.aborted).toBe(false);
    expect(room.log.appended).toHaveLength(count);
    await room.clock.advance(999);
    expect(signal.aborted).toBe(false);
    await room.clock.advance(1);
    expect(signal.aborted).toBe(true);
  });

  it("makes few events of ten thousand reports of progress, and the state has the last of them", async () => {
    const room = await started();
    const { sink } = room.performer.of("a");
    for (let line = 1; line <= 10_000; line += 1) {
      sink.progress(line % 2 === 0 ? { fraction: line / 10_000 } : { message: `line ${line}` });
      if (line % 1_000 === 0) await room.clock.advance(100);
    }
    await room.finish("a");
    const reported = room.of("progress_reported");
    expect(reported.map((event) => [event.message, event.fraction])).toEqual([
      ["line 1", undefined],
      ["line 2999", 0.3],
      ["line 4999", 0.5],
      ["line 7999", 0.8],
      ["line 9999", 1],
    ]);
    expect(room.state.steps.get("main/a@1.1" as never)?.progress).toEqual({ fraction: 1, message: "line 9999" });
    expect(room.clock.pendingCount).toBe(0);
  });

  it("says the last progress of a program that goes on in silence", async () => {
    const room = await started();
    const { sink } = room.performer.of("a");
    sink.progress({ fraction: 0.1 });
    sink.progress({ fraction: 0.2 });
    await room.clock.advance(249);
    expect(room.of("progress_reported").map((event) => event.fraction)).toEqual([0.1]);
    await room.clock.advance(1);
    await room.flush();
    expect(room.of("progress_reported").map((event) => event.fraction)).toEqual([0.1, 0.2]);
  });

  it("drops no partial output, confidence, blocker or milestone, and keeps their order among the progress", async () => {
    const room = await started();
    const { sink } = room.performer.of("a");
    sink.progress({ message: "1" });
    sink.progress({ message: "2" });
    sink.progress({ partial: ["p"] });
    sink.progress({ message: "3" });
    sink.progress({ confidence: 0.7 });
    sink.progress({ message: "4" });
    sink.progress({ blocker: "b", message: "5" });
    sink.progress({ message: "6" });
    await sink.milestone("m", null);
    sink.progress({ message: "7" });
    room.performer.of("a").end({ status: "failed", error: { code: "STEP_FAILED", message: "no", retryable: false } });
    await room.flush();
    const told = room.log.durableEvents.flatMap((event) => {
      if (event.type === "milestone_reached") return [event.name];
      if (event.type === "step_failed") return ["failed"];
      if (event.type !== "progress_reported") return [];
      return [event.blocker ?? event.confidence ?? (event.partial === undefined ? event.message : "partial")];
    });
    expect(told).toEqual(["1", "2", "partial", "3", 0.7, "4", "b", "6", "m", "7", "failed"]);
  });

  it("says the last progress of an attempt that is ended for its silence", async () => {
    const room = await started(one(command("a", { idleTimeoutMs: 100 })));
    const { sink } = room.performer.of("a");
    sink.progress({ message: "first" });
    sink.progress({ message: "last" });
    await room.clock.advance(100);
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.of("progress_reported").map((event) => event.message)).toEqual(["first", "last"]);
  });

  it("takes a limit beyond the longest timer for none", async () => {
    const room = await started(one(command("a", { timeoutMs: 2 ** 31 })));
    expect(room.clock.pendingCount).toBe(0);
    await room.finish("a");
    expect(room.closed.end).toBe("done");
  });

  it("turns what a performer throws into a failure with its code, or STEP_FAILED with the stack", async () => {
    const room = await started();
    room.performer.of("a").fail(new Error("boom"));
    await room.flush();
    expect(room.of("step_failed")[0]?.error).toMatchObject({ code: "STEP_FAILED", message: "boom", retryable: true });
    expect(room.of("step_failed")[0]?.error.details?.["stack"]).toContain("boom");
  });

  it("fails a step that ends itself as cancelled without being asked to", async () => {
    const room = await started(one(model("a") as never));
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.of("step_failed")).toMatchObject([{ error: { code: "STEP_FAILED" } }]);
    expect(room.performer.attempts).toHaveLength(1);
  });

  it("cleans secrets from outcomes, reports, metadata and errors before they become events", async () => {
    const room = await started(
      workflow(
        parallel("main", [undeclared("a"), undeclared("b"), undeclared("c")], { failureMode: "continue_on_error" }),
      ),
    );
    room.clean = (text) => text.replaceAll("s3cret", "***");
    const { sink } = room.performer.of("a");
    const substep = await sink.openSubstep("x");
    substep.channel.append("s3cret", "s3cret");
    await substep.complete({ key: "s3cret" });
    await sink.milestone("s3cret", ["s3cret"]);
    await sink.turn("s3cret");
    sink.channel.set("k", "s3cret");
    sink.progress({ message: "s3cret", partial: "s3cret", blocker: "s3cret" });
    sink.requestCheckpoint({ note: "s3cret" });
    await room.finish(
      "a",
      { token: "s3cret" },
      {
        factors: ["s3cret"],
        uncertainties: ["s3cret"],
        blockers: ["s3cret"],
        assumptions: ["s3cret"],
        confidence: 0.9,
      },
    );
    room.performer.of("b").end({
      status: "failed",
      error: { code: "STEP_FAILED", message: "s3cret", retryable: false, details: { stderr: "s3cret" } },
    });
    room.performer.of("c").fail(new Error("s3cret"));
    await room.flush();
    expect(room.closed.end).toBe("partial");
    expect(JSON.stringify(room.log.appended)).not.toContain("s3cret");
    expect(room.of("step_completed")[0]).toMatchObject({
      output: { inline: { token: "***" } },
      wishes: {
        channel: [
          { op: "append", key: "***", value: "***" },
          { op: "set", key: "k", value: "***" },
        ],
        checkpoint: { note: "***" },
      },
    });
  });

  it("cleans an error before it cuts it", async () => {
    const room = await started();
    room.clean = (text) => text.replaceAll("s3cret", "***");
    const long = `${"x".repeat(LIMITS.errorTextBytesMax - 3)}s3cret`;
    room.performer.of("a").end({
      status: "failed",
      error: { code: "STEP_FAILED", message: long, retryable: false, details: { out: long } },
    });
    await room.flush();
    const error = room.of("step_failed")[0]?.error;
    expect(error?.message).toBe(`${"x".repeat(LIMITS.errorTextBytesMax - 3)}***`);
    expect(error?.details?.["out"]).toBe(error?.message);
  });

  it("refuses an output over the limit without another attempt", async () => {
    const room = await started(
      one(command("a", { retry: { maxAttempts: 5, backoff: "fixed", delayMs: 1, delayMsMax: 1, jitter: 0 } })),
    );
    await room.finish("a", "x".repeat(LIMITS.stepOutputBytesMax + 1));
    expect(room.of("step_failed")[0]?.error).toMatchObject({
      code: "VALUE_TOO_LARGE",
      retryable: false,
      details: { limit: LIMITS.stepOutputBytesMax },
    });
    expect(room.closed.exitStatus).toBe(22);
    expect(room.blobs.size).toBe(0);
  });

  it("refuses an output that is nested too deep", async () => {
    const room = await started();
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    room.performer.of("a").end(done(deep as never));
    await room.flush();
    expect(room.of("step_failed")[0]?.error).toMatchObject({ code: "VALUE_TOO_DEEP" });
  });

  it("refuses a reported value over the limit to the performer and goes on", async () => {
    const room = await started(one(undeclared("a") as never));
    const { sink } = room.performer.of("a");
    const large = "x".repeat(LIMITS.stepOutputBytesMax + 1);
    expect(await codeOfAsync(() => sink.turn(large))).toBe("VALUE_TOO_LARGE");
    expect(codeOf(() => sink.channel.set("k", large))).toBe("VALUE_TOO_LARGE");
    expect(sink.channel.get("k")).toBeUndefined();
    await room.finish("a");
    expect(room.closed.end).toBe("done");
  });
});
