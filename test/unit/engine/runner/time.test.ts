import { describe, expect, it } from "vitest";
import { nextDueAtMs } from "../../../../src/engine/rules/steps/due.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, wait, workflow } from "../../../support/workflow-builder.js";

const RETRY = { maxAttempts: 3, backoff: "exponential" as const, delayMs: 1_000, delayMsMax: 60_000, jitter: 0 };
const broken = { status: "failed" as const, error: { code: "STEP_FAILED", message: "no", retryable: true } };

describe("time in a run", () => {
  it("a wait is nobody's work: it ends when it falls due, and its scope goes on", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", 5, { routes: [{ to: "a" }] }), model("a")])));
    await room.start();
    expect(room.performer.names).toEqual([]);
    await room.clock.advance(4_999);
    expect(room.of("step_completed")).toEqual([]);
    await room.clock.advance(1);
    await room.flush();
    expect(room.of("step_completed")).toMatchObject([
      { step: "main/nap@1.1", output: { inline: { waited_seconds: 5 } } },
    ]);
    expect(room.performer.names).toEqual(["a"]);
  });

  it("a wait that a crash interrupted ends at the same time", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", 60)])));
    await room.start();
    await room.clock.advance(50_000);
    const next = room.crash();
    await next.resume();
    await next.clock.advance(8_999);
    expect(next.end).toBeUndefined();
    await next.clock.advance(1);
    await next.flush();
    expect(next.closed.end).toBe("done");
  });

  it("looks at the time again every minute, so that a sleeping machine is late by a minute at most", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", "2h")])));
    await room.start();
    room.clock.sleepMachine(2 * 3_600_000);
    await room.clock.advance(60_000);
    await room.flush();
    expect(room.closed.end).toBe("done");
    expect(room.clock.monotonicMs()).toBe(60_000);
  });

  it("retries after the delay, with the key of the first attempt", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { retry: RETRY })])));
    await room.start();
    const key = room.performer.of("a").work.step.idempotencyKey;
    room.performer.of("a").end(broken);
    await room.clock.advance(999);
    expect(room.performer.attempts).toHaveLength(1);
    await room.clock.advance(1);
    room.performer.of("a").end(broken);
    await room.clock.advance(1_999);
    expect(room.performer.attempts).toHaveLength(2);
    await room.clock.advance(1);
    await room.finish("a", "third");
    expect(room.performer.attempts.map((attempt) => attempt.work.step.idempotencyKey)).toEqual([key, key, key]);
    expect(room.output).toBe("third");
  });

  it("a retry that a crash interrupted comes at its time", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { retry: { ...RETRY, delayMs: 10_000 } })])));
    await room.start();
    room.performer.of("a").end(broken);
    await room.flush();
    const next = room.crash();
    await next.resume();
    expect(next.performer.names).toEqual([]);
    await next.clock.advance(9_000);
    await next.flush();
    expect(next.performer.of("a").work.step).toMatchObject({ attempt: 2, failures: 1 });
  });

  it("a wait longer than may be slept out ends the process with the time shown", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", "10m")])), { sleepMsMax: 60_000 });
    const dueAtMs = room.clock.nowMs() + 600_000;
    await room.start();
    expect(room.closed).toMatchObject({ end: "paused", exitStatus: 75, resumeAtMs: dueAtMs });
    expect(room.state.checkpoints.map(({ trigger, status }) => [trigger, status])).toEqual([["shutdown", "paused"]]);
    expect(room.clock.pendingCount).toBe(0);
  });

  it("a rate limit is a pause and not a failure", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])), { sleepMsMax: 60_000 });
    await room.start();
    const retryAtMs = room.clock.nowMs() + 30_000;
    room.performer.of("a").end({
      status: "failed",
      error: { code: "MODEL_RATE_LIMITED", message: "slow down", retryable: true, retryAtMs },
    });
    await room.clock.advance(29_999);
    expect(room.performer.attempts).toHaveLength(1);
    await room.clock.advance(1);
    await room.finish("a", 1);
    expect(room.closed.end).toBe("done");
  });

  it("a pause does not keep others from running, and the process does not end before they have", async () => {
    const room = new RunnerRoom(workflow(parallel("main", [wait("nap", "10m"), model("a")])), { sleepMsMax: 60_000 });
    await room.start();
    await room.clock.advance(120_000);
    expect(room.end).toBeUndefined();
    await room.finish("a");
    expect(room.closed).toMatchObject({ end: "paused", exitStatus: 75 });
  });

  it("[reliability E20] nothing falls due while a person wants the task to pause", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", 5)])));
    await room.start();
    expect(nextDueAtMs(room.state)).toBe(room.clock.nowMs() + 5_000);
    const task = room.state.task;
    if (task === undefined) throw new Error("it has not begun");
    for (const request of ["pause", "stop"] as const)
      expect(nextDueAtMs({ ...room.state, task: { ...task, request } })).toBeUndefined();
  });

  it("what is due and changes nothing is not told again at once", async () => {
    const settings = {
      checkpoint_config: { triggers: { interval: { min_interval_seconds: 10, when: "phase > 99" } } },
    };
    const room = new RunnerRoom(workflow(parallel("main", [model("a"), wait("nap", 3_600)])), { settings });
    await room.start();
    let wakeUps = 0;
    const memory = room.clock.schedule.bind(room.clock);
    room.clock.schedule = (durationMs, callback) => {
      wakeUps += 1;
      return memory(durationMs, callback);
    };
    await room.clock.advance(600_000);
    expect(wakeUps).toBeLessThan(30);
    await room.finish("a");
    await room.clock.advance(3_060_000);
    await room.flush();
    expect(room.closed.end).toBe("done");
  });

  it("what is due and changes nothing hides nothing that falls due later", async () => {
    const settings = {
      checkpoint_config: { triggers: { interval: { min_interval_seconds: 10, when: "phase > 99" } } },
    };
    const naps = [wait("short", 25), wait("long", 31), command("a", { retry: { ...RETRY, delayMs: 4_000 } })];
    const room = new RunnerRoom(workflow(parallel("main", naps)), { settings });
    await room.start();
    await room.clock.advance(24_999);
    await room.flush();
    expect(room.of("step_completed")).toEqual([]);
    room.performer.of("a").end(broken);
    await room.flush();
    await room.clock.advance(1);
    await room.flush();
    expect(room.of("step_completed").map((event) => event.step)).toEqual(["main/short@1.1"]);
    await room.clock.advance(3_999);
    await room.flush();
    expect(room.performer.attempts.map((attempt) => attempt.work.step.attempt)).toEqual([1, 2]);
    await room.clock.advance(2_001);
    await room.flush();
    expect(room.of("step_completed").map((event) => event.step)).toEqual(["main/short@1.1", "main/long@1.1"]);
  });

  it("takes checkpoints at the interval while steps run", async () => {
    const settings = { checkpoint_config: { triggers: { interval: { min_interval_seconds: 10 } } } };
    const room = new RunnerRoom(workflow(machine("main", [model("a")])), { settings });
    await room.start();
    await room.clock.advance(35_000);
    expect(room.of("checkpoint_recorded").map((event) => event.trigger)).toEqual(["interval", "interval", "interval"]);
  });

  it("asks when the limit in time is reached, and stops or goes on as answered", async () => {
    const limits = { maxIterations: 10, timeoutMs: 60_000 };
    const room = new RunnerRoom(
      workflow(machine("main", [model("a", { routes: [{ to: "b" }] }), model("b")]), { limits }),
    );
    await room.start();
    await room.clock.advance(60_000);
    await room.flush();
    const [question] = room.state.unsettled;
    expect(room.of("question_opened")).toMatchObject([{ question: { kind: "limit" } }]);
    await room.finish("a");
    expect(room.performer.names).toEqual(["a"]);
    expect(room.closed).toMatchObject({ end: "waiting", exitStatus: 21 });
    const next = room.crash();
    next.runner.holdOpen(new Promise(() => undefined));
    await next.resume();
    next.send({ kind: "answer", question: question as never, answer: "extend", value: { seconds: 60 }, by: "ann" });
    await next.flush();
    // It was ended with the limit, and begins again.
    expect(next.performer.names).toEqual(["a"]);
    await next.finish("a");
    expect(next.performer.names).toEqual(["a", "b"]);
  });
});
