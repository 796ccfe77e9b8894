import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describePeers, formatLine, formatTable, RESULTS, writeTable } from "../../../proof/measures/results.mjs";

const page = readFileSync(join(import.meta.dirname, "../../../docs/benchmarks.md"), "utf8");
const kept = JSON.parse(readFileSync(RESULTS, "utf8"));

describe("the results of the bench", () => {
  it("stand in their page as they were measured", () => {
    expect(page).toContain(formatTable(kept));
  });

  it("have a figure, a ratio and a bound for each measure, and say whether it is met", () => {
    expect(kept.results.length).toBeGreaterThanOrEqual(12);
    for (const { name, figure, ratio, bound, met } of kept.results) {
      expect([name, figure, ratio, bound].every((part) => typeof part === "string" || Number.isFinite(part))).toBe(
        true,
      );
      expect(met).toBe(ratio <= bound);
    }
  });

  it("replace the table between the marks and nothing else", () => {
    const changed = writeTable(page, { ...kept, at: "1969-07-24" });
    expect(changed).toContain("Measured 1969-07-24");
    expect(writeTable(changed, kept)).toBe(page);
    expect(() => writeTable("# no marks", kept)).toThrow("no place for the results");
  });

  it("mark what is over its bound, in text and table", () => {
    const over = { name: "x", value: "2 ms", beside: "bound 1 ms", ratio: 2, bound: 1, met: false };
    expect(formatLine(over)).toMatch(/^OVER x .*2\.00 of 1$/);
    expect(formatTable({ ...kept, results: [over], peers: [] })).toContain("| 2.00 of 1, **over** |");
  });

  it("tell peers as multiples of us, or why they were left out", () => {
    const results = [
      { name: "durable step, sealed", figure: 0.5 },
      { name: "bytes of 1000 steps × 1 KB", figure: 2e6 },
    ];
    const peers = [
      { name: "one", stepMs: 2, onDisk: 500e6 },
      { name: "other", skipped: "there is no initdb on this machine" },
    ];
    expect(describePeers({ results, peers })).toEqual([
      "one: 2.00 ms a step, 4.0× ours; 1,000 steps × 1 KB take 500 MB on disk, 250× ours",
      "other: skipped, there is no initdb on this machine",
    ]);
  });
});
