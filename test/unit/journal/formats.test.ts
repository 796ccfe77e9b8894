import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodePosition, comparePositions, encodePosition, isSamePosition } from "../../../src/journal/position.js";
import { decodeBody, encodeBody, markBatchStart } from "../../../src/journal/record-body.js";
import { verifySegment } from "../../../src/journal/segment-report.js";
import { createJournalRoom, notedEvent } from "../../support/journal-room.js";
import { createSeededRandom } from "../../support/seeded-random.js";

const h = Buffer.alloc(32, 7).toString("base64url");

describe("JournalPosition", () => {
  it("round-trips, and refuses every other value", () => {
    const position = { n: 3, epoch: 2, index: 0, h };
    expect(decodePosition(encodePosition(position))).toEqual(position);
    const others = [
      null,
      1,
      "x",
      [],
      {},
      { ...position, n: 0 },
      { ...position, epoch: 1.5 },
      { ...position, index: -1 },
      { ...position, h: "short" },
      { ...position, h: 1 },
      { ...position, more: 1 },
    ];
    for (const value of others) expect(decodePosition(value)).toBeUndefined();
    expect(decodePosition(undefined)).toBeUndefined();
  });

  it("orders by epoch, then record", () => {
    const at = (epoch: number, n: number) => ({ n, epoch, index: 0, h });
    expect(comparePositions(at(2, 1), at(1, 9))).toBeGreaterThan(0);
    expect(comparePositions(at(1, 1), at(1, 9))).toBeLessThan(0);
    expect(isSamePosition(at(1, 1), at(1, 1))).toBe(true);
    expect(isSamePosition(at(1, 1), { ...at(1, 1), h: "other" })).toBe(false);
  });
});

describe("record body", () => {
  it("round-trips any text, marked or not", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, unit: "binary" }), fc.boolean(), (text, isBatchStart) => {
        const json = JSON.stringify(text);
        const body = encodeBody(json);
        markBatchStart(body, isBatchStart);
        expect(decodeBody(body)).toEqual({ json, isBatchStart });
      }),
    );
  });

  it("deflates from a kilobyte on, which is shorter for any text", () => {
    expect(encodeBody("a".repeat(1_023))[0]).toBe(0);
    expect(encodeBody("a".repeat(1_024))[0]).toBe(1);
    expect(encodeBody("word ".repeat(3_000)).length).toBeLessThan(300);
    const bytes = createSeededRandom("text").bytes(1_100);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte % 128)).join("");
    expect(encodeBody(text).length).toBeLessThan(1_100);
    expect(decodeBody(encodeBody(text))?.json).toBe(text);
  });

  it("refuses what is no body, without allocating what it claims", () => {
    const packed = encodeBody("b".repeat(2_000));
    const lie = Buffer.from(packed);
    lie.writeUInt32BE(10, 1);
    const huge = Buffer.from(packed);
    huge.writeUInt32BE(0xffff_ffff, 1);
    const longer = Buffer.from(packed);
    longer.writeUInt32BE(2_001, 1);
    const none = Buffer.from(packed);
    none.writeUInt32BE(0, 1);
    for (const body of [
      Buffer.alloc(0),
      Buffer.from([4]),
      Buffer.from([1, 0]),
      lie,
      huge,
      longer,
      none,
      packed.subarray(0, 8),
    ]) {
      expect(decodeBody(body)).toBeUndefined();
    }
  });
});

describe("verifySegment", () => {
  it("tells header, records, tail and defects without a key", async () => {
    const room = await createJournalRoom();
    const writer = await room.take();
    for (const n of [1, 2, 3]) {
      writer.append([notedEvent(n)]);
      await writer.durable();
    }
    const bytes = await room.bytes();
    expect(verifySegment(bytes)).toMatchObject({
      header: "good",
      fields: { taskId: room.vault.taskId, id: { epoch: 1, index: 0 }, prev: undefined },
      goodRecords: 3,
      records: 3,
      tail: "clean",
      droppedBytes: 0,
      defects: [],
      last: { n: 3, h: writer.position?.h },
    });
    const middle = bytes.indexOf('"d":"', bytes.indexOf('{"n":2')) + 10;
    const rotten = Buffer.from(bytes);
    rotten[middle] = (rotten[middle] ?? 0) ^ 1;
    expect(verifySegment(rotten)).toMatchObject({
      goodRecords: 1,
      records: 3,
      tail: "damaged",
      defects: [{ line: 3, what: "hash" }],
    });
    expect(verifySegment(Buffer.alloc(0))).toMatchObject({ header: "absent", fields: undefined, last: undefined });
    expect(verifySegment(bytes.subarray(0, 30))).toMatchObject({ header: "torn", tail: "torn", droppedBytes: 30 });
  });
});
