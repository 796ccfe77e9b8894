// The attack explorer as one line of JSON: { tried, violations }, with what became of the attacks on stderr.
//   node proof/proofs/attacks.mjs [EVERY [FROM [ON [ONLY]]]]    ON: folder (default), sqlite, pglite
import { register } from "tsx/esm/api";

const [every = "1", from = "0", on = "folder", only = "."] = process.argv.slice(2);
register();
const { exploreAttacks } = await import("../../test/simulation/attack/attack-explorer.ts");
const { tried, outcomes, violations } = await exploreAttacks({
  every: Number(every),
  from: Number(from),
  on,
  only: new RegExp(only),
});
for (const [outcome, count] of outcomes) console.error(`${outcome}: ${count}`);
console.log(JSON.stringify({ tried, violations }));
