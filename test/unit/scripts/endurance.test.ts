import { describe, expect, it } from "vitest";
import { findLedgerFaults } from "../../../proof/endurance/endure.mjs";
import { valueOf } from "../../../proof/endurance/work.mjs";

const JOB = { steps: 3 };

describe("the ledger of a long task", () => {
  it("is right when every step acted, and twice only where a kill struck", () => {
    expect(findLedgerFaults(["1 a", "2 b", "3 c"], JOB, 0)).toEqual([]);
    expect(findLedgerFaults(["1 a", "2 b", "2 b", "3 c"], JOB, 1)).toEqual([]);
  });

  it("is wrong when a step is missing, acted under two keys, or acted twice without a kill", () => {
    expect(findLedgerFaults(["1 a", "3 c"], JOB, 1)).toEqual(["2 acts under keys of their own instead of 3"]);
    expect(findLedgerFaults(["1 a", "2 b", "2 x", "3 c"], JOB, 1)).toEqual([
      "4 acts under keys of their own instead of 3",
    ]);
    expect(findLedgerFaults(["1 a", "1 a", "2 b", "3 c"], JOB, 0)).toEqual(["1 acts were repeated in 0 kills"]);
  });

  it("has values that are other for every number and the same for the same one", () => {
    expect(valueOf(7, 200)).toHaveLength(200);
    expect(valueOf(7, 200)).toBe(valueOf(7, 200));
    expect(new Set([1, 2, 3, 4].map((n) => valueOf(n, 200))).size).toBe(4);
  });
});
