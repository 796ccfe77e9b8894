/** What a clock that is set, or was wrong once, does to remaining times: nothing. */
import { describe, expect, it } from "vitest";
import { hasTimeCome } from "../../../../src/engine/rules/steps/due.js";
import { createTaskClock } from "../../../../src/engine/runner/task-clock.js";
import { planRecovery } from "../../../../src/recovery/supervise.js";
import { FakeClock } from "../../../support/fake-clock.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, gate, machine, model, wait, workflow } from "../../../support/workflow-builder.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETRY = { maxAttempts: 3, backoff: "fixed" as const, delayMs: 20_000, delayMsMax: 60_000, jitter: 0 };
const broken = { status: "failed" as const, error: { code: "STEP_FAILED", message: "no", retryable: true } };
const JUMPS = [
  { way: "back by an hour", byMs: -HOUR_MS },
  { way: "ahead by an hour", byMs: HOUR_MS },
];

describe.each(JUMPS)("a clock that is set $way in the middle", ({ byMs }) => {
  it("[kinds F4] leaves a wait as long as it says", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", 100)])));
    await room.start();
    await room.clock.advance(4_000);
    room.clock.jumpWall(byMs);
    await room.clock.advance(95_999);
    expect(room.end).toBeUndefined();
    await room.clock.advance(1);
    await room.flush();
    expect(room.closed.end).toBe("done");
    expect(room.state.totals.elapsedMs).toBe(100_000);
  });

  it("[kinds F4 kin] leaves the delay of a retry as long as it says", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { retry: RETRY })])));
    await room.start();
    room.performer.of("a").end(broken);
    await room.flush();
    room.clock.jumpWall(byMs);
    await room.clock.advance(19_999);
    expect(room.performer.attempts).toHaveLength(1);
    await room.clock.advance(1);
    expect(room.performer.attempts).toHaveLength(2);
  });

  it("[kinds F4 kin] leaves the limit on time where it was", async () => {
    const limits = { maxIterations: 10, timeoutMs: 600_000 };
    const room = new RunnerRoom(workflow(machine("main", [model("a")]), { limits }));
    await room.start();
    await room.clock.advance(12_000);
    room.clock.jumpWall(byMs);
    await room.clock.advance(587_999);
    expect(room.of("question_opened")).toEqual([]);
    await room.clock.advance(1);
    await room.flush();
    expect(room.of("question_opened")).toMatchObject([{ question: { kind: "limit" } }]);
  });

  it("[kinds F4 kin] leaves a gate's timeout as long as it says", async () => {
    const options = [{ value: "yes" }, { value: "no" }];
    const room = new RunnerRoom(
      workflow(machine("main", [gate("ok", options, { timeoutMs: 60_000, onTimeout: "no" })])),
    );
    room.runner.holdOpen(new Promise(() => undefined));
    await room.start();
    const [asked] = room.of("question_opened");
    const expiresAtMs = asked?.question.expiresAtMs;
    if (expiresAtMs === undefined) throw new Error("the gate has no timeout");
    room.clock.jumpWall(byMs);
    await room.clock.advance(59_999);
    expect(room.of("question_answered")).toEqual([]);
    await room.clock.advance(1);
    await room.flush();
    expect(room.of("question_answered")).toMatchObject([{ answer: "no" }]);
  });

  it("[kinds F4 kin] moves the time that a provider names, which is one of the wall", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    await room.start();
    room.clock.jumpWall(byMs);
    const retryAtMs = room.clock.nowMs() + 30_000;
    const error = { code: "MODEL_RATE_LIMITED", message: "slow down", retryable: true, retryAtMs };
    room.performer.of("a").end({ status: "failed", error });
    await room.flush();
    await room.clock.advance(29_999);
    expect(room.performer.attempts).toHaveLength(1);
    await room.clock.advance(1);
    expect(room.performer.attempts).toHaveLength(2);
  });

  it("[kinds F4 kin] is no part of the time that other processes are told to come back at", async () => {
    const room = new RunnerRoom(
      workflow(machine("main", [model("a", { routes: [{ to: "nap" }] }), wait("nap", "10m")])),
      {
        sleepMsMax: 60_000,
      },
    );
    await room.start();
    room.clock.jumpWall(byMs);
    await room.finish("a");
    expect(room.closed).toMatchObject({ end: "paused", resumeAtMs: room.clock.nowMs() + 600_000 });
  });
});

describe("a clock that was ahead by a day in the process before", () => {
  /** The next owner, on a clock that is right: a day and no second later. */
  const afterwards = (room: RunnerRoom) => room.crash({}, new FakeClock(room.clock.nowMs() - DAY_MS));

  it("[reliability 6] delays no wait that begins now", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a", { routes: [{ to: "nap" }] }), wait("nap", 3)])));
    await room.start();
    const next = afterwards(room);
    await next.resume();
    await next.finish("a");
    await next.clock.advance(2_999);
    expect(next.end).toBeUndefined();
    await next.clock.advance(1);
    await next.flush();
    expect(next.closed.end).toBe("done");
  });

  it("[reliability 6 kin] delays no wait that had begun", async () => {
    const room = new RunnerRoom(workflow(machine("main", [wait("nap", 3)])));
    await room.start();
    await room.clock.advance(1_000);
    const next = afterwards(room);
    await next.resume();
    await next.clock.advance(3_000);
    await next.flush();
    expect(next.closed.end).toBe("done");
  });

  it("[reliability 6 kin] delays no retry", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("a", { retry: RETRY })])));
    await room.start();
    room.performer.of("a").end(broken);
    await room.flush();
    const next = afterwards(room);
    await next.resume();
    await next.clock.advance(20_000);
    await next.flush();
    expect(next.performer.names).toEqual(["a"]);
  });

  it("[reliability 6 kin] stops no count of the time that is worked", async () => {
    const limits = { maxIterations: 10, timeoutMs: 60_000 };
    const room = new RunnerRoom(workflow(machine("main", [model("a")]), { limits }));
    await room.start();
    await room.clock.advance(10_000);
    const next = afterwards(room);
    await next.resume();
    await next.clock.advance(60_000);
    await next.flush();
    expect(next.of("question_opened")).toMatchObject([{ question: { kind: "limit" } }]);
  });

  it("[reliability 6 kin] keeps nobody from resuming a task that was paused until a time of it", () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const closed = { end: "paused", atMs: nowMs + DAY_MS, resumeAtMs: nowMs + DAY_MS + 3_000 };
    const task = { name: "t", status: "paused", records: 9, closed } as never;
    expect(planRecovery([task], nowMs).take).toEqual([{ name: "t", why: "due" }]);
    expect(hasTimeCome({ resumeAtMs: nowMs + 3_000, setAtMs: nowMs - 1 }, nowMs)).toBe(false);
  });

  it("[reliability 6 kin] is said, as is a clock that is set while the task runs", async () => {
    const clock = new FakeClock();
    const said: string[] = [];
    const log = { warn: (text: string) => void said.push(text) };
    const task = createTaskClock({ clock, lastAtMs: clock.nowMs() + DAY_MS, log });
    clock.jumpWall(-HOUR_MS);
    task.nowMs();
    await clock.advance(1_000);
    expect(task.nowMs() - clock.nowMs()).toBe(DAY_MS + HOUR_MS);
    expect(said).toEqual([
      expect.stringContaining("is 24 h ahead of the clock of this machine"),
      expect.stringContaining("was set back by 60 min"),
    ]);
  });
});
