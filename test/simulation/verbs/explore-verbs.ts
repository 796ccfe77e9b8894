/** The forms in which whole verbs are explored: crashes, faults, mutants; each short, for every commit, and long. */
import type { VerbMutant } from "./verb-mutants.js";
import { SCENARIOS } from "./scenarios.js";
import type { Scenario } from "./scenario.js";
import { FAULTS } from "../fault-plan.js";
import {
  exploreVerb,
  type FaultSettings,
  type TwofoldSettings,
  type VerbExploration,
  type VerbSettings,
} from "./verb-explorer.js";

/** How much is tried: in every run of the tests, by `scripts/prove` for every commit, in a night. */
export type Form = "quick" | "commit" | "long";

export const VERB_CRASHES: Readonly<Record<Form, VerbSettings>> = {
  quick: { lossesPerCrash: 2, stride: 13, stopsAtViolation: false },
  commit: { lossesPerCrash: 2, stride: 2, stopsAtViolation: false },
  long: { lossesPerCrash: 6, stride: 1, stopsAtViolation: false },
};

export const VERB_CRASHES_TWICE: Readonly<Record<Form, TwofoldSettings>> = {
  quick: { lossesPerCrash: 1, stride: 23, firstCrashes: 2, stopsAtViolation: false },
  commit: { lossesPerCrash: 1, stride: 7, firstCrashes: 4, stopsAtViolation: false },
  long: { lossesPerCrash: 2, stride: 1, firstCrashes: 12, stopsAtViolation: false },
};

export const VERB_FAULTS: Readonly<Record<Form, FaultSettings>> = {
  quick: { lossesPerCrash: 1, stride: 61, faults: FAULTS, stopsAtViolation: false },
  commit: { lossesPerCrash: 1, stride: 5, faults: FAULTS, stopsAtViolation: false },
  long: { lossesPerCrash: 20, stride: 1, faults: FAULTS, stopsAtViolation: false },
};

const LOST_SYNCS: FaultSettings = {
  lossesPerCrash: 1,
  stride: 1,
  faults: ["EIO"],
  befalls: ["sync", "datasync", "syncFolder"],
  stopsAtViolation: false,
};

/** A sync that fails drops what it was to cover, and the next one of that file succeeds. */
export const VERB_LOST_SYNCS: Readonly<Record<Form, FaultSettings>> = {
  quick: { ...LOST_SYNCS, stride: 17 },
  commit: LOST_SYNCS,
  long: { ...LOST_SYNCS, lossesPerCrash: 12 },
};

const MUTANT: VerbSettings = { lossesPerCrash: 3, stride: 1, stopsAtViolation: true };

/** The exploration that caught the mutant; `undefined` when nothing did. */
export async function catchVerbMutant({ shownBy, wrap, from = 0 }: VerbMutant): Promise<VerbExploration | undefined> {
  const found = await exploreVerb(requireScenario(shownBy), { ...MUTANT, from }, wrap);
  return found.violations.length > 0 ? found : undefined;
}

function requireScenario(name: string): Scenario {
  const scenario = SCENARIOS.find((candidate) => candidate.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  return scenario;
}
