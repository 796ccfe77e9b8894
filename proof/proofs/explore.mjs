// One exploration of the simulated disk, or the mutants, as one line of JSON: { tried, violations }.
//   node proof/proofs/explore.mjs NAME FORM
import { register } from "tsx/esm/api";

const [name, form] = process.argv.slice(2);
register();
const { EXPLORATIONS, tryMutants } = await import("../../test/simulation/explore-all.ts");

const sum = { tried: 0, violations: [] };
if (name === "mutants") {
  for await (const mutant of tryMutants()) {
    sum.tried += 1;
    if (mutant.caughtBy === undefined) sum.violations.push(`not caught: ${mutant.name}`);
  }
} else {
  for await (const { workload, images, violations } of EXPLORATIONS[name](form)) {
    sum.tried += images;
    for (const { invariant, text } of violations) sum.violations.push(`${workload} (${invariant}): ${text}`);
  }
}
console.log(JSON.stringify(sum));
