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
import type { Scenario } from "./verbs/scenario.js";
import { SCENARIOS } from "./verbs/scenarios.js";
import { exploreVerb, exploreVerbFaults, exploreVerbTwice } from "./verbs/verb-explorer.js";
import { VERB_MUTANTS } from "./verbs/verb-mutants.js";

/** Below the verbs a crash is cheap to judge, so there are many of them in every form. */
const IMAGES: Readonly<Record<Form, ExplorerSettings>> = {
  quick: { lossesPerCrash: 6, goOnEvery: 4, stopsAtViolation: false },
  commit: { lossesPerCrash: 192, goOnEvery: 4, stopsAtViolation: false },
  long: { lossesPerCrash: 4200, goOnEvery: 4, stopsAtViolation: false },
};
export const QUICK = IMAGES.quick;
export const MUTANT: ExplorerSettings = { lossesPerCrash: 24, goOnEvery: 16, stopsAtViolation: true };

interface Job<T> {
  readonly name: string;
  readonly run: () => Promise<T>;
}
type Explorations = readonly Job<Exploration>[];

const CRASHES = "crash after every operation";
const CRASHES_TWICE = "crash of what recovers, prunes, forks, imports, rotates, shreds";
const FAILURES = "an operation fails";
const LOST_SYNCS = "a sync fails, drops its data, then succeeds";

/** By what befalls the disk; each entry by itself, in any order or process. */
const JOBS = {
  [CRASHES]: (form: Form): Explorations => [
    ...workloadJobs(["one step", "three steps", "superseded owner continues"], form),
    ...verbJobs((scenario) => exploreVerb(scenario, VERB_CRASHES[form])),
  ],
  [CRASHES_TWICE]: (form: Form): Explorations => [
    ...workloadJobs(["recovery of a killed task"], form),
    ...verbJobs((scenario) => exploreVerbTwice(scenario, VERB_CRASHES_TWICE[form])),
  ],
  [FAILURES]: (form: Form): Explorations => [
    ...workloadJobs(["an operation fails, then a crash"], form),
    ...verbJobs((scenario) => exploreVerbFaults(scenario, VERB_FAULTS[form])),
  ],
  [LOST_SYNCS]: (form: Form): Explorations => [
    ...workloadJobs(["a sync fails, killed, taken over"], form),
    ...verbJobs((scenario) => exploreVerbFaults(scenario, VERB_LOST_SYNCS[form])),
  ],
} as const;

function workloadJobs(names: readonly WorkloadName[], form: Form): Explorations {
  return names.map((name) => ({ name, run: () => WORKLOADS[name]({}, IMAGES[form]) }));
}

function verbJobs(explore: (scenario: Scenario) => Promise<Exploration>): Explorations {
  return SCENARIOS.map((scenario) => ({ name: scenario.name, run: () => explore(scenario) }));
}

async function* inTurn<T>(jobs: readonly Job<T>[]): AsyncGenerator<T> {
  for (const job of jobs) yield await job.run();
}

/** By what befalls the disk, one after the other. */
export const EXPLORATIONS = {
  [CRASHES]: (form: Form) => inTurn(JOBS[CRASHES](form)),
  [CRASHES_TWICE]: (form: Form) => inTurn(JOBS[CRASHES_TWICE](form)),
  [FAILURES]: (form: Form) => inTurn(JOBS[FAILURES](form)),
  [LOST_SYNCS]: (form: Form) => inTurn(JOBS[LOST_SYNCS](form)),
} as const;

export interface TriedMutant {
  readonly name: string;
  readonly caughtBy: Exploration | undefined;
}

const MUTANT_JOBS: readonly Job<TriedMutant>[] = [
  ...MUTANTS.map((mutant) => ({
    name: mutant.name,
    run: async () => {
      const found = await WORKLOADS[mutant.shownBy](mutant, MUTANT);
      return { name: mutant.name, caughtBy: found.violations.length > 0 ? found : undefined };
    },
  })),
  ...VERB_MUTANTS.map((mutant) => ({
    name: mutant.name,
    run: async () => ({ name: mutant.name, caughtBy: await catchVerbMutant(mutant) }),
  })),
];

