/** The long form: every workload and every verb on the right protocol, then every mutant, as a table. */
import { performance } from "node:perf_hooks";
import { WORKLOADS, type Exploration, type ExplorerSettings } from "./explorer.js";
import { MUTANTS, type Mutant } from "./mutants.js";
import { exploreVerbs } from "./verbs/explore-verbs.js";

export interface ExploreAllOptions {
  readonly isQuick: boolean;
  readonly isJson: boolean;
  readonly print: (line: string) => void;
}

export const FULL: ExplorerSettings = { lossesPerCrash: 96, goOnEvery: 16, stopsAtViolation: false };
export const QUICK: ExplorerSettings = { lossesPerCrash: 6, goOnEvery: 16, stopsAtViolation: false };
export const MUTANT: ExplorerSettings = { lossesPerCrash: 24, goOnEvery: 16, stopsAtViolation: true };
const WIDTH = 72;
/** Images that the full form must reach. */
const IMAGES_MIN = 30_000;

/** The answer is the exit status: 0 when nothing was found and every mutant was. */
export async function exploreAll({ isQuick, isJson, print }: ExploreAllOptions): Promise<number> {
  const startMs = performance.now();
  const found: Exploration[] = [];
  for (const workload of Object.values(WORKLOADS)) found.push(await workload({}, isQuick ? QUICK : FULL));
  const mutants: { readonly name: string; readonly caughtBy: Exploration | undefined }[] = [];
  for (const mutant of MUTANTS) mutants.push({ name: mutant.name, caughtBy: await catchMutant(mutant) });
  const verbs = await exploreVerbs(isQuick ? "short" : "long");
  found.push(...verbs.found);
  mutants.push(...verbs.mutants);
  const images = found.reduce((sum, { images: count }) => sum + count, 0);
  const violations = found.flatMap((exploration) => exploration.violations);
  const isEnough = isQuick || images >= IMAGES_MIN;
  const isGood = violations.length === 0 && isEnough && mutants.every(({ caughtBy }) => caughtBy !== undefined);
  const seconds = (performance.now() - startMs) / 1000;
  if (isJson) print(JSON.stringify({ workloads: found, mutants, images, seconds, ok: isGood }));
  else for (const line of formatTable({ found, mutants, images, seconds })) print(line);
  return isGood ? 0 : 1;
}

async function catchMutant(mutant: Mutant): Promise<Exploration | undefined> {
  const found = await WORKLOADS[mutant.shownBy](mutant, MUTANT);
  return found.violations.length > 0 ? found : undefined;
}

interface Table {
  readonly found: readonly Exploration[];
  readonly mutants: readonly { readonly name: string; readonly caughtBy: Exploration | undefined }[];
  readonly images: number;
  readonly seconds: number;
}

function* formatTable({ found, mutants, images, seconds }: Table): Generator<string> {
  yield `${"workload".padEnd(WIDTH)} ${"operations".padStart(10)} ${"images".padStart(8)} ${"violations".padStart(10)}`;
  for (const { workload, operations, images: count, violations } of found) {
    yield `${workload.padEnd(WIDTH)} ${String(operations).padStart(10)} ${String(count).padStart(8)} ${String(violations.length).padStart(10)}`;
    for (const { invariant, text } of violations.slice(0, 3)) yield `  (${invariant}) ${text}`;
  }
  const total = found.reduce((sum, { violations }) => sum + violations.length, 0);
  yield `${"in all".padEnd(WIDTH)} ${"".padStart(10)} ${String(images).padStart(8)} ${String(total).padStart(10)}`;
  yield "";
  yield `mutants caught: ${mutants.filter(({ caughtBy }) => caughtBy !== undefined).length} of ${mutants.length}`;
  for (const { name, caughtBy } of mutants) {
    const first = caughtBy?.violations[0];
    yield `  ${caughtBy === undefined ? "NOT CAUGHT" : "caught"}  ${name}${first === undefined ? "" : `: (${first.invariant}) ${first.text}, in "${caughtBy?.workload}"`}`;
  }
  yield `${seconds.toFixed(0)} s`;
}
