/** The short form of the crash explorer; `npm run proof -- explore-crashes` runs the long one. */
import { describe, expect, it } from "vitest";
import { MUTANT, QUICK } from "./explore-all.js";
import { WORKLOADS, type WorkloadName } from "./explorer.js";
import { MUTANTS } from "./mutants.js";

const names = Object.keys(WORKLOADS) as WorkloadName[];

describe("crash explorer", () => {
  it.each(names)("R10: finds nothing wrong after any crash: %s", async (name) => {
    const found = await WORKLOADS[name]({}, QUICK);
    expect(found.violations.slice(0, 5)).toEqual([]);
    expect(found.images).toBeGreaterThan(150);
  });

  it.each(MUTANTS)("sees a protocol with a fault: $name", async (mutant) => {
    const found = await WORKLOADS[mutant.shownBy](mutant, MUTANT);
    expect(found.violations.length).toBeGreaterThan(0);
  });
});
