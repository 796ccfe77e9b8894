#!/usr/bin/env node
/**
 * Goes on and on: mixed tasks under kills, freezes, failing disks and the commands of others, judged by the ten points
 * (soak-rounds/ten-points.mjs); the kill loop; crashed tasks that several processes want at once; disks that fill up. Rounds
 * are drawn by lot with new seeds until the time is over; each time mixed tasks and the kill loop are on another of the
 * stores there are here.
 *
 *   node proof/soak.mjs --minutes N [--seed N] [--only PATTERN] [--store KIND,KIND] [--short] [--built]
 *
 * `--built`: the program has been built already. `--only`: rounds whose name fits. `--store`: these stores alone. `--short`:
 * small rounds, at least one, on files or SQLite by lot unless `--store` says otherwise.
 * Exit status 0: no violation. 1: some, named with the round's seed.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "./kill-loop/random.mjs";
import { killLoop, readJson } from "./proofs/suite-runs.mjs";
import { listKinds, openServers } from "./stores/servers.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    store: { type: "string" },
    short: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
  },
});
const KILLS = 8;
const MIXED = "proof/soak-rounds/mixed-round.mjs";
const ALL_ROUNDS = [
  {
    name: "mixed: kills, faults and commands at once",
    weight: 6,
    run: (seed) =>
      onStore((store, cache) => {
        const flags = [...(values.short ? ["--short"] : []), ...flagOf("store", store), ...flagOf("cache", cache)];
        return readJson(MIXED, String(seed), ...flags);
      }),
  },
  {
    name: "kill -9 of the real program",
    weight: 6,
    // A kind with a cache starts servers of its own.
    run: (seed) => onStore((store, cache, kind) => killLoop(KILLS, seed, cache === undefined ? store : kind)),
  },
  { name: "eight processes want one crashed task", weight: 2, run: () => readJson("proof/proofs/races.mjs", "4") },
  { name: "a real disk fills up", weight: 1, run: () => readJson("proof/proofs/full-disk.mjs", "4") },
];
const ROUNDS = ALL_ROUNDS.filter(({ name }) => new RegExp(values.only, "i").test(name));
if (ROUNDS.length === 0) throw new Error(`no round is called like ${values.only}`);
if (!values.built) {
  const build = [join(import.meta.dirname, "build.mjs")];
  execFileSync(process.execPath, build, { stdio: ["ignore", "ignore", "inherit"] });
}
const random = createRandom(Number(values.seed));
const isByLot = values.short && values.store === undefined;
const stores = isByLot ? [] : (values.store?.split(",") ?? (await listKinds()));
/** Started when first drawn, for all rounds. */
const servers = new Map();

function flagOf(name, value) {
  return value === undefined ? [] : [`--${name}`, value];
}

/** A round on the next store, whose address it gets, that of a cache before it, and the kind; none where the round draws its own. */
async function onStore(run) {
  if (stores.length === 0) return run(undefined);
  const kind = random.pick(stores);
  if (!servers.has(kind)) servers.set(kind, await openServers(kind));
  const { store, cache } = servers.get(kind);
  const found = await run(store, cache, kind);
  return { ...found, violations: found.violations.map((violation) => `on ${kind}: ${violation}`) };
}

const lots = ROUNDS.flatMap((round) => Array.from({ length: round.weight }, () => round));
const endMs = performance.now() + Number(values.minutes) * 60_000;
const sums = new Map(ROUNDS.map(({ name }) => [name, { rounds: 0, tried: 0, violations: 0 }]));

async function soak() {
  do await liveRound();
  while (performance.now() < endMs);
}

async function liveRound() {
  const round = random.pick(lots);
  const seed = 1 + random.below(1_000_000);
  const { tried, violations, skipped } = await round.run(seed);
  const sum = sums.get(round.name);
  sum.rounds += 1;
  sum.tried += tried;
  sum.violations += violations.length;
  if (tried === 0 && skipped === undefined) sum.violations += 1;
  for (const violation of violations) console.log(`VIOLATION ${round.name}, seed ${seed}: ${violation}`);
}

try {
  await soak();
} finally {
  for (const { close } of servers.values()) await close();
}

console.log(`${"round".padEnd(40)} ${"rounds".padStart(7)} ${"cases".padStart(7)} ${"violations".padStart(10)}`);
for (const [name, { rounds, tried, violations }] of sums)
  console.log(
    `${name.padEnd(40)} ${String(rounds).padStart(7)} ${String(tried).padStart(7)} ${String(violations).padStart(10)}`,
  );
process.exitCode = [...sums.values()].some(({ violations }) => violations > 0) ? 1 : 0;
