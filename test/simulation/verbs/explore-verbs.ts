/** The forms in which whole verbs are explored: crashes, faults, mutants; each short, for every commit, and long. */
import { SCENARIOS } from "./scenarios.js";
import type { Scenario } from "./scenario.js";
import { FAULTS } from "../fault-plan.js";
import {
  exploreVerb,
  exploreVerbFaults,
  exploreVerbTwice,
  type FaultSettings,
  type TwofoldSettings,
  type VerbExploration,
  type VerbSettings,
} from "./verb-explorer.js";
import { VERB_MUTANTS, type VerbMutant } from "./verb-mutants.js";

type Form = "short" | "long";

export const VERB_CRASHES: Readonly<Record<Form, VerbSettings>> = {
  short: { lossesPerCrash: 2, stride: 7, stopsAtViolation: false },
  long: { lossesPerCrash: 6, stride: 1, stopsAtViolation: false },
};

export const VERB_CRASHES_TWICE: Readonly<Record<Form, TwofoldSettings>> = {
  short: { lossesPerCrash: 1, stride: 13, firstCrashes: 2, stopsAtViolation: false },
  long: { lossesPerCrash: 2, stride: 1, firstCrashes: 12, stopsAtViolation: false },
};

export const VERB_FAULTS: Readonly<Record<Form, FaultSettings>> = {
  short: { lossesPerCrash: 1, stride: 41, faults: FAULTS, stopsAtViolation: false },
  long: { lossesPerCrash: 1, stride: 1, faults: FAULTS, stopsAtViolation: false },
};

/** A sync that fails drops what it was to cover, and the next one of that file succeeds. */
export const VERB_LOST_SYNCS: FaultSettings = {
  lossesPerCrash: 3,
  stride: 1,
  faults: ["EIO"],
  befalls: ["sync", "datasync", "syncFolder"],
  stopsAtViolation: false,
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

/** Everything, one after the other: what was found on the right protocol, then each mutant with what caught it. */
export async function exploreVerbs(form: Form): Promise<{
  readonly found: readonly VerbExploration[];
  readonly mutants: readonly { readonly name: string; readonly caughtBy: VerbExploration | undefined }[];
}> {
  const found: VerbExploration[] = [];
  for (const scenario of SCENARIOS) {
    found.push(await exploreVerb(scenario, VERB_CRASHES[form]));
    found.push(named(await exploreVerbTwice(scenario, VERB_CRASHES_TWICE[form]), "crashed twice"));
    found.push(named(await exploreVerbFaults(scenario, VERB_FAULTS[form]), "faults"));
  }
  const mutants: { name: string; caughtBy: VerbExploration | undefined }[] = [];
  for (const mutant of VERB_MUTANTS) mutants.push({ name: mutant.name, caughtBy: await catchVerbMutant(mutant) });
  return { found, mutants };
}

function named(found: VerbExploration, what: string): VerbExploration {
  return { ...found, workload: `${found.workload}; ${what}` };
}
