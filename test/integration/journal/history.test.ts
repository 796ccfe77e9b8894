import { describe, expect, it } from "vitest";
import { errorCodeOf } from "../../../src/base/errors.js";
import { encodeBase64Url, sha256 } from "../../../src/base/digest.js";
import { History, readHistory } from "../../../src/journal/history.js";
import type { JournalPosition } from "../../../src/journal/position.js";
import { changedBytes, collectOutcomes, cutBytes, outcomesBut, splicedBytes } from "../../support/damaged-bytes.js";
import { codeOf, codeOfAsync } from "../../support/error-code.js";
import {
  createJournalRoom,
  createOtherKeyVault,
  createPlainVault,
  createSegmentsTask,
  createTestVault,
  JOURNAL_TASK_ID,
  notedEvent,
  textsOf,
  type JournalRoom,
} from "../../support/journal-room.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const vault = createTestVault();

function readBytes(segments: Record<string, Uint8Array>): Promise<History> {
  return readHistory({ task: createSegmentsTask(new Map(Object.entries(segments))), vault });
}

/** A journal of one segment; each inner list is one batch. */
async function writeBatches(
  batches: readonly (readonly number[])[],
  room?: JournalRoom,
): Promise<{ bytes: Buffer; room: JournalRoom }> {
  const used = room ?? (await createJournalRoom());
  const writer = await used.take();
  for (const batch of batches) {
    writer.append(batch.map((n) => notedEvent(n)));
    await writer.durable();
  }
  return { bytes: await used.bytes(), room: used };
}

