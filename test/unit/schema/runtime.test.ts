/** Ajv's own functions are the oracle. */
import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countCodePoints, isDeepEqual } from "../../../src/schema/runtime.js";

const require = createRequire(import.meta.url);
const ucs2length = (require("ajv/dist/runtime/ucs2length") as { default: (text: string) => number }).default;
const equal = (require("ajv/dist/runtime/equal") as { default: (left: unknown, right: unknown) => boolean }).default;

describe("countCodePoints", () => {
  it("counts as ajv does, also across surrogates", () => {
    expect(countCodePoints("aé😀")).toBe(3);
    expect(countCodePoints("\ud83d\ud83d\ude00\ude00")).toBe(3);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", "\ud83d", "\ude00", "😀"), (text, more) => {
        expect(countCodePoints(text + more)).toBe(ucs2length(text + more));
      }),
    );
  });
});

describe("isDeepEqual", () => {
  it("agrees with ajv on all JSON values", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (left, right) => {
        // Ajv's own comparison calls these and throws when they are no functions.
        fc.pre(!/"(?:valueOf|toString|constructor)":/.test(JSON.stringify([left, right])));
        expect(isDeepEqual(left, right)).toBe(equal(left, right));
        expect(isDeepEqual(left, structuredClone(left))).toBe(true);
      }),
    );
  });

  it.each([
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }, true],
    [[1, 2], [1], false],
    [[1], { 0: 1 }, false],
    [{ 0: 1 }, [1], false],
    [0, -0, true],
    [null, {}, false],
    [{}, null, false],
    ["1", 1, false],
    [{ valueOf: [] }, {}, false],
    [{ toString: 1, constructor: 2 }, { constructor: 2, toString: 1 }, true],
  ])("of %j and %j is %s", (left, right, verdict) => expect(isDeepEqual(left, right)).toBe(verdict));
});
