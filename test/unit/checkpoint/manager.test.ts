import { describe, expect, it } from "vitest";
import { formatSnapshotName } from "../../../src/checkpoint/format/names.js";
import type { SnapshotEvent } from "../../../src/checkpoint/contract.js";
import {
  type CheckpointManager,
  type CheckpointManagerOptions,
  createCheckpointManager,
} from "../../../src/checkpoint/manager.js";
import { computeBudgetBytes, isAlwaysWritten, isWithinBudget } from "../../../src/checkpoint/policy.js";
import { SnapshotRetention } from "../../../src/checkpoint/retention.js";
import type { WrittenSnapshot } from "../../../src/checkpoint/format/writer.js";
import type { Trigger } from "../../../src/engine/model/events.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import {
  addSteps,
  type CheckpointRoom,
  createCheckpointRoom,
  createTaskState,
  positionOf,
  recordCheckpoint,
  recordSnapshot,
} from "../../support/checkpoint-room.js";
import { flushReactions } from "../../support/fake-clock.js";

interface Ground {
  readonly room: CheckpointRoom;
  readonly state: TaskState;
  readonly manager: CheckpointManager;
  readonly events: SnapshotEvent[];
  readonly written: WrittenSnapshot[];
  /** Fires a trigger, as engine and runner do. */
  fire(trigger?: Trigger): ReturnType<CheckpointManager["captured"]>;
  files(): Promise<string[]>;
}

async function createGround(extra: Partial<CheckpointManagerOptions> = {}): Promise<Ground> {
  const room = await createCheckpointRoom();
  const state = createTaskState();
  const events: SnapshotEvent[] = [];
  const written: WrittenSnapshot[] = [];
  const manager = createCheckpointManager({
    writer: room.writer,
    journal: room.journal,
    log: room.log,
    isEnabled: true,
    onEvent: async (event) => {
      events.push(event);
      if (event.type === "snapshot_written") recordSnapshot(state, event);
    },
    onWritten: (snapshot) => void written.push(snapshot),
    ...extra,
  });
  const fire = (trigger: Trigger = "specialist_finished"): ReturnType<CheckpointManager["captured"]> =>
    manager.captured(state, recordCheckpoint(state, { trigger }));
  const files = async (): Promise<string[]> => (await room.task.list("checkpoint_")).map(({ key }) => key);
  return { room, state, manager, events, written, fire, files };
}

/** A state of a thousand steps whose first file waits for the journal; how often the state was captured since. */
async function holdLarge({ room, state, fire }: Ground): Promise<{ captures: () => number; letGo: () => void }> {
  addSteps(state, 1_000);
  const holds: (() => void)[] = [];
  room.journal.durable = () => new Promise<void>((resolve) => void holds.push(resolve));
  void fire().written.catch(() => undefined);
  await flushReactions();
  let count = 0;
  const values = state.phases.values.bind(state.phases);
  // Both parts of a capture read them.
  state.phases.values = () => {
    count += 0.5;
    return values();
  };
  return {
    captures: () => count,
    letGo: () => {
      room.journal.durable = () => Promise.resolve();
      for (const letGo of holds) letGo();
    },
  };
}

const REQUIRED: readonly Trigger[] = ["user_requested", "debug_breakpoint", "before_risky_operation", "shutdown"];

describe("the snapshot budget", () => {
  it("is one MiB and four times the journal", () => {
    expect(computeBudgetBytes(0)).toBe(1_048_576);
    expect(computeBudgetBytes(1000)).toBe(1_052_576);
  });

  it("counts the next file in and stays under the sum", () => {
    expect(isWithinBudget({ written: 1_048_000, next: 575, journal: 0 })).toBe(true);
    expect(isWithinBudget({ written: 1_048_000, next: 576, journal: 0 })).toBe(false);
    expect(isWithinBudget({ written: 1_048_000, next: 576, journal: 1 })).toBe(true);
  });

  it("does not hold for what people ask for, and shutdown", () => {
    const all: readonly Trigger[] = [
      ...REQUIRED,
      "phase_started",
      "phase_completed",
      "specialist_finished",
      "interval",
      "error_encountered",
    ];
    expect(all.filter(isAlwaysWritten)).toEqual(REQUIRED);
  });
});