/** Line numbers as in reports: the header is 1. */
function linesOf(bytes: Buffer): { start: number; end: number }[] {
  const lines: { start: number; end: number }[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

function damaged(bytes: Buffer, at: number, mask = 1): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ mask;
  return copy;
}

const numbersOf = (history: History) => history.records.map((record) => record.position.n);

describe("readHistory", () => {
  it("reads an empty task as one that never began", async () => {
    const history = await readBytes({});
    expect(history).toMatchObject({ records: [], head: undefined, epoch: 0, claimedEpoch: 0, lost: [], damage: [] });
  });

  it("J3: takes the chain from the highest epoch with a durable header, and calls the rest orphans", async () => {
    const room = await createJournalRoom();
    const old = await room.take();
    old.append([notedEvent(1), notedEvent(2)]);
    await old.durable();
    const position = old.position;
    const heir = await room.take(position);
    old.append([notedEvent(3, "too late")]);
    await old.durable();
    heir.append([notedEvent(3, "mine")]);
    await heir.durable();
    const history = await room.read();
    expect(textsOf(history)).toEqual(["note 1", "note 2", "mine"]);
    expect(history.orphans.map((record) => record.decode())).toMatchObject([{ text: "too late" }]);
    expect(history.lost).toEqual([]);
    expect(history.covers(position as JournalPosition)).toBe(true);
    expect(history.covers(old.position as JournalPosition)).toBe(false);
    expect(history.covers({ ...(position as JournalPosition), h: encodeBase64Url(Buffer.alloc(32)) })).toBe(false);
    expect(history.covers({ ...(heir.position as JournalPosition), n: 1 })).toBe(false);
    expect(history.record(3)?.position).toEqual(heir.position);
    expect(history.record(4)).toBeUndefined();
    expect(history.recordsFrom(2).map((record) => record.position.n)).toEqual([2, 3]);
  });

  it("J5: a claimed epoch and a torn header leave the history where it was", async () => {
    const { bytes, room } = await writeBatches([[1], [2]]);
    const next = await room.take((await room.read()).head);
    await next.close();
    const header = await room.bytes({ epoch: 2, index: 0 });
    for (const torn of [
      Buffer.alloc(0),
      header.subarray(0, 1),
      header.subarray(0, 200),
      Buffer.alloc(300),
      Buffer.concat([header.subarray(0, 64), Buffer.alloc(64), header.subarray(128)]),
    ]) {
      const history = await readBytes({ "1-0": bytes, "2-0": torn });
      expect(history).toMatchObject({ epoch: 1, claimedEpoch: 2, lost: [], damage: [] });
      expect(numbersOf(history)).toEqual([1, 2]);
    }
    expect((await readBytes({ "1-0": bytes, "2-0": header.subarray(0, header.length - 1) })).epoch).toBe(2);
  });

  it("J5: a damaged header is damage and not an empty epoch, unless the rest proves what it said", async () => {
    const { bytes, room } = await writeBatches([[1], [2]]);
    const next = await room.take((await room.read()).head);
    next.append([notedEvent(3)]);
    await next.close();
    const segment = await room.bytes({ epoch: 2, index: 0 });
    const salt = segment.indexOf('"salt":"') + 10;
    const lost = await readBytes({ "1-0": bytes, "2-0": damaged(segment, salt, 3) });
    expect(lost).toMatchObject({
      epoch: 2,
      lost: [{ from: 3, to: undefined }],
      damage: [{ segment: "00000002-0000", what: "header" }],
    });
    // One flipped bit is found again by the hash, a damaged hash by the seal.
    const stated = segment.indexOf('"h":"', segment.indexOf('"timestamp"')) + 9;
    for (const [place, mask] of [[segment.indexOf('"timestamp":"') + 15], [salt], [stated, 7]] as const) {
      const proven = await readBytes({ "1-0": bytes, "2-0": damaged(segment, place, mask) });
      expect(textsOf(proven)).toEqual(["note 1", "note 2", "note 3"]);
      expect(proven).toMatchObject({ lost: [], damage: [{ segment: "00000002-0000", line: 1, what: "header" }] });
    }
  });

  it("J4: drops and counts a torn tail; a whole last line counts without its newline", async () => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    const last = linesOf(bytes)[3] ?? { start: 0, end: 0 };
    for (const end of [last.start + 1, last.start + 40, last.end - 1]) {
      const history = await readBytes({ "1-0": bytes.subarray(0, end) });
      expect(numbersOf(history)).toEqual([1, 2]);
      expect(history).toMatchObject({
        lost: [],
        damage: [],
        segments: [{ tail: "torn", droppedBytes: end - last.start }],
      });
    }
    const whole = await readBytes({ "1-0": bytes.subarray(0, last.end) });
    expect(numbersOf(whole)).toEqual([1, 2, 3]);
    expect(whole.segments[0]?.tail).toBe("clean");
    const zeros = await readBytes({ "1-0": Buffer.concat([bytes.subarray(0, last.end), Buffer.alloc(50)]) });
    expect(numbersOf(zeros)).toEqual([1, 2, 3]);
    expect(zeros).toMatchObject({ lost: [], segments: [{ tail: "torn" }] });
    const stray = await readBytes({ "1-0": Buffer.concat([bytes.subarray(0, last.end), Buffer.from("x")]) });
    expect(numbersOf(stray)).toEqual([1, 2, 3]);
    expect(stray).toMatchObject({
      lost: [],
      damage: [{ line: 4, what: "stray_bytes" }],
      segments: [{ tail: "damaged" }],
    });
  });

  it("J7: zeros within one unacknowledged batch are a torn tail, before an acknowledged one damage", async () => {
    const torn = await writeBatches([[1], [2, 3, 4]]);
    const line = linesOf(torn.bytes)[2] ?? { start: 0, end: 0 };
    const holed = Buffer.from(torn.bytes).fill(0, line.start + 20, line.start + 84);
    const history = await readBytes({ "1-0": holed });
    expect(numbersOf(history)).toEqual([1]);
    expect(history).toMatchObject({ lost: [], damage: [], segments: [{ tail: "torn" }] });
    const acked = await writeBatches([[1], [2], [3], [4]]);
    const hole = linesOf(acked.bytes)[2] ?? { start: 0, end: 0 };
    const rotten = await readBytes({ "1-0": Buffer.from(acked.bytes).fill(0, hole.start + 20, hole.start + 84) });
    expect(numbersOf(rotten)).toEqual([1, 3, 4]);
    expect(rotten).toMatchObject({ lost: [{ from: 2, to: 2 }], segments: [{ tail: "damaged" }] });
  });

  it("J9: damage costs one record, which is named, and what follows is still opened", async () => {
    const { bytes } = await writeBatches([[1], [2], [3], [4]]);
    const line = linesOf(bytes)[2] ?? { start: 0, end: 0 };
    const history = await readBytes({ "1-0": damaged(bytes, line.start + 40) });
    expect(textsOf(history)).toEqual(["note 1", "note 3", "note 4"]);
    expect(history.lost).toEqual([{ from: 2, to: 2 }]);
    expect(history.damage).toEqual([{ segment: "00000001-0000", line: 3, what: "hash" }]);
  });

  it("J6: damage to a stated hash alone costs nothing and is named", async () => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    for (const at of [1, 2, 3]) {
      const line = linesOf(bytes)[at] ?? { start: 0, end: 0 };
      const history = await readBytes({ "1-0": damaged(bytes, line.end - 20, 1) });
      expect(textsOf(history)).toEqual(["note 1", "note 2", "note 3"]);
      expect(history).toMatchObject({ lost: [], damage: [{ line: at + 1, what: "hash" }] });
    }
  });

  it("a damaged newline between records costs neither", async () => {
    const { bytes } = await writeBatches([[1], [2], [3], [4]]);
    const line = linesOf(bytes)[2] ?? { start: 0, end: 0 };
    const history = await readBytes({ "1-0": damaged(bytes, line.end) });
    expect(textsOf(history)).toEqual(["note 1", "note 2", "note 3", "note 4"]);
    expect(history).toMatchObject({ lost: [], damage: [{ line: 3, what: "stray_bytes" }] });
  });

  it("loses a whole removed line, and all that is behind the damaged end", async () => {
    const { bytes } = await writeBatches([[1], [2], [3], [4]]);
    const lines = linesOf(bytes);
    const gone = Buffer.concat([bytes.subarray(0, lines[2]?.start), bytes.subarray(lines[3]?.start)]);
    const removed = await readBytes({ "1-0": gone });
    expect(numbersOf(removed)).toEqual([1, 4]);
    expect(removed.lost).toEqual([{ from: 2, to: 3 }]);
    const end = await readBytes({ "1-0": damaged(bytes, (lines[4]?.start ?? 0) + 40) });
    expect(numbersOf(end)).toEqual([1, 2, 3]);
    expect(end.lost).toEqual([{ from: 4, to: undefined }]);
  });

  it("names what a missing segment held", async () => {
    const room = await createJournalRoom();
    const writer = await room.take(undefined, { segmentRecordsMax: 2 });
    for (let n = 1; n <= 6; n += 1) {
      writer.append([notedEvent(n)]);
      await writer.durable();
    }
    const [first, last] = [await room.bytes(), await room.bytes({ epoch: 1, index: 2 })];
    const history = await readBytes({ "1-0": first, "1-2": last });
    expect(numbersOf(history)).toEqual([1, 2, 5, 6]);
    expect(history).toMatchObject({
      lost: [{ from: 3, to: 4 }],
      damage: [{ segment: "00000001-0001", what: "missing" }],
    });
    const empty = await readBytes({ "1-2": last.subarray(0, last.indexOf(0x0a) + 1) });
    expect(empty).toMatchObject({ records: [], lost: [{ from: 1, to: 4 }] });
  });

  it("refuses other keys, other tasks, other places, other versions and other files, each by its own code", async () => {
    const { bytes } = await writeBatches([[1]]);
    const task = createSegmentsTask(new Map([["1-0", bytes]]));
    const code = (other: typeof vault) => codeOfAsync(() => readHistory({ task, vault: other }));
    expect(await code(createOtherKeyVault())).toBe("KEY_WRONG");
    expect(await code(createPlainVault(JOURNAL_TASK_ID))).toBe("KEY_MISSING");
    expect(await code(createTestVault(1, "0b0a3f2c-5d7e-4f10-8a9b-1c2d3e4f5a6b"))).toBe("TASK_SWAPPED");
    expect(await codeOfAsync(() => readBytes({ "2-0": bytes }))).toBe("TASK_SWAPPED");
    const text = bytes.toString();
    for (const version of ["2.0", "999", "1"]) {
      expect(await codeOfAsync(() => readBytes({ "1-0": Buffer.from(text.replace('"1.0"', `"${version}"`)) }))).toBe(
        "FORMAT_VERSION",
      );
    }
    expect(await codeOfAsync(() => readBytes({ "1-0": rehash('{"format":"other"') }))).toBe("FORMAT_NOT_OURS");
    expect(await codeOfAsync(() => readBytes({ "1-0": rehash('{"format":"splashdown.journal","version":null') }))).toBe(
      "FORMAT_VERSION",
    );
    expect(
      await codeOfAsync(() =>
        readBytes({ "1-0": rehash('{"format":"splashdown.journal","version":"1.0","header":{}') }),
      ),
    ).toBe("JOURNAL_TAMPERED");
    const plainRoom = await createJournalRoom(createPlainVault(JOURNAL_TASK_ID));
    const plain = await writeBatches([[1]], plainRoom);
    expect(await codeOfAsync(() => readBytes({ "1-0": plain.bytes }))).toBe("SEAL_MISSING");
  });

  it("reads a journal without encryption, and its damage", async () => {
    const plain = createPlainVault(JOURNAL_TASK_ID);
    const { bytes } = await writeBatches([[1], [2], [3]], await createJournalRoom(plain));
    const read = (content: Buffer) =>
      readHistory({ task: createSegmentsTask(new Map([["1-0", content]])), vault: plain });
    expect(textsOf(await read(bytes))).toEqual(["note 1", "note 2", "note 3"]);
    const lines = linesOf(bytes);
    const hash = await read(damaged(bytes, (lines[2]?.end ?? 0) - 20));
    expect(textsOf(hash)).toEqual(["note 1", "note 2", "note 3"]);
    const body = await read(damaged(bytes, (lines[2]?.start ?? 0) + 40));
    expect(textsOf(body)).toEqual(["note 1", "note 3"]);
    expect(body.lost).toEqual([{ from: 2, to: 2 }]);
    expect((await read(damaged(bytes, (lines[3]?.start ?? 0) + 40))).lost).toEqual([{ from: 3, to: undefined }]);
  });

  it("J6: refuses a record whose hashes were repaired, wherever it was changed", async () => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    const lines = linesOf(bytes);
    for (const at of [1, 2, 3]) {
      const line = lines[at] ?? { start: 0, end: 0 };
      const dataStart = bytes.indexOf('"d":"', line.start) + 5;
      const history = await readBytes({ "1-0": repaired(damaged(bytes, dataStart + 4)) });
      expect(codeOf(() => textsOf(history))).toBe("JOURNAL_TAMPERED");
    }
  });

  it("J5: uses a damaged first header when nothing stands before it, and loses all when no header is left", async () => {
    const { bytes } = await writeBatches([[1], [2]]);
    for (const place of [0, bytes.indexOf('"timestamp":"') + 15, bytes.indexOf('"salt":"') + 10]) {
      const proven = await readBytes({ "1-0": damaged(bytes, place) });
      expect(textsOf(proven)).toEqual(["note 1", "note 2"]);
    }
    const salt = bytes.indexOf('"salt":"') + 10;
    for (const broken of [damaged(bytes, salt, 3), Buffer.concat([Buffer.from("x\n"), bytes])]) {
      const history = await readBytes({ "1-0": broken });
      expect(history).toMatchObject({ records: [], head: undefined, epoch: 1, lost: [{ from: 1, to: undefined }] });
      // What stood there a snapshot may still know.
      expect(history.covers({ n: 2, epoch: 1, index: 0, h: "any" })).toBe(true);
    }
  });

  it("J5: believes a damaged header that continues nothing only where its seal fits", async () => {
    const room = await createJournalRoom();
    await (await room.take()).close();
    const second = await room.take();
    second.append([notedEvent(1)]);
    await second.close();
    const [first, heir] = [await room.bytes(), await room.bytes({ epoch: 2, index: 0 })];
    const repairable = damaged(heir, heir.indexOf('"timestamp":"') + 15);
    expect(textsOf(await readBytes({ "1-0": first, "2-0": repairable }))).toEqual(["note 1"]);
    const { bytes } = await writeBatches([[7]]);
    const broken = damaged(heir, heir.indexOf('"timestamp":"') + 15, 3);
    const doubtful = await readBytes({ "1-0": bytes, "2-0": broken });
    expect(textsOf(doubtful)).toEqual(["note 7"]);
    expect(doubtful).toMatchObject({
      lost: [{ from: 2, to: undefined }],
      damage: [{ segment: "00000002-0000", what: "header" }],
    });
  });

  it("J3: goes on with a guess where a link's header is damaged, and names what is lost", async () => {
    const { bytes, room } = await writeBatches([[1], [2]]);
    const second = await room.take((await room.read()).head);
    second.append([notedEvent(3)]);
    await second.close();
    const third = await room.take(second.position);
    third.append([notedEvent(4)]);
    await third.close();
    const middle = await room.bytes({ epoch: 2, index: 0 });
    const segments = {
      "1-0": bytes,
      "2-0": damaged(middle, middle.indexOf('"salt":"') + 10, 3),
      "3-0": await room.bytes({ epoch: 3, index: 0 }),
    };
    const history = await readBytes(segments);
    expect(textsOf(history)).toEqual(["note 1", "note 2", "note 4"]);
    expect(history).toMatchObject({
      lost: [{ from: 3, to: 3 }],
      damage: [{ segment: "00000002-0000", what: "header" }],
    });
  });

  it("J5: takes a header for damaged that continues something which is no place of a journal", async () => {
    const { bytes } = await writeBatches([[1], [2]]);
    for (const prev of ["7", '"x"', "{}", "[]"]) {
      const broken = Buffer.from(bytes.toString("latin1").replace('"prev":null', `"prev":${prev}`), "latin1");
      expect(broken.length).toBe(bytes.length - 4 + prev.length);
      expect(await readBytes({ "1-0": broken })).toMatchObject({
        records: [],
        damage: [{ segment: "00000001-0000", what: "header" }],
      });
    }
  });

  it("finds the records on both sides of a damaged newline, copies of an earlier batch among them", async () => {
    const room = await createJournalRoom();
    const first = await room.take();
    first.append([notedEvent(1), notedEvent(2)]);
    await first.close();
    const before = await room.read();
    const heir = await room.take(before.head, { repeated: before.lastBatch() });
    heir.append([notedEvent(3)]);
    await heir.durable();
    heir.append([notedEvent(4)]);
    await heir.close();
    const [one, two] = [await room.bytes(), await room.bytes({ epoch: 2, index: 0 })];
    for (const at of [1, 2, 3]) {
      const history = await readBytes({ "1-0": one, "2-0": damaged(two, linesOf(two)[at]?.end ?? 0) });
      expect(textsOf(history)).toEqual(["note 1", "note 2", "note 3", "note 4"]);
      expect(history).toMatchObject({ lost: [], damage: [{ segment: "00000002-0000", line: at + 1 }] });
    }
  });

  it("J6: refuses an intact segment that is not the one a later segment continues", async () => {
    const { room } = await writeBatches([[1], [2]]);
    const heir = await room.take((await room.read()).head);
    heir.append([notedEvent(3)]);
    await heir.close();
    const other = await writeBatches([[7], [8]], await createJournalRoom(createTestVault("another life")));
    const segments = { "1-0": other.bytes, "2-0": await room.bytes({ epoch: 2, index: 0 }) };
    expect(await codeOfAsync(() => readBytes(segments))).toBe("JOURNAL_TAMPERED");
  });

  it("J6: refuses a body that is another text of the same bytes", async () => {
    const { bytes } = await writeBatches([[1]]);
    const text = bytes.toString("latin1");
    const padded = repaired(Buffer.from(text.replace(/("d":"[^"]*)"/, '$1="'), "latin1"));
    const history = await readBytes({ "1-0": padded });
    expect(codeOf(() => textsOf(history))).toBe("JOURNAL_TAMPERED");
  });

  it("reads records longer than most", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    const text = Buffer.from(createSeededRandom("long").bytes(20_000)).toString("base64");
    writer.append([notedEvent(1, text), notedEvent(2)]);
    await writer.durable();
    expect(textsOf(await room.read())).toEqual([text, "note 2"]);
  });

  it("J8: gives up when its signal fires", async () => {
    const { bytes } = await writeBatches([[1]]);
    const task = createSegmentsTask(new Map([["1-0", bytes]]));
    expect(await codeOfAsync(() => readHistory({ task, vault, signal: AbortSignal.abort() }))).toBe("CANCELLED");
  });

  it("reports tails, damage and loss in snake_case", async () => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    const history = await readBytes({ "1-0": damaged(bytes, (linesOf(bytes)[2]?.start ?? 0) + 40) });
    expect(history.report()).toEqual({
      journal_bytes: bytes.length,
      records: 2,
      orphans: 0,
      tails: [
        { segment: "00000001-0000", tail: "damaged", dropped_bytes: bytes.length - (linesOf(bytes)[2]?.start ?? 0) },
      ],
      damage: [{ segment: "00000001-0000", line: 3, what: "hash" }],
      lost: [{ from: 2, to: 2 }],
    });
  });
});

