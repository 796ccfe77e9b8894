import { describe, expect, it } from "vitest";
import type { LeaveRequest } from "../../../../src/engine/runner/task-runner.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, undeclared, wait, workflow } from "../../../support/workflow-builder.js";
import { processOf } from "../../../support/places.js";

const PROCESS = processOf(7, 1, "b");
const CTRL_C: LeaveRequest = {
  end: "stopped",
  reason: "ended by SIGINT",
  exitStatus: 130,
  signal: "SIGINT",
  cancel: true,
};
const cancelled = { status: "cancelled" as const };

describe("leaving", () => {
  it("X4: Ctrl+C during an external command leaves it open, and the next owner asks", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("pay")])));
    await room.start();
    await room.performer.of("pay").sink.spawned(PROCESS);
    room.runner.leave(CTRL_C);
    expect(room.performer.of("pay").signal.aborted).toBe(true);
    room.performer.of("pay").end(cancelled);
    await room.flush();
    expect(room.closed).toMatchObject({ end: "stopped", exitStatus: 130, resumable: true, reason: "ended by SIGINT" });
    expect([...room.state.open]).toEqual(["main/pay@1.1"]);
    expect(room.of("checkpoint_recorded").at(-1)).toMatchObject({
      trigger: "shutdown",
      metadata: { signal: "SIGINT" },
    });
    const next = room.crash();
    await next.resume();
    expect(next.of("question_opened")).toMatchObject([{ question: { kind: "unknown_outcome", step: "main/pay@1.1" } }]);
    expect(next.performer.names).toEqual([]);
    expect(next.closed).toMatchObject({ end: "waiting", exitStatus: 22 });
  });

  it("X4: a step without effects is cancelled and runs again under the same key", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("think")])));
    await room.start();
    const key = room.performer.of("think").work.step.idempotencyKey;
    room.runner.leave(CTRL_C);
    room.performer
      .of("think")
      .end({ status: "failed", error: { code: "MODEL_FAILED", message: "aborted", retryable: true } });
    await room.flush();
    expect(room.of("step_failed")).toEqual([]);
    expect(room.of("step_cancelled")).toMatchObject([{ step: "main/think@1.1", reason: "cancelled" }]);
    const next = room.crash();
    await next.resume();
    expect(next.performer.of("think").work.step).toMatchObject({ attempt: 2, idempotencyKey: key });
    await next.finish("think", 1);
    expect(next.closed.end).toBe("done");
  });

  it("X4: an external step whose child provably never ran is cancelled and runs again unasked", async () => {
    const room = new RunnerRoom(workflow(machine("main", [undeclared("send")])));
    await room.start();
    room.runner.leave(CTRL_C);
    room.performer.of("send").end({ status: "cancelled", acted: false });
    await room.flush();
    expect(room.of("step_cancelled")).toMatchObject([{ reason: "never_started" }]);
    expect(room.state.open.size).toBe(0);
  });

  it("X4: an intent that becomes durable while the task leaves is never acted on", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { routes: [{ to: "b" }] }), command("b")])));
    await room.start();
    room.log.isByHand = true;
    await room.finish("a", 1);
    room.runner.leave(CTRL_C);
    room.log.isByHand = false;
    room.log.sync();
    await room.flush();
    expect(room.performer.names).toEqual(["a"]);
    expect(room.of("step_cancelled")).toMatchObject([{ step: "main/b@1.1", reason: "never_started" }]);
    expect(room.closed.exitStatus).toBe(130);
  });

  it("keeps a result that comes while steps are being ended", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { routes: [{ to: "b" }] }), command("b")])));
    await room.start();
    room.runner.leave(CTRL_C);
    await room.finish("a", 42);
    expect(room.of("step_completed")).toMatchObject([{ output: { inline: 42 }, next: "b" }]);
    expect(room.performer.names).toEqual(["a"]);
    expect(room.closed.end).toBe("stopped");
  });

  it("pauses after what runs has finished", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [model("a"), model("b"), model("c")], { maxConcurrent: 2 })));
    await room.start();
    room.send({ kind: "pause", by: "ann" });
    await room.flush();
    expect(room.end).toBeUndefined();
    await room.finish("a");
    await room.finish("b");
    expect(room.performer.names).toEqual(["a", "b"]);
    expect(room.closed).toMatchObject({ end: "paused", exitStatus: 20, reason: "paused by ann" });
    const next = room.crash();
    await next.resume();
    expect(next.performer.names).toEqual(["c"]);
    await next.finish("c");
    expect(next.closed.end).toBe("done");
  });

  it("stops at once on request", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.send({ kind: "stop", by: "ann" });
    expect(room.performer.of("a").signal.aborted).toBe(true);
    room.performer.of("a").end(cancelled);
    await room.flush();
    expect(room.closed).toMatchObject({ end: "stopped", exitStatus: 143, reason: "stopped by ann" });
  });

  it.each(["pause", "stop"] as const)(
    "K4: keeps a %s that was asked for over a crash, until a person goes on",
    async (kind) => {
      const room = new RunnerRoom(workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")])));
      await room.start();
      room.log.crashAt = room.log.durableEvents.length + 1;
      room.send({ kind, by: "ann", id: "r1" });
      await room.flush();
      expect(room.of("decision_made").at(-1)?.decision.effect).toEqual({ kind, request: "r1" });
      const next = room.crash();
      await next.resume({ byPerson: false, by: "recover" });
      await next.drive();
      expect(next.closed.end).toBe(kind === "pause" ? "paused" : "stopped");
      expect(next.performer.names).toEqual([]);
      const last = next.crash();
      await last.resume();
      // Its file is still there, as the crash came before it was removed.
      last.send({ kind, by: "ann", id: "r1" });
      await last.finish("a");
      await last.finish("b");
      expect(last.closed.end).toBe("done");
    },
  );

  it("K4: takes a checkpoint that is asked for twice under one id once", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    for (const id of ["r1", "r1", "r2"]) room.send({ kind: "checkpoint", by: "ann", id });
    await room.flush();
    expect(room.of("checkpoint_recorded").map(({ request }) => request)).toEqual(["r1", "r2"]);
  });

  it("lets Ctrl+C cut a pause short, and says so", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.send({ kind: "pause", by: "ann" });
    room.runner.leave(CTRL_C);
    room.performer.of("a").end(cancelled);
    await room.flush();
    expect(room.closed).toMatchObject({ end: "stopped", exitStatus: 130 });
  });

  it("leaves from a sleep, with the time it would have gone on", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", "10m")])));
    await room.start();
    const dueAtMs = room.clock.nowMs() + 600_000;
    room.runner.leave(CTRL_C);
    await room.flush();
    expect(room.closed).toMatchObject({ end: "stopped", resumeAtMs: dueAtMs });
    expect(room.clock.pendingCount).toBe(0);
    const next = room.crash();
    await next.resume();
    await next.clock.advance(598_999);
    expect(next.end).toBeUndefined();
    await next.clock.advance(1);
    await next.flush();
    expect(next.closed.end).toBe("done");
    expect(next.output).toEqual({ waited_seconds: 600 });
  });

  it("leaves although somebody holds the task open", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", "10m")])));
    room.runner.holdOpen(new Promise(() => undefined));
    await room.start();
    room.runner.leave(CTRL_C);
    await room.flush();
    expect(room.closed.end).toBe("stopped");
  });

  it("that was asked for before the beginning starts the task and closes it", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    room.runner.leave(CTRL_C);
    await room.flush();
    await room.start();
    expect(room.performer.names).toEqual([]);
    expect(room.log.durableEvents.map((event) => event.type)).toEqual([
      "task_started",
      "checkpoint_recorded",
      "task_closed",
    ]);
    expect(room.closed.exitStatus).toBe(130);
  });

  it("while probes are asked writes nothing", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("pay", { probe: ["ask"] })])));
    await room.start();
    await room.performer.of("pay").sink.spawned(PROCESS);
    const next = room.crash();
    next.performer.probeRule = (_work, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    await next.resume();
    expect(next.performer.probed).toEqual(["pay"]);
    next.runner.leave(CTRL_C);
    await next.flush();
    expect(next.error).toMatchObject({ code: "CANCELLED" });
    expect(next.log.appended).toHaveLength(room.log.durableEvents.length);
  });
});
