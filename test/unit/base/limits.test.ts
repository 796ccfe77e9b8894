import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/base/limits.js";

const limits = Object.entries<number>(LIMITS);

describe("LIMITS", () => {
  it.each(limits)("%s is a whole number above zero with its unit in the name", (name, value) => {
    expect(Number.isSafeInteger(value) && value > 0).toBe(true);
    expect(name).toMatch(/(Ms|Bytes|BytesMax|Max|Min|Factor|Fuel)$/);
  });

  it("fit into each other", () => {
    expect(LIMITS.blobChunkBytes).toBeLessThanOrEqual(LIMITS.blobThresholdBytes);
    expect(LIMITS.blobThresholdBytes).toBeLessThan(LIMITS.stepOutputBytesMax);
    expect(LIMITS.stepOutputBytesMax).toBeLessThan(LIMITS.recordBytesMax);
    expect(LIMITS.protocolLineBytesMax).toBeLessThan(LIMITS.stepOutputBytesMax);
    expect(LIMITS.ownerBeatMs * 2).toBeLessThan(LIMITS.ownerWatchMs);
  });
});
