/** The short form of the crash explorer; `node scripts/explore-crashes.mjs` runs the long one. */
import { describe, expect, it } from "vitest";
import { WORKLOADS } from "./explorer.js";
import { MUTANTS } from "./mutants.js";

describe("crash explorer", () => {
  it.each(Object.keys(WORKLOADS))(
    "R10: finds nothing wrong after any crash: %s",
    async (name) => {
      const found = await WORKLOADS[name]?.({}, { lossesPerCrash: 6, goOnEvery: 8, stopsAtViolation: false });
      expect(found?.violations.slice(0, 5)).toEqual([]);
      expect(found?.images).toBeGreaterThan(200);
    },
    60_000,
  );

  it.each(MUTANTS)(
    "sees a protocol with a fault: $name",
    async (mutant) => {
      let violations = 0;
      for (const workload of Object.values(WORKLOADS)) {
        violations += (await workload(mutant, { lossesPerCrash: 9, goOnEvery: 8, stopsAtViolation: true })).violations
          .length;
        if (violations > 0) break;
      }
      expect(violations).toBeGreaterThan(0);
    },
    60_000,
  );
});
