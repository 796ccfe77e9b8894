import { describe, expect, it } from "vitest";
import { capture } from "../../../src/checkpoint/format/capture.js";
import {
  createTimeSlicer,
  eachPiece,
  PIECE_BYTES,
  WITHOUT_PAUSES,
} from "../../../src/checkpoint/format/time-slicer.js";
import { computeLevel } from "../../../src/checkpoint/format/sealed-payload.js";
import { writeSnapshot, type WrittenSnapshot } from "../../../src/checkpoint/format/writer.js";
import type { TaskState } from "../../../src/engine/model/state.js";
import {
  addSteps,
  createCheckpointRoom,
  createTaskState,
  positionOf,
  recordCheckpoint,
  takeCheckpoint,
} from "../../support/checkpoint-room.js";
import { bestMsOf, measureSlowness } from "../../support/machine-speed.js";
import { realClock } from "../../support/real-clock.js";

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function snapshot(state: TaskState): Promise<WrittenSnapshot> {
  const room = await createCheckpointRoom();
  const taken = takeCheckpoint(state);
  // Memory is no disk: storing is what the disk's own tests measure.
  const store = Object.assign(Object.create(room.task) as typeof room.task, {
    putOnce: async () => "created" as const,
  });
  const options = { ...room.writer, store, clock: realClock, breathe };
  const written = await writeSnapshot(taken, { position: positionOf(taken.position), prev: undefined }, options);
  if (written === undefined) throw new Error("not written");
  return written;
}

/** The one with the least work of some tries: another process on the machine can delay any, our own work delays each. */
async function quickest(tries: number, workMsMax: number, state: TaskState): Promise<WrittenSnapshot> {
  let best = await snapshot(state);
  for (let count = 1; count < tries && best.workMs >= workMsMax; count += 1) {
    const next = await snapshot(state);
    if (next.workMs < best.workMs) best = next;
  }
  return best;
}

/** How much longer than itself a slice of pure computing takes at worst, within about this time. */
async function measureDisturbance(durationMs: number): Promise<number> {
  let worstMs = 0;
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    while (performance.now() - startMs < 2);
    worstMs = Math.max(worstMs, performance.now() - startMs - 2);
    await breathe();
  }
  return worstMs;
}

describe("a pace", () => {
  it("is due after the slice and counts work without waiting", async () => {
    let nowMs = 0;
    let breaths = 0;
    const pace = createTimeSlicer({ monotonicMs: () => nowMs }, async () => {
      breaths += 1;
      await Promise.resolve();
      nowMs += 100;
    });
    nowMs += 1.9;
    expect(pace.isDue).toBe(false);
    nowMs += 0.1;
    expect(pace.isDue).toBe(true);
    await pace.rest();
    expect(pace.isDue).toBe(false);
    nowMs += 1;
    await pace.wait(Promise.resolve().then(() => (nowMs += 50)));
    expect(breaths).toBe(1);
    expect(pace.figures).toEqual({ workMs: 3, longestSliceMs: 2 });
  });

  it("C6: hands out pieces of bounded size and rests between them", async () => {
    let nowMs = 0;
    const sizes: number[] = [];
    let breaths = 0;
    const pace = createTimeSlicer({ monotonicMs: () => (nowMs += 1) }, async () => void (breaths += 1));
    await eachPiece(new Uint8Array(PIECE_BYTES * 5 + 7), pace, (piece) => void sizes.push(piece.length));
    expect(sizes).toEqual([PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 7]);
    expect(breaths).toBeGreaterThanOrEqual(2);
    expect(WITHOUT_PAUSES.isDue).toBe(false);
  });

  it("chooses the level of compression by size unless one is set", () => {
    expect([1000, 1_000_000, 10_000_000].map((bytes) => computeLevel(undefined, bytes))).toEqual([6, 3, 1]);
    expect(computeLevel(6, 10_000_000)).toBe(6);
    expect(computeLevel(0, 10)).toBe(0);
  });
});

describe("a snapshot's work", () => {
  // Measured 3 ms on a quiet machine; work that is not cut into pieces costs 20 ms and more here. What other processes
  // do to a slice of 2 ms meanwhile is measured, and twice that allowed for.
  it("C6: takes no slice over 5 ms of the loop for a state of 20 MB", async () => {
    const state = createTaskState();
    addSteps(state, 2000, 10_000);
    const excesses: number[] = [];
    const sliceMsMax = 5 * measureSlowness();
    for (let count = 0; count < 20 && Math.min(...excesses, Infinity) > 0; count += 1) {
      const written = await snapshot(state);
      expect(written.rawBytes).toBeGreaterThan(20_000_000);
      excesses.push(written.longestSliceMs - sliceMsMax - 2 * (await measureDisturbance(written.durationMs)));
    }
    expect(Math.min(...excesses)).toBeLessThanOrEqual(0);
  });

  it("C6: captures ten thousand steps in under 5 ms", () => {
    const state = createTaskState();
    addSteps(state, 10_000);
    const event = recordCheckpoint(state);
    expect(bestMsOf(10, () => capture(state, event))).toBeLessThan(5 * measureSlowness());
  });

  it("stays under 50 ms and half a byte per byte at a thousand steps", async () => {
    const state = createTaskState();
    addSteps(state, 1000, 1000);
    const workMsMax = 50 * measureSlowness();
    const written = await quickest(20, workMsMax, state);
    expect(written.workMs).toBeLessThan(workMsMax);
    expect(written.sizeBytes / written.rawBytes).toBeLessThan(0.5);
  });

  it("is under 100 KB for a task of ten agents", async () => {
    const state = createTaskState();
    addSteps(state, 10, 5000);
    expect((await snapshot(state)).sizeBytes).toBeLessThan(100_000);
  });
});
