/** The forms in which whole verbs are explored: crashes, faults, mutants; each short, for every commit, and long. */
import { SCENARIOS } from "./scenarios.js";
import type { Scenario } from "./scenario.js";
import {
  ALL_FAULTS,
  exploreVerb,
  exploreVerbFaults,
  type VerbExploration,
  type VerbSettings,
} from "./verb-explorer.js";
import { VERB_MUTANTS, type VerbMutant } from "./verb-mutants.js";

export const VERB_CRASHES: Readonly<Record<"short" | "long", VerbSettings>> = {
  short: { lossesPerCrash: 2, stride: 7, faults: [], stopsAtViolation: false },
  long: { lossesPerCrash: 6, stride: 1, faults: [], stopsAtViolation: false },
};

export const VERB_FAULTS: Readonly<Record<"short" | "long", VerbSettings>> = {
  short: { lossesPerCrash: 1, stride: 41, faults: ALL_FAULTS, stopsAtViolation: false },
  long: { lossesPerCrash: 1, stride: 1, faults: ALL_FAULTS, stopsAtViolation: false },
};

const MUTANT: VerbSettings = { lossesPerCrash: 3, stride: 1, faults: [], stopsAtViolation: true };

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
export async function exploreVerbs(form: "short" | "long"): Promise<{
  readonly found: readonly VerbExploration[];
  readonly mutants: readonly { readonly name: string; readonly caughtBy: VerbExploration | undefined }[];
}> {
  const found: VerbExploration[] = [];
  for (const scenario of SCENARIOS) {
    found.push(await exploreVerb(scenario, VERB_CRASHES[form]));
    const faults = await exploreVerbFaults(scenario, VERB_FAULTS[form]);
    found.push({ ...faults, workload: `${faults.workload}; faults` });
  }
  const mutants: { name: string; caughtBy: VerbExploration | undefined }[] = [];
  for (const mutant of VERB_MUTANTS) mutants.push({ name: mutant.name, caughtBy: await catchVerbMutant(mutant) });
  return { found, mutants };
}
