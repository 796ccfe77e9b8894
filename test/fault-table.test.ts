/** The table of faults names tests that are there, and every rank that the core alone must bear. */
import { describe, expect, it } from "vitest";
import { FAULT_TABLE, type FaultRow } from "./support/fault-table.js";
import { hasTitle } from "./support/named-tests.js";

/** FAULTS as far as they concern one machine, and models and tools as a client. */
const RANKS = [1, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 19, 20, 22, 24, 26, 29, 31, 37, 38, 40, 45, 47, 49, 52];

/** What a table names that is not there. */
function findMissing(table: readonly FaultRow[]): string[] {
  return table.flatMap(({ rank, tests }) =>
    tests.filter((test) => !hasTitle(test)).map(({ file, title }) => `${rank}: ${file}: ${title}`),
  );
}

describe("the table of faults", () => {
  it("has every rank once, each with tests", () => {
    expect(FAULT_TABLE.map(({ rank }) => rank)).toEqual(RANKS);
    expect(FAULT_TABLE.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it("names only tests that are there", () => {
    expect(findMissing(FAULT_TABLE)).toEqual([]);
  });

  it("sees a test that was renamed, and a file that is gone", () => {
    const planted = [
      { file: "unit/engine/group.test.ts", title: "a rate limit is no matter" },
      { file: "unit/engine/gone.test.ts", title: "a rate limit is a pause" },
    ];
    expect(findMissing([{ rank: 1, fault: "planted", tests: planted }])).toHaveLength(2);
  });
});