describe("every change to a small segment", () => {
  it("every flipped bit is a typed error or a named loss, never other data", async (context) => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    const counts = { error: 0, lost: 0, named: 0 };
    await collectOutcomes(context, changedBytes(bytes), async (changed) => {
      const outcome = await judge(changed, 3);
      counts[outcome] += 1;
      return outcome;
    });
    // Loss only where it must be: most of a record line is its body.
    expect(counts.named).toBeGreaterThan(counts.error);
  });

  it("every flipped bit with repaired hashes is refused by the seal, or changed nothing that counts", async (context) => {
    const { bytes } = await writeBatches([[1], [2]]);
    let refused = 0;
    // Without its last newline the last line is cut off whole: only the anchor can see that.
    const changes = changedBytes(bytes, bytes.length - 1);
    const outcomes = await collectOutcomes(context, changes, async (changed) => {
      const forged = repaired(changed);
      if (forged.equals(bytes)) return "nothing changed";
      const { code, isNamed, texts } = await readOutcome(forged);
      if (code === "JOURNAL_TAMPERED") refused += 1;
      return code !== undefined || isNamed ? "honest" : `unnoticed: ${texts.join()}`;
    });
    expect(outcomesBut(outcomes, ["honest", "nothing changed"])).toEqual([]);
    expect(refused).toBeGreaterThan(bytes.length / 4);
  });

  it("cut at every length it leaves a prefix", async (context) => {
    const { bytes } = await writeBatches([[1], [2], [3]]);
    await collectOutcomes(context, cutBytes(bytes), async (cut) => {
      const history = await readBytes({ "1-0": cut });
      const texts = textsOf(history);
      expect(texts).toEqual(["note 1", "note 2", "note 3"].slice(0, texts.length));
      expect(history.lost).toEqual([]);
      return String(texts.length);
    });
  });

  it("with a byte put in, doubled or taken out at every offset it is a typed error or a named loss", async (context) => {
    const { bytes } = await writeBatches([[1], [2]]);
    const outcomes = await collectOutcomes(context, splicedBytes(bytes), (changed) => judge(changed, 2));
    expect(new Set(outcomes.keys())).toEqual(new Set(["error", "lost", "named"]));
  });

  it("lines in another order, doubled or from another segment never count twice", async () => {
    const { bytes, room } = await writeBatches([[1], [2], [3]]);
    const other = await room.take((await room.read()).head);
    other.append([notedEvent(4)]);
    await other.close();
    const foreign = await room.bytes({ epoch: 2, index: 0 });
    const [head, one, two, three] = linesOf(bytes).map(({ start, end }) => bytes.subarray(start, end + 1));
    const [, four] = linesOf(foreign).map(({ start, end }) => foreign.subarray(start, end + 1));
    for (const order of [
      [head, two, one, three],
      [head, one, one, two, three],
      [head, one, two, three, three],
      [head, one, three, two],
      [head, one, four, two, three],
      [head, one, two, three, four],
    ]) {
      const outcome = await readOutcome(Buffer.concat(order.flatMap((line) => line ?? [])));
      expect(outcome.isNamed || outcome.code !== undefined).toBe(true);
      expect(new Set(outcome.texts).size).toBe(outcome.texts.length);
    }
  });
});

