/** One line of a segment: its exact form, what is no line, and the hashes through lines of any length. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  computeAad,
  encodeRecordLine,
  hashAt,
  hashLine,
  hashLineText,
  hashTextAt,
  HASH_FIELD_BYTES,
  locateRecord,
  parseRecordLine,
  sealedBytesOf,
} from "../../../src/journal/record-line.js";

const prior = Buffer.alloc(32, 5);
const sealed = Buffer.from("sealed bytes");
const H = "A".repeat(43);
const END = `,"h":"${H}"}`;

function parse(line: string) {
  const bytes = Buffer.from(line, "latin1");
  return parseRecordLine(bytes, 0, bytes.length);
}

describe("a record's line", () => {
  it("J1: states SHA-256 over the hash before it and itself", () => {
    const { line, h } = encodeRecordLine(prior, { n: 7, kind: "intent", sealed });
    const hashed = '{"n":7,"k":"intent","d":"c2VhbGVkIGJ5dGVz"';
    expect(h).toBe(createHash("sha256").update(prior).update(hashed).digest("base64url"));
    expect(line.toString()).toBe(`${hashed},"h":"${h}"}`);
  });

  it("has another name for the number of a record that is there once more", () => {
    const { line } = encodeRecordLine(prior, { n: 7, kind: "intent", sealed, isRepeated: true });
    expect(line.toString()).toMatch(/^\{"r":7,/);
    expect(parse(line.toString())).toMatchObject({ n: 7, kind: "intent" });
  });

  it("is found in the midst of others, part by part", () => {
    const { line, h } = encodeRecordLine(prior, { n: 12, kind: "tool_result", sealed });
    const bytes = Buffer.concat([Buffer.from("before\n"), line, Buffer.from("\nafter")]);
    const end = 7 + line.length;
    const found = parseRecordLine(bytes, 7, end);
    expect(found).toEqual({
      n: 12,
      kind: "tool_result",
      start: 7,
      dataStart: 7 + '{"n":12,"k":"tool_result","d":"'.length,
      dataEnd: end - HASH_FIELD_BYTES - 1,
      hashedEnd: end - HASH_FIELD_BYTES,
      end,
      stated: Buffer.from(h, "base64url"),
    });
    expect(locateRecord(bytes, 7, end)).not.toHaveProperty("stated");
    expect(found === undefined ? undefined : sealedBytesOf(bytes, found)).toEqual(sealed);
    expect(hashTextAt(bytes, end)).toBe(h);
    expect(hashAt(bytes, end)).toEqual(Buffer.from(h, "base64url"));
  });

  it.each([
    `{"n":1,"k":"a","d":""${END}`,
    `{"n":9007199254740991,"k":"${"a".repeat(32)}","d":"AAAA"${END}`,
    `{"n":10,"k":"rolled_back","d":"AAAA"${END}`,
  ])("may be %s", (line) => {
    expect(parse(line)?.stated?.length).toBe(32);
  });

  it.each([
    ["no number", `{"n":,"k":"a","d":"AAAA"${END}`],
    ["number nought", `{"n":0,"k":"a","d":"AAAA"${END}`],
    ["a number with a nought before it", `{"n":01,"k":"a","d":"AAAA"${END}`],
    ["a number that is no longer exact", `{"n":9007199254740993,"k":"a","d":"AAAA"${END}`],
    ["a number of seventeen digits", `{"n":10000000000000000,"k":"a","d":"AAAA"${END}`],
    ["another name for the number", `{"m":1,"k":"a","d":"AAAA"${END}`],
    ["no kind", `{"n":1,"k":"","d":"AAAA"${END}`],
    ["a kind that is too long", `{"n":1,"k":"${"a".repeat(33)}","d":"AAAA"${END}`],
    ["a kind in capitals", `{"n":1,"k":"Intent","d":"AAAA"${END}`],
    ["something before it", ` {"n":1,"k":"a","d":"AAAA"${END}`],
    ["a quote in what is sealed", `{"n":1,"k":"a","d":"AA"AA"${END}`],
    ["no quote behind what is sealed", `{"n":1,"k":"a","d":"AAAA_${END}`],
    ["no room for a hash", '{"n":1,"k":"a","d":"AAAA"}'],
    ["a hash field and no more", END],
    ["nothing", ""],
  ])("is not one with %s", (_what, line) => {
    expect(parse(line)).toBeUndefined();
  });

  it.each([
    ["a character that no hash has", `,"h":"${"A".repeat(42)}+"}`],
    ["spare bits at its end", `,"h":"${"A".repeat(42)}B"}`],
    ["another name", `,"g":"${H}"}`],
    ["another end", `,"h":"${H}"]`],
    ["another beginning", `;"h":"${H}"}`],
  ])("J6: is still found where its hash has %s", (_what, end) => {
    expect(parse(`{"n":3,"k":"a","d":"AAAA"${end}`)).toMatchObject({ n: 3, stated: undefined });
  });

  it.each(["AAA", "AAAA=", "AB==", "A-_A"])("opens to nothing where %s is sealed, which is not canonical", (text) => {
    const bytes = Buffer.from(`{"n":3,"k":"a","d":"${text}"${END}`);
    const found = parseRecordLine(bytes, 0, bytes.length);
    expect(found === undefined ? "no line" : sealedBytesOf(bytes, found)).toBeUndefined();
  });
});

describe("the hash of a line", () => {
  // On either side of the length from which on a line is hashed in two pieces.
  it.each([10, 3_027, 3_030, 3_031, 9_000])("is the same in each form over %s sealed bytes", (size) => {
    const { line, h } = encodeRecordLine(prior, { n: 1, kind: "turn", sealed: Buffer.alloc(size, size) });
    const bytes = Buffer.concat([Buffer.from("x"), line]);
    const found = locateRecord(bytes, 1, bytes.length);
    if (found === undefined) throw new Error("it is no line");
    const wanted = createHash("sha256").update(prior).update(line.subarray(0, -HASH_FIELD_BYTES)).digest();
    expect(h).toBe(wanted.toString("base64url"));
    expect(hashLine(bytes, found, prior)).toEqual(wanted);
    expect(hashLineText(bytes, found, prior.toString("base64url"))).toBe(h);
  });
});

describe("what the seal of a record binds", () => {
  it.each([
    [1, "0000000000000001"],
    [2 ** 32 - 1, "00000000ffffffff"],
    [2 ** 32 + 5, "0000000100000005"],
    [Number.MAX_SAFE_INTEGER, "001fffffffffffff"],
  ])("J2: is the hash before, the number %s in eight bytes, and the kind", (n, number) => {
    expect(computeAad(prior, n, "note").toString("hex")).toBe(
      prior.toString("hex") + number + Buffer.from("note").toString("hex"),
    );
  });
});
