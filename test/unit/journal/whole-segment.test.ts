import { describe, expect, it } from "vitest";
import { SplashdownError } from "../../../src/base/errors.js";
import { readHistory, type History } from "../../../src/journal/history.js";
import { readJournalEnd } from "../../../src/journal/journal-end.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import { openWholeSegment } from "../../../src/journal/whole-segment.js";
import { createSeededRandom } from "../../support/seeded-random.js";
import {
  createJournalRoom,
  createOtherKeyVault,
  createSegmentsTask,
  createTestVault,
  notedEvent,
  textsOf,
  type JournalRoom,
} from "../../support/journal-room.js";

const OLD = ["note 1", "note 2", "note 3", "note 4", "note 5"];
const NEW = ["note 1", "note 2", "NOTE 3", "note 4", "note 5", "sealed again"];

interface Scene {
  readonly room: JournalRoom;
  readonly old: ReadonlyMap<string, Uint8Array>;
  readonly whole: Buffer;
  /** Of the third record, before and after. */
  readonly before: JournalPosition;
  readonly after: JournalPosition;
}

/** Two owners wrote 1–3 and 4–5; a third writes all of it once more, the third record changed. */
async function createScene(): Promise<Scene> {
  const room = await createJournalRoom();
  const first = await room.take();
  first.append([notedEvent(1), notedEvent(2), notedEvent(3)]);
  await first.close();
  const second = await room.take((await room.read()).head);
  second.append([notedEvent(4), notedEvent(5)]);
  await second.close();
  const history = await room.read();
  const before = history.record(3)?.position;
  const { head } = history;
  if (head === undefined || before === undefined) throw new Error("nothing was written");
  const old = new Map<string, Uint8Array>();
  for (const id of await room.task.segments()) old.set(`${id.epoch}-${id.index}`, await room.task.read(id));
  const { task, vault, clock } = room;
  const whole = await openWholeSegment({ task, vault, epoch: await task.claim(), prev: head, firstN: 1, clock });
  const positions: JournalPosition[] = [];
  for (const n of [1, 2, 3, 4, 5]) positions.push(await whole.add(notedEvent(n, n === 3 ? "NOTE 3" : `note ${n}`)));
  await whole.conclude(notedEvent(6, "sealed again"));
  await whole.close();
  const after = positions[2];
  if (after === undefined) throw new Error("nothing was written once more");
  return { room, old, whole: await room.bytes({ epoch: 3, index: 0 }), before, after };
}

const readOf = (segments: Iterable<readonly [string, Uint8Array]>): Promise<History> =>
  readHistory({ task: createSegmentsTask(new Map(segments)), vault: createTestVault("reading") });

