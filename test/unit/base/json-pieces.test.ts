import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeJsonPieces } from "../../../src/base/json-pieces.js";

const PIECE_CHARS_MAX = 64 * 1024;
const numbered = (count: number, of: (at: number) => unknown) => Array.from({ length: count }, (_none, at) => of(at));
const fields = (count: number, of: (at: number) => unknown) =>
  Object.fromEntries(numbered(count, (at) => [`key ${at}`, of(at)]) as [string, unknown][]);

const LARGE: readonly (readonly [string, unknown])[] = [
  ["a long text", "añ\n🙂".repeat(100_000)],
  ["a text of halves of pairs", "\ud83d".repeat(50_000)],
  ["pairs at odd places", `x${"🙂".repeat(50_000)}`],
  ["many numbers", numbered(200_000, (at) => at / 7)],
  ["many small objects", numbered(20_000, (at) => ({ at, name: `member ${at}`, ok: at % 2 === 0, none: null }))],
  ["an object with many keys", fields(20_000, (at) => ({ output: { value: at } }))],
  ["nested lists around a text", [[[[["x".repeat(200_000)]]]], 1]],
  ["a mixture", { a: 1, gone: undefined, b: ["y".repeat(100_000), { c: "z".repeat(40_000), gone: undefined }], d: [] }],
];

describe("JSON in pieces", () => {
  it("is the text of JSON.stringify", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect([...encodeJsonPieces(value)]).toEqual([JSON.stringify(value)]);
      }),
    );
    expect([...encodeJsonPieces({ a: undefined, b: [undefined] })]).toEqual(['{"b":[null]}']);
  });

  it.each(LARGE)("cuts %s into pieces of at most 64 KB", (_what, value) => {
    const pieces = [...encodeJsonPieces(value)];
    expect(pieces.join("")).toBe(JSON.stringify(value));
    expect(pieces.length).toBeGreaterThan(2);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(PIECE_CHARS_MAX);
  });

  it("makes few pieces of many small things", () => {
    expect([...encodeJsonPieces(numbered(100_000, () => 1))].length).toBeLessThan(60);
    expect([...encodeJsonPieces(fields(10_000, () => 1))].length).toBeLessThan(10);
  });
});
