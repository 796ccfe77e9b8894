/**
 * All that is explored on a simulated disk, by what befalls it: crashes, crashes of what recovers, operations that fail,
 * syncs that drop what they were to cover; and the mutants, each of which must show.
 */
import { performance } from "node:perf_hooks";
import { WORKLOADS, type Exploration, type ExplorerSettings, type WorkloadName } from "./explorer.js";
import { MUTANTS } from "./mutants.js";
import {
  catchVerbMutant,
  VERB_CRASHES,
  VERB_CRASHES_TWICE,
  VERB_FAULTS,
  VERB_LOST_SYNCS,
  type Form,
} from "./verbs/explore-verbs.js";
import { SCENARIOS } from "./verbs/scenarios.js";
import { exploreVerb, exploreVerbFaults, exploreVerbTwice } from "./verbs/verb-explorer.js";
import { VERB_MUTANTS } from "./verbs/verb-mutants.js";

/** Below the verbs a crash is cheap to judge, so there are many of them in every form. */
const IMAGES: Readonly<Record<Form, ExplorerSettings>> = {
  quick: { lossesPerCrash: 6, goOnEvery: 16, stopsAtViolation: false },
  commit: { lossesPerCrash: 192, goOnEvery: 16, stopsAtViolation: false },
  long: { lossesPerCrash: 2400, goOnEvery: 16, stopsAtViolation: false },
};
export const QUICK = IMAGES.quick;
export const MUTANT: ExplorerSettings = { lossesPerCrash: 24, goOnEvery: 16, stopsAtViolation: true };

type Explorations = AsyncGenerator<Exploration>;

/** By what befalls the disk. */
export const EXPLORATIONS = {
  "crash after every operation": async function* (form: Form): Explorations {
    yield* exploreWorkloads(["one step", "three steps", "superseded owner goes on"], form);
    for (const scenario of SCENARIOS) yield await exploreVerb(scenario, VERB_CRASHES[form]);
  },
  "crash of what recovers, prunes, forks, pins, rotates": async function* (form: Form): Explorations {
    yield* exploreWorkloads(["recovery of a killed task"], form);
    for (const scenario of SCENARIOS) yield await exploreVerbTwice(scenario, VERB_CRASHES_TWICE[form]);
  },
  "an operation fails": async function* (form: Form): Explorations {
    yield* exploreWorkloads(["an operation fails, then a crash"], form);
    for (const scenario of SCENARIOS) yield await exploreVerbFaults(scenario, VERB_FAULTS[form]);
  },
  "a sync fails, drops its data, then succeeds": async function* (form: Form): Explorations {
    yield* exploreWorkloads(["a sync fails, killed, taken over"], form);
    for (const scenario of SCENARIOS) yield await exploreVerbFaults(scenario, VERB_LOST_SYNCS[form]);
  },
} as const;

async function* exploreWorkloads(names: readonly WorkloadName[], form: Form): Explorations {
  for (const name of names) yield await WORKLOADS[name]({}, IMAGES[form]);
}

export interface TriedMutant {
  readonly name: string;
  readonly caughtBy: Exploration | undefined;
}

/** Every protocol with one thing left out, and what it was caught by. */
export async function* tryMutants(): AsyncGenerator<TriedMutant> {
  for (const mutant of MUTANTS) {
    const found = await WORKLOADS[mutant.shownBy](mutant, MUTANT);
    yield { name: mutant.name, caughtBy: found.violations.length > 0 ? found : undefined };
  }
  for (const mutant of VERB_MUTANTS) yield { name: mutant.name, caughtBy: await catchVerbMutant(mutant) };
}

export interface ExploreAllOptions {
  readonly form: Form;
  readonly print: (line: string) => void;
}

const WIDTH = 72;

/** Prints each finding when it is made. The answer is the exit status: 0 when nothing was found and every mutant was. */
export async function exploreAll({ form, print }: ExploreAllOptions): Promise<number> {
  const startMs = performance.now();
  const sum = { images: 0, violations: 0 };
  print(
    `${"explored".padEnd(WIDTH)} ${"operations".padStart(10)} ${"images".padStart(8)} ${"violations".padStart(10)}`,
  );
  for (const [what, explore] of Object.entries(EXPLORATIONS)) {
    print(`${what}:`);
    for await (const found of explore(form)) {
      sum.images += found.images;
      sum.violations += found.violations.length;
      for (const line of formatExploration(found)) print(line);
    }
  }
  print(`${"in all".padEnd(WIDTH + 11)} ${String(sum.images).padStart(8)} ${String(sum.violations).padStart(10)}`);
  const mutants: TriedMutant[] = [];
  for await (const mutant of tryMutants()) {
    mutants.push(mutant);
    print(formatMutant(mutant));
  }
  const caught = mutants.filter(({ caughtBy }) => caughtBy !== undefined).length;
  print(`mutants caught: ${caught} of ${mutants.length}`);
  print(`${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  return sum.violations === 0 && caught === mutants.length ? 0 : 1;
}

function* formatExploration({ workload, operations, images, violations }: Exploration): Generator<string> {
  const name = `  ${workload}`.padEnd(WIDTH);
  yield `${name} ${String(operations).padStart(10)} ${String(images).padStart(8)} ${String(violations.length).padStart(10)}`;
  for (const { invariant, text } of violations.slice(0, 3)) yield `    (${invariant}) ${text}`;
}

function formatMutant({ name, caughtBy }: TriedMutant): string {
  const first = caughtBy?.violations[0];
  const by = first === undefined ? "" : `: (${first.invariant}) ${first.text}, in "${caughtBy?.workload}"`;
  return `  ${caughtBy === undefined ? "NOT CAUGHT" : "caught"}  ${name}${by}`;
}
