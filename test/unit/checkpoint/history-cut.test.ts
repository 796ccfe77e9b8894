import { describe, expect, it } from "vitest";
import type { StepId } from "../../../src/base/ids.js";
import type { JsonValue } from "../../../src/base/json.js";
import { findUnreachable, NamedBlobs, planHistoryCut, type CutQuestion } from "../../../src/checkpoint/history-cut.js";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { createState, type CheckpointEntry } from "../../../src/engine/model/state.js";
import type { HistoryRecord } from "../../../src/journal/segment-records.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import { uuidOf } from "../../support/checkpoint-room.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";

/** Four epochs of ten records each, one segment to an epoch. */
const SEGMENTS = [1, 2, 3, 4].map((epoch) => ({
  id: { epoch, index: 0 },
  firstN: 10 * epoch - 9,
  lastN: 10 * epoch,
  sizeBytes: 100,
}));

function at(n: number): JournalPosition {
  return { n, epoch: Math.ceil(n / 10), index: 0, h: `hash of ${n}` };
}

function checkpointAt(position: number): CheckpointEntry {
  return {
    checkpointId: uuidOf(position),
    seq: position,
    phase: 1,
    trigger: "interval",
    status: "in_progress",
    atMs: FAKE_START_MS + position,
    position,
  };
}

function ask(files: readonly number[], change: Partial<CutQuestion> = {}): CutQuestion {
  return {
    history: { covers: () => true, lost: [], prunedBefore: 1, links: SEGMENTS },
    checkpoints: [5, 15, 25, 35].map(checkpointAt),
    kept: files.map((n) => ({ position: at(n) })),
    pinned: [],
    previousEpoch: 4,
    ...change,
  };
}

describe("the cut of prune --history", () => {
  it("C10: takes the segments before the oldest verified file that stays, and names what no way leads to any more", () => {
    const cut = planHistoryCut(ask([35, 25]));
    expect(cut.before).toBe(21);
    expect(cut.segments.map(({ id }) => id.epoch)).toEqual([1, 2]);
    expect(cut.unreachable.map(({ seq }) => seq)).toEqual([5, 15]);
    expect(cut.why).toBeUndefined();
  });

  it("C10: never takes one of the last two epochs, whatever the files say", () => {
    expect(planHistoryCut(ask([35, 38], { previousEpoch: 2 })).segments.map(({ id }) => id.epoch)).toEqual([1]);
    expect(planHistoryCut(ask([35, 38], { previousEpoch: 1 }))).toEqual({
      before: 1,
      segments: [],
      unreachable: [],
      why: "no segment lies before the oldest file that stays, but for the last two epochs",
    });
    expect(planHistoryCut(ask([5, 38])).why).toContain("no segment lies before the oldest file that stays");
  });

  it("C5: takes nothing where fewer than two verified files stay, those off the history not counted", () => {
    const why = "fewer than 2 verified files stay, so the journal is needed";
    expect(planHistoryCut(ask([])).why).toBe(why);
    expect(planHistoryCut(ask([35])).why).toBe(why);
    const { history } = ask([]);
    expect(planHistoryCut(ask([35, 25], { history: { ...history, covers: ({ n }) => n === 35 } })).why).toBe(why);
  });

  it("takes nothing of a damaged journal; what an earlier cut took is no damage", () => {
    const lost = (from: number, to: number | undefined, prunedBefore = 1) =>
      planHistoryCut(ask([35, 25], { history: { ...ask([]).history, lost: [{ from, to }], prunedBefore } }));
    expect(lost(3, 4).why).toBe("the journal is damaged, so nothing of it is removed");
    expect(lost(39, undefined).why).toBe("the journal is damaged, so nothing of it is removed");
    expect(lost(1, 4, 5).before).toBe(21);
    expect(lost(1, 5, 5).why).toBe("the journal is damaged, so nothing of it is removed");
  });

  it("takes nothing that a pinned checkpoint without a file needs", () => {
    expect(planHistoryCut(ask([35, 25], { pinned: [checkpointAt(15)] })).why).toBe(
      "checkpoint 15 is pinned and has no file that stays, so it needs the journal",
    );
    expect(planHistoryCut(ask([35, 25], { pinned: [checkpointAt(30)] })).before).toBe(21);
  });
});

describe("checkpoints behind a cut", () => {
  const checkpoints = [5, 15, 25, 35].map(checkpointAt);

  it("are reached from the first file that the journal goes on from, and from nowhere when none is left", () => {
    expect(findUnreachable({ checkpoints, before: 1, files: [] })).toEqual([]);
    const seqs = (files: number[]) => findUnreachable({ checkpoints, before: 21, files }).map(({ seq }) => seq);
    expect(seqs([25])).toEqual([5, 15]);
    expect(seqs([20, 25])).toEqual([5, 15]);
    expect(seqs([15, 35])).toEqual([5, 15, 25]);
    expect(seqs([])).toEqual([5, 15, 25, 35]);
  });
});

describe("blobs that something names", () => {
  const key = (letter: string) => `blobs/${letter.repeat(2)}/${letter.repeat(52)}.bin`;
  const ref = (letter: string) => ({ key: key(letter), sizeBytes: 300_000, digest: "d" });
  const record = (event: EngineEvent): HistoryRecord => ({
    n: 1,
    position: at(1),
    kind: event.type,
    line: 2,
    isBatchStart: true,
    decode: () => event,
  });

  it("are those of every record, of the state, and of a state that a record carries in a blob of its own", async () => {
    const named = new NamedBlobs();
    const refuse = () => Promise.reject(new Error("nothing is to be loaded here"));
    const output = { blob: ref("a") };
    const step = "main/one@1.1" as StepId;
    await named.addRecord(record({ type: "step_completed", atMs: 1, step, attempt: 1, output, durationMs: 1 }), refuse);
    expect([...named.keys]).toEqual([key("a")]);

    const state = createState();
    state.channel.set("large", { blob: ref("b") });
    named.addState(state);
    expect([...named.keys]).toEqual([key("a"), key("b")]);

    const inner: JsonValue = { channel: [["old", { blob: { ...ref("d") } }]] };
    const carrying = record({
      type: "rolled_back",
      atMs: 1,
      to: uuidOf(1),
      seq: 1,
      round: 2,
      reason: "test",
      state: { blob: ref("c") },
    });
    const loaded: string[] = [];
    await named.addRecord(carrying, (asked) => {
      loaded.push(asked.key);
      return Promise.resolve(inner);
    });
    expect(loaded).toEqual([key("c")]);
    expect([...named.keys].sort()).toEqual(["a", "b", "c", "d"].map(key));
  });
});
