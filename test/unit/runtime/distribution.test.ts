import { describe, expect, it } from "vitest";
import { summariseValues } from "../../../src/runtime/views/distribution.js";

describe("summariseValues", () => {
  it("takes percentiles by nearest rank, whatever the order", () => {
    const values = Array.from({ length: 100 }, (_value, at) => 100 - at);
    expect(summariseValues(values, "ms")).toEqual({ unit: "ms", count: 100, mean: 50.5, p50: 50, p95: 95, max: 100 });
  });

  it("is all zero for nothing, and the value itself for one", () => {
    expect(summariseValues([], "bytes")).toEqual({ unit: "bytes", count: 0, mean: 0, p50: 0, p95: 0, max: 0 });
    expect(summariseValues([7], "bytes")).toEqual({ unit: "bytes", count: 1, mean: 7, p50: 7, p95: 7, max: 7 });
  });
});