describe("a whole segment", () => {
  it("J14: stands for the whole history, and what it replaces is neither a part of it nor an orphan", async () => {
    const { room, before, after } = await createScene();
    const history = await room.read();
    expect(textsOf(history)).toEqual(NEW);
    expect(history.links).toHaveLength(1);
    expect({ ...history.report(), journal_bytes: 0 }).toMatchObject({ records: 6, orphans: 0, damage: [], lost: [] });
    expect(history.covers(after)).toBe(true);
    expect(history.covers(before)).toBe(false);
    expect(history.record(3)?.position).toEqual(after);
    expect(history.lastBatch()).toEqual([notedEvent(6, "sealed again")]);
    const end = await readJournalEnd({ task: room.task, vault: room.vault, isEnough: () => false });
    expect(end.records.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("J14: counts only when all of it is there: cut anywhere, the history is the one before", async () => {
    const { old, whole } = await createScene();
    for (let length = 0; length < whole.length - 1; length += 5) {
      const history = await readOf([...old, ["3-0", whole.subarray(0, length)]]);
      expect(textsOf(history), `cut after ${length} bytes`).toEqual(OLD);
      expect(history.damage).toEqual([]);
    }
    const zeroed = Buffer.from(whole).fill(0, whole.length - 40);
    expect(textsOf(await readOf([...old, ["3-0", zeroed]]))).toEqual(OLD);
    expect(textsOf(await readOf([...old, ["3-0", whole]]))).toEqual(NEW);
  });

  it("J14: with nothing below it, what is cut off is a loss that is told, never an empty task", async () => {
    const { whole } = await createScene();
    const firstRecord = whole.indexOf(10) + 1;
    for (let length = firstRecord; length < whole.length - 1; length += 31) {
      const history = await readOf([["3-0", whole.subarray(0, length)]]);
      const texts = textsOf(history);
      expect(texts).toEqual(NEW.slice(0, texts.length));
      if (texts.length < 5) expect(history.lost).toEqual([{ from: texts.length + 1, to: 5 }]);
    }
  });

  it("J14: goes on like any other: the next owner continues it, whatever is left of the segments below", async () => {
    const { room, old } = await createScene();
    const history = await room.read();
    const heir = await room.take(history.head, { repeated: history.lastBatch() });
    heir.append([notedEvent(7)]);
    await heir.close();
    const own = await room.bytes({ epoch: 4, index: 0 });
    const whole = await room.bytes({ epoch: 3, index: 0 });
    const all = [...old, ["3-0", whole], ["4-0", own]] as const;
    for (let removed = 0; removed <= old.size; removed += 1) {
      const read = await readOf(all.slice(removed));
      expect(textsOf(read)).toEqual([...NEW, "note 7"]);
      expect([read.damage, read.lost, read.orphans]).toEqual([[], [], []]);
    }
    const cut = whole.subarray(0, whole.length - 30);
    const damaged = await readOf([
      ["3-0", cut],
      ["4-0", own],
    ]);
    // The heir repeats the last batch (J13), so that nothing is lost even so.
    expect(textsOf(damaged)).toEqual([...NEW, "note 7"]);
  });

  it("J14: every flipped bit of one is a typed error, a named loss, or the same records", async () => {
    const { whole } = await createScene();
    let harmless = 0;
    for (let bit = 0; bit < whole.length * 8; bit += 23) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        const history = await readOf([["3-0", flipped]]);
        const texts = textsOf(history);
        const isTold = history.damage.length > 0 || history.lost.length > 0;
        expect(texts.every((text) => NEW.includes(text))).toBe(true);
        // The record that puts it in force may vanish as a torn write does; all that it stands for is there.
        expect(isTold || texts.length >= 5, `bit ${bit}`).toBe(true);
        harmless += isTold ? 0 : 1;
      } catch (error) {
        expect(error).toBeInstanceOf(SplashdownError);
      }
    }
    expect(harmless).toBeLessThan(whole.length / 2);
  });

  it("may begin later, where the history was shortened", async () => {
    const { room } = await createScene();
    const { head } = await room.read();
    if (head === undefined) throw new Error("nothing was written");
    const epoch = await room.task.claim();
    const whole = await openWholeSegment({ ...room, epoch, prev: head, firstN: 5 });
    await whole.add(notedEvent(5));
    await whole.add(notedEvent(6));
    await whole.conclude({ type: "pruned", atMs: 7, files: [], reason: "by hand", history: { before: 5 } });
    await whole.close();
    const history = await room.read();
    expect(history.records.map(({ n }) => n)).toEqual([5, 6, 7]);
    expect([history.prunedBefore, history.damage]).toEqual([5, []]);
    expect(history.lost).toEqual([{ from: 1, to: 4 }]);
  });

  it("is written in chunks, each marked as what was durable before it, and refuses records too many or too few", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    const text = createSeededRandom("text").bytes(450_000);
    const long = (n: number) => notedEvent(n, Buffer.from(text).toString("base64"));
    writer.append([long(1), long(2), long(3), long(4)]);
    await writer.close();
    const { head } = await room.read();
    if (head === undefined) throw new Error("nothing was written");
    const whole = await openWholeSegment({ ...room, epoch: await room.task.claim(), prev: head, firstN: 1 });
    await whole.add(long(1));
    await expect(whole.conclude(notedEvent(5))).rejects.toMatchObject({ code: "INTERNAL" });
    for (const n of [2, 3, 4]) await whole.add(long(n));
    await expect(whole.add(notedEvent(5))).rejects.toMatchObject({ code: "INTERNAL" });
    await whole.conclude(notedEvent(5));
    await whole.close();
    const history = await room.read();
    expect(history.records.map(({ isBatchStart }) => isBatchStart)).toEqual([true, false, true, false, true]);
    expect(history.record(4)?.decode()).toEqual(long(4));
  });

  it("J14: a header with one damaged bit counts by its seal; damaged beyond that it proves nothing", async () => {
    const { old, whole } = await createScene();
    const damagedBy = (mask: number) => {
      const damaged = Buffer.from(whole);
      const hash = damaged.indexOf('"h":"') + 8;
      damaged[hash] = (damaged[hash] ?? 0) ^ mask;
      return damaged;
    };
    const alone = await readOf([["3-0", damagedBy(1)]]);
    expect(textsOf(alone)).toEqual(NEW);
    expect(alone.damage).toContainEqual({ segment: "00000003-0000", line: 1, what: "header" });
    expect(textsOf(await readOf([...old, ["3-0", damagedBy(1)]]))).toEqual(NEW);
    const beyond = await readOf([...old, ["3-0", damagedBy(3)]]);
    expect(textsOf(beyond)).toEqual(OLD);
    expect(beyond.lost).toEqual([{ from: 6, to: undefined }]);
  });

  it("opens with its own key only", async () => {
    const { room } = await createScene();
    await expect(room.read(createOtherKeyVault())).rejects.toMatchObject({ code: "KEY_WRONG" });
  });
});