describe("the checkpoint manager", () => {
  it("writes a file and tells the history", async () => {
    const { room, state, manager, events, written, fire, files } = await createGround();
    addSteps(state, 3);
    const { required, written: done } = fire();
    expect(required).toBe(false);
    await done;
    const [event] = events;
    expect(event).toMatchObject({
      type: "snapshot_written",
      seq: 1,
      file: "checkpoint_phase1_20240102T143523123Z_00000001.json",
    });
    expect(await files()).toEqual(["checkpoint_phase1_20240102T143523123Z_00000001.json"]);
    const { header, picture, sha256 } = await room
      .source()
      .loadPicture("checkpoint_phase1_20240102T143523123Z_00000001.json");
    expect(header).toMatchObject({ journal: positionOf(8), prev: null, epoch: 1 });
    expect(event).toMatchObject({ sha256, rawBytes: header.raw });
    expect(picture.agents).toMatchObject({
      atlas: { status: "active" },
      mercury_1: { status: "completed", confidence: 0.87 },
    });
    expect(manager.counts).toEqual({ written: 1, skipped: 0, coalesced: 0, failed: 0 });
    expect(written[0]?.sizeBytes).toBe((await room.task.list("checkpoint_"))[0]?.sizeBytes);
  });

  it("[reliability 5] captures a large state seldom, however many checkpoints come while a file is written", async () => {
    const ground = await createGround();
    const { captures, letGo } = await holdLarge(ground);
    for (let index = 0; index < 1_000; index += 1) ground.fire();
    expect(captures()).toBeLessThan(8);
    letGo();
    await ground.manager.idle();
  });

  it("[reliability 5 kin] writes a large state again when its history has grown by half of it", async () => {
    const ground = await createGround();
    const { letGo } = await holdLarge(ground);
    letGo();
    await ground.manager.idle();
    expect(ground.manager.counts).toMatchObject({ written: 1, skipped: 0 });
    while (ground.manager.counts.written < 2 && ground.state.checkpoints.length < 2_000) {
      ground.fire();
      await ground.manager.idle();
    }
    const { length } = ground.state.checkpoints;
    expect(ground.manager.counts).toEqual({ written: 2, skipped: length - 2, coalesced: 0, failed: 0 });
    expect(length).toBeGreaterThan(400);
    expect(length).toBeLessThan(1_200);
  });

  it("[reliability 5 kin] keeps a required checkpoint of a large state, and what waits for it", async () => {
    const ground = await createGround();
    const { letGo } = await holdLarge(ground);
    ground.fire();
    const { required, written } = ground.fire("user_requested");
    letGo();
    await written;
    await ground.manager.idle();
    expect(required).toBe(true);
    expect(ground.events).toContainEqual(expect.objectContaining({ type: "snapshot_written", seq: 3 }));
  });

  it("[reliability 5 kin] tries at once after a failure, however large the state is", async () => {
    const ground = await createGround();
    const { letGo } = await holdLarge(ground);
    ground.room.journal.confirm = () => Promise.reject(new Error("no disk"));
    letGo();
    await ground.manager.idle();
    await expect(ground.fire().written).rejects.toMatchObject({ code: "CHECKPOINT_FAILED" });
  });

  it("C2: waits for the journal and takes the position from it", async () => {
    const ground = await createGround();
    let letGo = (): void => undefined;
    ground.room.journal.durable = () => new Promise<void>((resolve) => (letGo = resolve));
    const { written } = ground.fire();
    await flushReactions();
    expect(await ground.files()).toEqual([]);
    letGo();
    await written;
    expect(await ground.files()).toHaveLength(1);
  });

  it("C2: writes nothing when the position is unknown", async () => {
    const ground = await createGround();
    ground.room.journal.unknown = true;
    await expect(ground.fire().written).rejects.toMatchObject({ code: "CHECKPOINT_FAILED" });
    expect(await ground.files()).toEqual([]);
  });

  it("C6: keeps the moment of the capture, whatever happens while it is written", async () => {
    const { room, state, fire, files } = await createGround();
    addSteps(state, 2);
    const { written } = fire();
    addSteps(state, 5);
    state.totals = { ...state.totals, calls: 99 };
    await written;
    const { picture } = await room.source().loadPicture((await files())[0] ?? "");
    expect(Object.keys(picture.agents)).toEqual(["atlas", "mercury_1", "mercury_2"]);
    expect(picture.metrics.api_calls).toBe(0);
  });

  it("chains each file to the one before", async () => {
    const { room, events, fire } = await createGround();
    await fire().written;
    await fire().written;
    const [first, second] = events;
    if (first?.type !== "snapshot_written" || second?.type !== "snapshot_written") throw new Error("not written");
    const { header } = await room.source().loadPicture(second.file);
    expect(header.prev).toEqual({ checkpoint_id: first.checkpointId, sha256: first.sha256 });
  });

  it("goes on with chain and budget of an earlier process", async () => {
    const first = await createGround();
    await first.fire().written;
    const later: SnapshotEvent[] = [];
    const manager = createCheckpointManager({
      writer: first.room.writer,
      journal: first.room.journal,
      log: first.room.log,
      isEnabled: true,
      onEvent: async (event) => void later.push(event),
    });
    await manager.captured(first.state, recordCheckpoint(first.state)).written;
    const [event] = later;
    if (event?.type !== "snapshot_written") throw new Error("not written");
    const { header } = await first.room.source().loadPicture(event.file);
    expect(header.prev?.checkpoint_id).toBe(first.state.checkpoints[0]?.checkpointId);
  });

  it("has at most one in flight; an optional request that waits gives way to a newer one", async () => {
    const { manager, events, fire } = await createGround();
    const all = [fire(), fire(), fire(), fire()];
    await Promise.all(all.map(({ written }) => written));
    expect(events.map(({ type, ...event }) => [type, "seq" in event ? event.seq : 0])).toEqual([
      ["snapshot_written", 1],
      ["snapshot_written", 4],
    ]);
    expect(manager.counts).toMatchObject({ written: 2, coalesced: 2 });
  });

  it("tells whoever gave way when the newer file failed", async () => {
    const { room, fire } = await createGround();
    room.journal.failure = new Error("the disk is gone");
    const all = [fire(), fire(), fire(), fire()];
    const ends = await Promise.allSettled(all.map(({ written }) => written));
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  });

  it("writes every required one, in order", async () => {
    const { events, fire } = await createGround();
    const all = [fire(), fire("user_requested"), fire(), fire("before_risky_operation"), fire("shutdown")];
    expect(all.map(({ required }) => required)).toEqual([false, true, false, true, true]);
    await Promise.all(all.map(({ written }) => written));
    expect(events.map((event) => ("seq" in event ? event.seq : 0))).toEqual([1, 2, 4, 5]);
  });

  it("skips files over the budget, but writes what is required", async () => {
    const { manager, state, written, fire } = await createGround();
    addSteps(state, 400, 2000);
    for (let count = 0; count < 12; count += 1) await fire().written;
    const bytes = written.reduce((sum, file) => sum + file.sizeBytes, 0);
    expect(bytes).toBeLessThan(1_048_576);
    expect(manager.counts.skipped).toBeGreaterThan(5);
    const before = manager.counts.written;
    const asked = fire("user_requested");
    expect(asked.required).toBe(true);
    await asked.written;
    expect(manager.counts.written).toBe(before + 1);
  });

  it("writes again when the journal has grown", async () => {
    const { room, manager, state, fire } = await createGround();
    addSteps(state, 400, 2000);
    for (let count = 0; count < 12; count += 1) await fire().written;
    const before = manager.counts.written;
    room.journal.bytes = 1_000_000;
    await fire().written;
    expect(manager.counts.written).toBe(before + 1);
  });

  it("writes nothing when checkpoints are switched off", async () => {
    const { manager, fire, files } = await createGround({ isEnabled: false });
    await fire().written;
    const asked = fire("user_requested");
    expect(asked.required).toBe(false);
    await asked.written;
    expect(await files()).toEqual([]);
    expect(manager.counts.skipped).toBe(2);
  });

  it("records a failure, says it aloud, and rejects", async () => {
    const ground = await createGround();
    ground.room.journal.failure = Object.assign(new Error("no space"), { code: "STORE_FULL" });
    await expect(ground.fire("user_requested").written).rejects.toMatchObject({
      code: "CHECKPOINT_FAILED",
      details: { cause: "STORE_FULL", inARow: 1 },
    });
    await expect(ground.fire().written).rejects.toMatchObject({ details: { inARow: 2 } });
    expect(ground.events.map(({ type }) => type)).toEqual(["snapshot_failed", "snapshot_failed"]);
    expect(ground.room.lines[0]).toContain("was not saved: no space");
    ground.room.journal.failure = undefined;
    await ground.fire().written;
    ground.room.journal.failure = new Error("again");
    await expect(ground.fire().written).rejects.toMatchObject({ details: { inARow: 1 } });
  });

  it("tries after a failure even over the budget, so that the second in a row is seen", async () => {
    const { room, manager, state, fire } = await createGround();
    addSteps(state, 400, 2000);
    for (let count = 0; count < 12; count += 1) await fire().written;
    room.journal.failure = new Error("broken");
    await expect(fire("user_requested").written).rejects.toThrow("broken");
    await expect(fire().written).rejects.toMatchObject({ details: { inARow: 2 } });
    expect(manager.counts.failed).toBe(2);
  });

  it("passes on that another process owns the task, and records nothing", async () => {
    const ground = await createGround();
    const { SplashdownError } = await import("../../../src/base/errors.js");
    ground.room.journal.failure = new SplashdownError("OWNER_SUPERSEDED", "superseded");
    await expect(ground.fire().written).rejects.toMatchObject({ code: "OWNER_SUPERSEDED" });
    expect(ground.events).toEqual([]);
  });

  it("never replaces a file", async () => {
    const ground = await createGround();
    const file = "checkpoint_phase1_20240102T143523123Z_00000001.json";
    await ground.room.task.putOnce(file, Buffer.from("there"));
    await expect(ground.fire().written).rejects.toMatchObject({ code: "CHECKPOINT_FAILED" });
    expect(Buffer.from((await ground.room.task.get(file)) ?? []).toString()).toBe("there");
  });

  it("[reliability 10 kin] names the largest paths of a large file, once and at every doubling, and in one form", async () => {
    const ground = await createGround();
    const told = (): string[] => ground.room.lines.filter((line) => line.includes("checkpoint_large"));
    ground.room.journal.bytes = 100_000_000;
    addSteps(ground.state, 1, 400_000);
    addSteps(ground.state, 10, 60_000);
    await ground.fire().written;
    await ground.fire().written;
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatch(
      /checkpoint_large: checkpoint_phase1_\S+ has [5-9]\d{2} KB; largest: steps\.research\/step1@1\.1\.output/,
    );
    addSteps(ground.state, 40, 60_000);
    await ground.fire().written;
    expect(told()).toHaveLength(2);
  });

  it("removes old files after a save, and is idle when that is done", async () => {
    const room = await createCheckpointRoom();
    const state = createTaskState();
    const events: SnapshotEvent[] = [];
    const onEvent = async (event: SnapshotEvent): Promise<void> => void events.push(event);
    const retention = new SnapshotRetention({
      store: room.task,
      journal: room.journal,
      log: room.log,
      rules: { perPhaseMax: 3, perTaskMax: 10 },
      verify: () => Promise.resolve(true),
      onPruned: onEvent,
      nowMs: () => room.clock.nowMs(),
    });
    const manager = createCheckpointManager({
      writer: room.writer,
      journal: room.journal,
      log: room.log,
      isEnabled: true,
      onEvent,
      retention,
    });
    for (let count = 0; count < 6; count += 1) await manager.captured(state, recordCheckpoint(state)).written;
    await manager.idle();
    expect((await room.task.list("checkpoint_")).map(({ key }) => key.slice(-13, -5))).toEqual([
      "00000004",
      "00000005",
      "00000006",
    ]);
    expect(events.filter(({ type }) => type === "pruned")).toHaveLength(3);
    await room.task.putOnce(
      formatSnapshotName({ phase: 1, atMs: state.checkpoints[0]?.atMs ?? 0, seq: 1 }),
      Buffer.from("x"),
    );
    manager.retain(state);
    expect(events.filter(({ type }) => type === "pruned")).toHaveLength(3);
    await manager.idle();
    expect(events.filter(({ type }) => type === "pruned")).toHaveLength(4);
  });
});
