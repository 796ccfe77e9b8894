import { describe, expect, it } from "vitest";
import { readHistory } from "../../../src/journal/history.js";
import { openJournalWriter } from "../../../src/journal/writer.js";
import {
  createJournalRoom,
  createSegmentsTask,
  createTestVault,
  notedEvent,
  textsOf,
  type JournalRoom,
} from "../../support/journal-room.js";

const texts = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `note ${from + at}`);

interface Scene {
  readonly room: JournalRoom;
  readonly first: Buffer;
  readonly second: Buffer;
}

/** Two batches by the first owner (1–2, 3–5); the heir repeats the second one and adds 6. */
async function createScene(): Promise<Scene> {
  const room = await createJournalRoom();
  const first = await room.take();
  for (const batch of [
    [1, 2],
    [3, 4, 5],
  ]) {
    first.append(batch.map((n) => notedEvent(n)));
    await first.durable();
  }
  await first.close();
  const history = await room.read();
  const heir = await room.take(history.head, { repeated: history.lastBatch() });
  heir.append([notedEvent(6)]);
  await heir.close();
  return { room, first: await room.bytes(), second: await room.bytes({ epoch: 2, index: 0 }) };
}

function readBytes({ room }: Scene, first: Uint8Array, second: Uint8Array) {
  const task = createSegmentsTask(
    new Map([
      ["1-0", first],
      ["2-0", second],
    ]),
  );
  return readHistory({ task, vault: room.vault });
}

/** The first lines of a segment, each with its newline. */
function linesOf(bytes: Buffer, count: number): Buffer {
  let end = 0;
  for (let line = 0; line < count; line += 1) end = bytes.indexOf(10, end) + 1;
  return bytes.subarray(0, end);
}

describe("the last batch of the writer before", () => {
  it("J13: is what was written since the last sync that is known to have been", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    expect((await room.read()).lastBatch()).toEqual([]);
    writer.append([notedEvent(1), notedEvent(2)]);
    await writer.durable();
    expect((await room.read()).lastBatch()).toEqual([notedEvent(1), notedEvent(2)]);
    writer.append([notedEvent(3)]);
    await writer.durable();
    expect((await room.read()).lastBatch()).toEqual([notedEvent(3)]);
  });

  it("J13: is what can be read of it where a record in it is lost", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    for (const batch of [[1], [2, 3, 4, 5], [6]]) {
      writer.append(batch.map((n) => notedEvent(n)));
      await writer.durable();
    }
    const bytes = await room.bytes();
    const start = linesOf(bytes, 3).length;
    // The last record is gone with its line, so that the batch of four is the last one; its second record is damaged.
    const cut = Buffer.from(linesOf(bytes, 6));
    cut[start + 40] = (cut[start + 40] ?? 0) ^ 1;
    const history = await readHistory({ task: createSegmentsTask(new Map([["1-0", cut]])), vault: room.vault });
    expect(textsOf(history)).toEqual(["note 1", "note 2", "note 4", "note 5"]);
    expect(history.lastBatch()).toEqual([notedEvent(4), notedEvent(5)]);
  });

  it("J13: stands once more at the beginning of the heir's segment, and counts once", async () => {
    const scene = await createScene();
    expect(scene.second.toString("utf8")).toContain('"repeats":3');
    const history = await scene.room.read();
    expect(textsOf(history)).toEqual(texts(1, 6));
    expect(history.records.map(({ position }) => position.epoch)).toEqual([1, 1, 1, 1, 1, 2]);
    expect(history.links.map(({ firstN, lastN }) => [firstN, lastN])).toEqual([
      [1, 5],
      [6, 6],
    ]);
  });

  it("J5: came with the header in one write, which may be torn in any way without being damage", async () => {
    const scene = await createScene();
    const opening = linesOf(scene.second, 4);
    for (const from of [0, 10, 64, 200, opening.indexOf(10) - 5]) {
      const torn = Buffer.from(opening).fill(0, from, from + 64);
      const history = await readBytes(scene, scene.first, torn);
      expect(textsOf(history)).toEqual(texts(1, 5));
      expect([history.lost, history.damage, history.epoch]).toEqual([[], [], 1]);
      // An own record after it was written when the header was durable.
      const rotten = Buffer.concat([torn, scene.second.subarray(opening.length)]);
      const later = await readBytes(scene, scene.first, rotten);
      expect([...later.lost, ...later.damage].length, `NULs from ${from}`).toBeGreaterThan(0);
    }
  });

  it("J13: is taken from the heir when the power cut took it from the segment before", async () => {
    const scene = await createScene();
    const sound = linesOf(scene.first, 3);
    const lostTail = scene.first.subarray(sound.length);
    for (const first of [sound, Buffer.concat([sound, Buffer.alloc(lostTail.length)]), scene.first.subarray(0, -40)]) {
      const history = await readBytes(scene, first, scene.second);
      expect(textsOf(history)).toEqual(texts(1, 6));
      expect([history.lost, history.damage]).toEqual([[], []]);
    }
  });

  it("J13: makes the epoch only claimed when it is not all there and nothing follows", async () => {
    const scene = await createScene();
    const whole = linesOf(scene.second, 4).length;
    for (let size = linesOf(scene.second, 1).length; size < whole - 1; size += 7) {
      const history = await readBytes(scene, scene.first, scene.second.subarray(0, size));
      expect(textsOf(history)).toEqual(texts(1, 5));
      expect([history.epoch, history.claimedEpoch, history.lost, history.damage]).toEqual([1, 2, [], []]);
    }
  });

  it("J13: is damage when it is not all there and the heir built upon it", async () => {
    const scene = await createScene();
    const bytes = Buffer.from(scene.second);
    const start = linesOf(scene.second, 2).length;
    bytes.fill(0, start, start + 20);
    const history = await readBytes(scene, scene.first, bytes);
    expect(textsOf(history)).toEqual(texts(1, 6));
    expect(history.damage.map(({ segment }) => segment)).toContain("00000002-0000");
    expect(history.lost).toEqual([]);
  });

  it("J13: is repeated again by a heir that had to open a second segment before anything of its own was durable", async () => {
    const scene = await createScene();
    const { room } = scene;
    const history = await room.read();
    const writer = await openJournalWriter({
      task: room.task,
      vault: createTestVault("third"),
      epoch: await room.task.claim(),
      prev: history.head,
      repeated: history.lastBatch(),
      clock: room.clock,
      segmentBytesMax: 1,
    });
    for (const n of [7, 8]) {
      writer.append([notedEvent(n)]);
      await writer.durable();
    }
    await writer.close();
    expect((await room.bytes({ epoch: 3, index: 0 })).toString("utf8")).toContain('"repeats":1');
    expect(textsOf(await room.read())).toEqual(texts(1, 8));
    // Later segments rest on what this writer saw synced.
    const last = (await room.task.segments()).at(-1);
    expect((await room.bytes(last)).toString("utf8")).toContain('"repeats":0');
  });
});