interface Outcome {
  readonly code: string | undefined;
  readonly texts: readonly string[];
  /** Damage or loss is in the answer. */
  readonly isNamed: boolean;
}

async function readOutcome(bytes: Buffer): Promise<Outcome> {
  try {
    const history = await readBytes({ "1-0": bytes });
    const texts = textsOf(history);
    const isTorn = history.segments.some((segment) => segment.tail !== "clean" || segment.droppedBytes > 0);
    return { code: undefined, texts, isNamed: history.damage.length > 0 || history.lost.length > 0 || isTorn };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === undefined || code === "INTERNAL") throw error;
    return { code, texts: [], isNamed: false };
  }
}

async function judge(bytes: Buffer, count: number): Promise<"error" | "lost" | "named"> {
  const { code, texts, isNamed } = await readOutcome(bytes);
  if (code !== undefined) return "error";
  const all = Array.from({ length: count }, (_, at) => `note ${at + 1}`);
  // A subsequence of the truth, and anything missing is named.
  expect(all.filter((text) => texts.includes(text))).toEqual(texts);
  expect(isNamed || texts.length === count).toBe(true);
  return texts.length < count ? "lost" : "named";
}

/** A line of any text that fits its own hash. */
function rehash(hashed: string): Buffer {
  return Buffer.from(`${hashed},"h":"${encodeBase64Url(sha256(hashed))}"}\n`);
}

/** Every stated hash set right for the bytes as they are, as an attacker without the key can. */
function repaired(bytes: Buffer): Buffer {
  let prior: Buffer | undefined;
  const lines = bytes.toString("latin1").split("\n").slice(0, -1);
  const made = lines.map((line) => {
    const hashed = Buffer.from(line.replace(/,"h":"[^"]*"\}$/, ""), "latin1");
    const h: Buffer = prior === undefined ? sha256(hashed) : sha256(prior, hashed);
    prior = h;
    return Buffer.concat([hashed, Buffer.from(`,"h":"${encodeBase64Url(h)}"}\n`)]);
  });
  return Buffer.concat(made);
}
