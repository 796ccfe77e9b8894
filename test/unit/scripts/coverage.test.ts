import { describe, expect, it } from "vitest";
import { describeRooms, FLOORS, judgeCoverage } from "../../../proof/proofs/coverage-floors.mjs";

const ROOMS = Object.keys(FLOORS.branches);

/** A file with one `if` on line 1, taken so often each way, and statements on lines that are run or not. */
function fileOf(branches: readonly number[], lines: readonly number[] = [1]): object {
  return {
    b: { 0: branches },
    branchMap: {
      0: {
        type: "if",
        loc: { start: { line: 7 } },
        locations: branches.map((_count, way) => (way === 1 ? {} : { start: { line: 10 + way } })),
      },
    },
    s: Object.fromEntries(lines.map((count, at) => [at, count])),
    statementMap: Object.fromEntries(lines.map((_count, at) => [at, { start: { line: at + 1 } }])),
  };
}

const counts = (covered: number, total: number): number[] =>
  Array.from({ length: total }, (_none, at) => (at < covered ? 1 : 0));

/** A report in which every room has these branches, but for the planted one. */
function reportOf(branches: readonly number[], planted: Readonly<Record<string, readonly number[]>> = {}): object {
  return Object.fromEntries(ROOMS.map((room) => [`/any/src/${room}/one.ts`, fileOf(planted[room] ?? branches)]));
}

describe("coverage floors", () => {
  it("let a report pass that reaches them all", () => {
    expect(judgeCoverage(reportOf(counts(99, 100))).short).toEqual([]);
  });

  it.each(ROOMS)("name %s when a branch too many of it is never taken", (room) => {
    const { short } = judgeCoverage(reportOf(counts(100, 100), { [room]: counts(979, 1000) }));
    expect(short).toEqual([`branches of ${room}/: 97.90 % of at least 98 %`]);
  });

  it("name the lines when too few are run, and every room that no report has", () => {
    const lines = { ...reportOf([1]), "/any/src/cli/one.ts": fileOf([1], counts(3, 5)) };
    expect(judgeCoverage(lines).short).toEqual(["lines overall: 80.00 % of at least 90 %"]);
    expect(judgeCoverage({}).short).toHaveLength(1 + ROOMS.length);
  });

  it("tell every branch that is never taken with its file and line, also the one without a place of its own", () => {
    const { rooms } = judgeCoverage(reportOf([1, 1], { vault: [0, 0, 5] }));
    expect(describeRooms(rooms).slice(0, 4)).toEqual([
      "branches of vault/: 33.33 % (1 of 3)",
      "  src/vault/one.ts:10 if",
      "  src/vault/one.ts:7 if",
      "branches of journal/: 100.00 % (2 of 2)",
    ]);
  });
});
