import { describe, expect, it } from "vitest";
import { FLOORS, judgeCoverage } from "../../../scripts/coverage-floors.mjs";

interface Counts {
  readonly covered: number;
  readonly total: number;
}

const ROOMS = Object.keys(FLOORS.branches);

/** A report in which every room has these branches, but for the planted one. */
function reportOf(branches: Counts, planted: Readonly<Record<string, Counts>> = {}, lines = 95): object {
  const files = ROOMS.map((room) => [`/any/src/${room}/one.ts`, { branches: planted[room] ?? branches }]);
  return { total: { lines: { pct: lines }, branches }, ...Object.fromEntries(files) };
}

describe("coverage floors", () => {
  it("let a report pass that reaches them all", () => {
    expect(judgeCoverage(reportOf({ covered: 99, total: 100 }))).toEqual([]);
  });

  it.each(ROOMS)("name %s when a branch too many of it is never taken", (room) => {
    const found = judgeCoverage(reportOf({ covered: 1000, total: 1000 }, { [room]: { covered: 899, total: 1000 } }));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`branches of ${room}/: 89.90 %`);
  });

  it("name the lines when too few are run, and every room that no report has", () => {
    expect(judgeCoverage(reportOf({ covered: 1, total: 1 }, {}, 89.9))).toEqual([
      "lines overall: 89.9 % of at least 90 %",
    ]);
    expect(judgeCoverage({ total: { lines: { pct: 100 } } })).toHaveLength(ROOMS.length);
  });
});
