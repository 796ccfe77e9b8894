import { describe, expect, it } from "vitest";
import { createUuid, isUuid } from "../../../src/base/ids.js";
import { createSeededRandom } from "../../support/seeded-random.js";

describe("createUuid", () => {
  it("sets version and variant of version 4 and keeps the other bits", () => {
    const fixed = (byte: number) => createUuid({ bytes: (count) => new Uint8Array(count).fill(byte) });
    expect(fixed(0x00)).toBe("00000000-0000-4000-8000-000000000000");
    expect(fixed(0xff)).toBe("ffffffff-ffff-4fff-bfff-ffffffffffff");
  });

  it("gives equal ids for equal randomness, and different ones otherwise", () => {
    expect(createUuid(createSeededRandom(1))).toBe(createUuid(createSeededRandom(1)));
    const random = createSeededRandom(2);
    const ids = new Set(Array.from({ length: 500 }, () => createUuid(random)));
    expect(ids.size).toBe(500);
    expect([...ids].every(isUuid)).toBe(true);
  });
});

describe("isUuid", () => {
  it.each([
    ["00000000-0000-4000-8000-000000000000", true],
    ["0190163d-8694-739b-aea5-966c26f8ad91", true],
    ["0190163D-8694-739B-AEA5-966C26F8AD91", false],
    ["00000000-0000-0000-8000-000000000000", false],
    ["00000000-0000-4000-7000-000000000000", false],
    ["00000000-0000-4000-8000-00000000000", false],
    ["00000000-0000-4000-8000-000000000000\n", false],
    ["../../etc/passwd", false],
    ["", false],
  ])("%j: %s", (text, answer) => {
    expect(isUuid(text)).toBe(answer);
  });
});
