import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../../src/base/errors.js";
import type { EventOf } from "../../../../src/engine/model/events.js";
import { RunnerRoom } from "../../../support/runner-room.js";
import { command, machine, model, parallel, workflow } from "../../../support/workflow-builder.js";

const FAILURE = new SplashdownError("CHECKPOINT_FAILED", "the disk said no");
const steps = ["a", "b", "c", "d"].map((name, at, all) =>
  model(name, { routes: at + 1 < all.length ? [{ to: all[at + 1] ?? "" }] : [] }),
);
const chain = workflow(machine("main", steps));

function skipped() {
  return { required: false, written: Promise.resolve() };
}
function failing(required = false) {
  return { required, written: Promise.reject(FAILURE) };
}

describe("snapshots", () => {
  it("two failures in a row stop the task before the next step", async () => {
    const room = new RunnerRoom(chain);
    room.captured = () => failing();
    await room.start();
    await room.finish("a");
    expect(room.performer.names).toEqual(["a", "b"]);
    await room.finish("b");
    expect(room.performer.names).toEqual(["a", "b"]);
    expect(room.of("step_intended")).toHaveLength(2);
    expect(room.closed).toMatchObject({
      end: "failed",
      exitStatus: 4,
      reason: "checkpoints cannot be saved: CHECKPOINT_FAILED: the disk said no",
      resumable: true,
    });
    expect(room.state.open.size).toBe(0);
  });

  it("[first-use F13 kin] two that the storage refused leave the task open, with the reason, and fail nothing", async () => {
    const room = new RunnerRoom(chain);
    const full = new SplashdownError("CHECKPOINT_FAILED", "not saved", {
      cause: new SplashdownError("STORE_FULL", "no space"),
    });
    room.captured = () => ({ required: false, written: Promise.reject(full) });
    await room.start();
    await room.finish("a");
    await room.finish("b");
    expect(room.performer.names).toEqual(["a", "b"]);
    expect(room.error).toMatchObject({ code: "STORE_FULL" });
    expect(room.of("task_closed")).toEqual([]);
    expect(room.state.task).toMatchObject({
      status: "running",
      reason: "checkpoints cannot be saved: STORE_FULL: no space",
    });
    expect(room.state.open.size).toBe(0);
  });

  it("[first-use F13 kin] two that the storage refused when all work was done let the task come to its end", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a", { routes: [] })])), { drawsPicture: true });
    const full = new SplashdownError("CHECKPOINT_FAILED", "not saved", {
      cause: new SplashdownError("STORE_FULL", "no space"),
    });
    const refusals: (() => void)[] = [];
    let save = (): void => undefined;
    const written = new Promise<void>((saved) => (save = saved));
    room.captured = () => ({
      required: false,
      written: new Promise((_saved, refuse) => refusals.push(() => refuse(full))),
    });
    room.idle = () => written;
    await room.start();
    await room.finish("a");
    expect(refusals).toHaveLength(2);
    for (const refuse of refusals) refuse();
    await room.flush();
    save();
    await room.flush();
    expect(room.error).toBeUndefined();
    expect(room.closed).toMatchObject({ end: "done", exitStatus: 0 });
  });

  it("a success between two failures lets the task go on", async () => {
    const room = new RunnerRoom(chain);
    let count = 0;
    room.captured = () => ((count += 1) % 2 === 1 ? failing() : skipped());
    await room.start();
    for (const name of ["a", "b", "c", "d"]) await room.finish(name);
    // Four steps, and the end of the workflow.
    expect(count).toBe(5);
    expect(room.closed.end).toBe("done");
  });

  it("one that fails before a risky operation stops that operation", async () => {
    const room = new RunnerRoom(workflow(machine("main", [command("deploy", { risky: true })])));
    room.captured = (_state, event) => (event.trigger === "before_risky_operation" ? failing(true) : skipped());
    await room.start();
    expect(room.performer.names).toEqual([]);
    expect(room.of("step_cancelled")).toMatchObject([{ step: "main/deploy@1.1", reason: "never_started" }]);
    expect(room.closed).toMatchObject({ end: "failed", exitStatus: 4 });
  });

  it("lets running steps finish before it stops", async () => {
    const room = new RunnerRoom(
      workflow(parallel("main", [model("a"), model("b"), model("c"), model("d")], { maxConcurrent: 3 })),
    );
    room.captured = () => failing();
    await room.start();
    await room.finish("a");
    await room.finish("b");
    expect(room.performer.of("c").signal.aborted).toBe(false);
    expect(room.end).toBeUndefined();
    await room.finish("c", 3);
    room.performer.of("d").end({ status: "completed", output: 4 });
    await room.flush();
    expect(room.of("step_completed").map((event) => event.step)).toEqual(
      ["a", "b", "c", "d"].map((name) => `main/${name}@1.1`),
    );
    expect(room.closed.exitStatus).toBe(4);
  });

  it("X5: one that finds a higher epoch ends the run", async () => {
    const room = new RunnerRoom(chain);
    room.captured = () => ({
      required: false,
      written: Promise.reject(new SplashdownError("OWNER_SUPERSEDED", "claimed")),
    });
    await room.start();
    await room.finish("a");
    room.performer.attempts.at(-1)?.end({ status: "cancelled" });
    await room.flush();
    expect(room.error).toMatchObject({ code: "OWNER_SUPERSEDED" });
  });

  it("captures right after its event was folded, before anything else is", async () => {
    const room = new RunnerRoom(chain);
    const positions: [number, number][] = [];
    room.captured = (state, event) => {
      positions.push([
        state.position,
        state.checkpoints.findIndex((entry) => entry.checkpointId === event.checkpointId),
      ]);
      return skipped();
    };
    await room.start();
    await room.finish("a");
    expect(positions).toEqual([[5, 0]]);
  });

  it("waits for files under way before the task is closed, and their records stand in the history", async () => {
    const room = new RunnerRoom(workflow(machine("main", [model("a")])));
    let written = (): void => undefined;
    let pending: Promise<void> | undefined;
    room.captured = (_state, event) => {
      if (event.trigger !== "phase_completed") return skipped();
      pending = new Promise<void>((resolve) => (written = resolve)).then(() =>
        room.runner.recordSnapshot(writtenOf(event)),
      );
      return { required: false, written: pending };
    };
    room.idle = async () => pending;
    await room.start();
    await room.finish("a");
    expect(room.end).toBeUndefined();
    expect(room.trace).not.toContain("append task_closed");
    written();
    await room.flush();
    expect(room.closed.end).toBe("done");
    expect(room.log.durableEvents.slice(-2).map((event) => event.type)).toEqual(["snapshot_written", "task_closed"]);
    expect(room.state.checkpoints.at(-1)?.snapshot).toEqual({ file: "f", sha256: "s", sizeBytes: 1 });
  });

  it("waits for the shutdown file and its record before it says that the task is closed", async () => {
    const room = new RunnerRoom(chain);
    let written = (): void => undefined;
    room.captured = (_state, event) => {
      if (event.trigger !== "shutdown") return skipped();
      const done = new Promise<void>((resolve) => (written = resolve)).then(() =>
        room.runner.recordSnapshot(writtenOf(event)),
      );
      return { required: true, written: done };
    };
    await room.start();
    room.send({ kind: "stop", by: "ann" });
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.end).toBeUndefined();
    written();
    await room.flush();
    expect(room.closed.exitStatus).toBe(143);
    expect(room.log.durableEvents.slice(-3).map((event) => event.type)).toEqual([
      "checkpoint_recorded",
      "task_closed",
      "snapshot_written",
    ]);
  });

  it("waits for what is still written after the last record, retention included", async () => {
    const room = new RunnerRoom(chain);
    let written = (): void => undefined;
    let pending: Promise<void> = Promise.resolve();
    room.captured = () => {
      const pruned = { type: "pruned" as const, atMs: 0, files: ["old"], reason: "retention" };
      pending = new Promise<void>((resolve) => (written = resolve)).then(() => room.runner.recordSnapshot(pruned));
      return { required: false, written: Promise.resolve() };
    };
    room.idle = () => pending;
    await room.start();
    room.send({ kind: "stop", by: "ann" });
    room.performer.of("a").end({ status: "cancelled" });
    await room.flush();
    expect(room.trace).toContain("append task_closed");
    expect(room.end).toBeUndefined();
    written();
    await room.flush();
    expect(room.closed.exitStatus).toBe(143);
    expect(room.log.durableEvents.at(-1)?.type).toBe("pruned");
  });

  it("takes one on request and notes who asked", async () => {
    const room = new RunnerRoom(chain);
    await room.start();
    room.send({ kind: "checkpoint", by: "ann", note: "before lunch" });
    await room.flush();
    expect(room.of("checkpoint_recorded")).toMatchObject([
      { trigger: "user_requested", note: "before lunch", metadata: { by: "ann" } },
    ]);
  });
});

function writtenOf(event: EventOf<"checkpoint_recorded">): EventOf<"snapshot_written"> {
  const { checkpointId, seq, atMs } = event;
  return {
    type: "snapshot_written",
    atMs,
    checkpointId,
    seq,
    file: "f",
    sha256: "s",
    sizeBytes: 1,
    rawBytes: 2,
    durationMs: 3,
  };
}
