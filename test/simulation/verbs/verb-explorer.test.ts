/** The short form of the crash explorer of verbs; `npm run proof -- explore-crashes` runs the long one. */
import { describe, expect, it } from "vitest";
import { catchVerbMutant, VERB_CRASHES, VERB_CRASHES_TWICE, VERB_FAULTS } from "./explore-verbs.js";
import type { Scenario } from "./scenario.js";
import { SCENARIOS } from "./scenarios.js";
import { exploreVerb, exploreVerbFaults, exploreVerbTwice, type VerbSettings } from "./verb-explorer.js";
import { VERB_MUTANTS } from "./verb-mutants.js";

const TIMEOUT_MS = 120_000;
/** The costlier explorations take every fifth scenario here, and all of them in the proof for every commit. */
const SOME_SCENARIOS = SCENARIOS.filter((_scenario, at) => at % 5 === 0);

function shorten<T extends VerbSettings>(settings: T, { strideFactor = 1 }: Scenario): T {
  return { ...settings, stride: settings.stride * strideFactor };
}

describe("crash explorer of verbs", () => {
  it.each(SCENARIOS)(
    "R10: what a crash cuts off can be done again, and ends as if nothing had happened: $name",
    { timeout: TIMEOUT_MS },
    async (scenario) => {
      const found = await exploreVerb(scenario, shorten(VERB_CRASHES.quick, scenario));
      expect(found.violations.slice(0, 5)).toEqual([]);
      expect(found.images).toBeGreaterThan(5);
    },
  );

  it.each(SOME_SCENARIOS)(
    "R10: what goes on after a crash may crash too, and ends as if nothing had happened: $name",
    { timeout: TIMEOUT_MS },
    async (scenario) => {
      const found = await exploreVerbTwice(scenario, shorten(VERB_CRASHES_TWICE.quick, scenario));
      expect(found.violations.slice(0, 5)).toEqual([]);
      expect(found.images).toBeGreaterThan(3);
    },
  );

  it.each(SOME_SCENARIOS)(
    "an operation that fails is a typed error with a way on, and half of nothing: $name",
    { timeout: TIMEOUT_MS },
    async (scenario) => {
      const found = await exploreVerbFaults(scenario, shorten(VERB_FAULTS.quick, scenario));
      expect(found.violations.slice(0, 5)).toEqual([]);
      expect(found.images).toBeGreaterThan(5);
    },
  );

  it.each(VERB_MUTANTS)("sees a protocol with a fault: $name", { timeout: TIMEOUT_MS }, async (mutant) => {
    expect((await catchVerbMutant(mutant))?.violations.length).toBeGreaterThan(0);
  });
});