/** Every protocol with one thing left out, and what it was caught by. */
export function tryMutants(): AsyncGenerator<TriedMutant> {
  return inTurn(MUTANT_JOBS);
}

interface Found {
  readonly exploration?: Exploration;
  readonly mutant?: TriedMutant;
}

/** What is to be explored: how much of each, and of what; `only` is held against `<group>: <name>`. */
export interface Wanted {
  readonly form: Form;
  readonly only: RegExp;
}

interface GroupedJob extends Job<Found> {
  readonly group: string;
}

/** Everything wanted as one list, so that processes may share it. Shape: the same list for the same wish, in every process. */
export function listJobs({ form, only }: Wanted): readonly GroupedJob[] {
  const explorations = Object.entries(JOBS).flatMap(([group, jobs]) =>
    jobs(form).map(({ name, run }) => ({ group, name, run: async () => ({ exploration: await run() }) })),
  );
  const mutants = MUTANT_JOBS.map(({ name, run }) => ({
    group: "mutants",
    name,
    run: async () => ({ mutant: await run() }),
  }));
  return [...explorations, ...mutants].filter(({ group, name }) => only.test(`${group}: ${name}`));
}

export interface ExploreAllOptions extends Wanted {
  readonly print: (line: string) => void;
  /** Runs the job of that number of `listJobs`; called for all of them at once. */
  readonly runJob: (index: number) => Promise<Found>;
}

const WIDTH = 72;
const COLUMNS = ["operations", "images", "distinct", "violations"] as const;

/** Prints each finding in the order of the list. The answer is the exit status: 0 when nothing was found and every mutant was. */
export async function exploreAll({ print, runJob, ...wanted }: ExploreAllOptions): Promise<number> {
  const startMs = performance.now();
  const sum = { operations: 0, images: 0, distinct: 0, violations: 0, mutants: 0, caught: 0 };
  print(formatRow("explored", COLUMNS));
  let group = "";
  const pending = listJobs(wanted).map((job, index) => ({ group: job.group, found: runJob(index) }));
  for (const job of pending) {
    if (job.group !== group) print(`${job.group}:`);
    group = job.group;
    const { exploration, mutant } = await job.found;
    if (exploration !== undefined) {
      sum.operations += exploration.operations;
      sum.images += exploration.images;
      sum.distinct += exploration.distinct;
      sum.violations += exploration.violations.length;
      for (const line of formatExploration(exploration)) print(line);
    }
    if (mutant !== undefined) {
      sum.mutants += 1;
      if (mutant.caughtBy !== undefined) sum.caught += 1;
      print(formatMutant(mutant));
    }
  }
  print(formatRow("in all", [sum.operations, sum.images, sum.distinct, sum.violations]));
  print(`mutants caught: ${sum.caught} of ${sum.mutants}`);
  print(`${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  const isGood = pending.length > 0 && sum.violations === 0 && sum.caught === sum.mutants;
  return isGood ? 0 : 1;
}

function formatRow(name: string, figures: readonly (string | number)[]): string {
  return name.padEnd(WIDTH) + figures.map((figure) => ` ${String(figure).padStart(10)}`).join("");
}

function* formatExploration(exploration: Exploration): Generator<string> {
  const { workload, operations, images, distinct, violations } = exploration;
  yield formatRow(`  ${workload}`, [operations, images, distinct, violations.length]);
  for (const { invariant, text } of violations.slice(0, 3)) yield `    (${invariant}) ${text}`;
}

function formatMutant({ name, caughtBy }: TriedMutant): string {
  const first = caughtBy?.violations[0];
  const by = first === undefined ? "" : `: (${first.invariant}) ${first.text}, in "${caughtBy?.workload}"`;
  return `  ${caughtBy === undefined ? "NOT CAUGHT" : "caught"}  ${name}${by}`;
}
