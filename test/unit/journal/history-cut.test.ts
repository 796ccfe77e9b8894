/** `prune --history`: segments before a record are removed, by a record that says so. */
import { describe, expect, it } from "vitest";
import type { EngineEvent } from "../../../src/engine/model/events.js";
import { FAKE_START_MS } from "../../support/fake-clock.js";
import { createJournalRoom, notedEvent, textsOf, type JournalRoom } from "../../support/journal-room.js";

/** Three owners, three segments: records 1–2, 3–4, and from 5 on, the last with what was said of the cut. */
async function threeSegments(before?: number, ...later: readonly EngineEvent[]): Promise<JournalRoom> {
  const room = await createJournalRoom();
  let writer = await room.take();
  for (let n = 1; n <= 6; n += 1) {
    if (n === 3 || n === 5) writer = await room.take(writer.position);
    writer.append([notedEvent(n)]);
    await writer.durable();
  }
  if (before !== undefined) {
    writer.append([{ type: "pruned", atMs: FAKE_START_MS, files: [], reason: "test", history: { before } }]);
    writer.append(later);
    await writer.durable();
  }
  return room;
}

describe("a history that was shortened", () => {
  it("is whole from the record that was said on, without damage and without loss", async () => {
    const room = await threeSegments(3);
    await room.task.removeSegment({ epoch: 1, index: 0 });
    const history = await room.read();
    expect(textsOf(history)).toEqual(["note 3", "note 4", "note 5", "note 6", "pruned"]);
    expect(history).toMatchObject({ prunedBefore: 3, damage: [] });
    expect(history.head?.n).toBe(7);
  });

  it("is whole too where snapshot files alone were removed since", async () => {
    const files = ["checkpoint_phase1_20260101T000000.000_00000001.json"];
    const room = await threeSegments(3, { type: "pruned", atMs: FAKE_START_MS, files, reason: "too many" });
    await room.task.removeSegment({ epoch: 1, index: 0 });
    expect(await room.read()).toMatchObject({ prunedBefore: 3, damage: [], lost: [{ from: 1, to: 2 }] });
  });

  it("names the damage where the same segment is missing and nothing said so", async () => {
    const room = await threeSegments();
    await room.task.removeSegment({ epoch: 1, index: 0 });
    const history = await room.read();
    expect(history.prunedBefore).toBe(1);
    expect(history.damage).toEqual([{ segment: "00000001-0000", what: "missing" }]);
    expect(history.lost).toEqual([{ from: 1, to: 2 }]);
  });

  it("names the damage where more is missing than was said", async () => {
    const room = await threeSegments(3);
    await room.task.removeSegment({ epoch: 1, index: 0 });
    await room.task.removeSegment({ epoch: 2, index: 0 });
    const history = await room.read();
    expect(history.damage).toEqual([{ segment: "00000002-0000", what: "missing" }]);
  });

  it("is not shortened yet where the record is there and the segment too: a kill before the removal", async () => {
    const history = await (await threeSegments(3)).read();
    expect(history).toMatchObject({ prunedBefore: 1, damage: [], lost: [] });
    expect(textsOf(history)).toHaveLength(7);
  });
});
