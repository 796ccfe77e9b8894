/** Every word of what is claimed about faults has tests, and they are there. */
import { describe, expect, it } from "vitest";
import { CLAIM_TABLE } from "./support/claim-table.js";
import { hasTitle } from "./support/named-tests.js";

describe("the table of claims", () => {
  it("has each claim once, with tests", () => {
    expect(new Set(CLAIM_TABLE.map(({ claim }) => claim)).size).toBe(CLAIM_TABLE.length);
    expect(CLAIM_TABLE.filter(({ tests }) => tests.length === 0)).toEqual([]);
  });

  it.each(CLAIM_TABLE)("$claim: names only tests that are there", ({ tests }) => {
    expect(tests.filter((test) => !hasTitle(test))).toEqual([]);
  });
});
