import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { computeCostMicroUsd, findPrice } from "../../../../src/agents/providers/price.js";

interface PriceFile {
  readonly models: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const FILE = JSON.parse(
  readFileSync(new URL("../../../../schemas/tables/model-prices.json", import.meta.url), "utf8"),
) as PriceFile;

describe("the prices that come along", () => {
  it("say each where it was read and when, and are prices", () => {
    const entries = Object.entries(FILE.models);
    expect(entries.length).toBeGreaterThan(30);
    for (const [name, { source, as_of: asOf, ...prices }] of entries) {
      expect(source, name).toMatch(/^https:\/\//);
      expect(asOf, name).toMatch(/^20\d\d-\d\d-\d\d$/);
      for (const value of Object.values(prices)) expect(value, name).toBeGreaterThan(0);
    }
  });
});

describe("a price", () => {
  const table = {
    "a/m-1*": { input: 1, output: 2 },
    "a/m*": { input: 3, output: 4 },
    "a/m-1-x": { input: 5, output: 6 },
  };

  it("is the model's own, else of the longest beginning, else unknown", () => {
    expect(findPrice(table, "a", "m-1-x")?.input).toBe(5);
    expect(findPrice(table, "a", "m-1-y")?.input).toBe(1);
    expect(findPrice(table, "a", "m-2")?.input).toBe(3);
    expect(findPrice(table, "b", "m-2")).toBeUndefined();
  });

  it("counts what is read from and written to a cache by itself, in whole micro-dollars rounded up", () => {
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    expect(computeCostMicroUsd(price, { input: 1_000, output: 100, cacheRead: 600, cacheWrite: 200 })).toBe(
      200 * 3 + 600 * 0.3 + 200 * 3.75 + 100 * 15,
    );
    expect(computeCostMicroUsd({ input: 0.05, output: 0 }, { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(
      1,
    );
  });
});
