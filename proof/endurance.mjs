// Long tasks of the built program, killed on the way: one of very many steps, one whose state is very large, one whose
// values stand in files of their own. Each is sealed again under another key in the end.
//   node proof/endurance.mjs [--steps N] [--megabytes N] [--large N] [--kills N] [--seed N] [--json] [--keep]
//   --large: megabytes of values of 400 kB; 0 for none
// Each is taken up again until it is done. Then every step must stand in its history once, with what it gave; the ledger
// may hold a step twice only where a kill struck inside it, under one key. Says how long it took to go on, and at what size, and
// what memory it takes to read the task and to seal it again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { endure } from "./endurance/endure.mjs";
import { Bench } from "./kill-loop/bench.mjs";
import { createRandom } from "./kill-loop/random.mjs";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "10000" },
    megabytes: { type: "string", default: "100" },
    large: { type: "string", default: "200" },
    kills: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});
const VALUE_BYTES = 200_000;
const LARGE_BYTES = 400_000;
const PROCESS_MS_MAX = 1_800_000;
const jobs = [
  { name: `${values.steps} steps`, steps: Number(values.steps), valueBytes: 16 },
  {
    name: `${values.megabytes} MB of state`,
    steps: (Number(values.megabytes) * 1e6) / VALUE_BYTES,
    valueBytes: VALUE_BYTES,
  },
  {
    name: `${values.large} MB of large values`,
    steps: (Number(values.large) * 1e6) / LARGE_BYTES,
    valueBytes: LARGE_BYTES,
    isLarge: true,
  },
].filter(({ steps }) => steps > 0);

const folder = mkdtempSync(join(tmpdir(), "splashdown-long-"));
const bench = new Bench({ folder, dist: join(import.meta.dirname, "../dist"), processMsMax: PROCESS_MS_MAX });
const random = createRandom(Number(values.seed));
const found = [];
try {
  await bench.makeKey();
  for (const job of jobs) {
    found.push(await endure({ bench, job, random, kills: Number(values.kills) }));
    if (!values.json) console.log([...describe(found.at(-1))].join("\n"));
  }
} finally {
  if (!values.keep) rmSync(folder, { recursive: true, force: true });
}
if (values.json) console.log(JSON.stringify(found, undefined, 2));
process.exit(found.every(({ faults }) => faults.length === 0) ? 0 : 1);

function* describe({ name, seconds, resumed, repeated, peakMiB, diskMiB, resealed, faults }) {
  yield `${name}: ${resumed.length} kills, ${seconds.toFixed(0)} s, ${diskMiB.toFixed(1)} MiB on disk, ${peakMiB.toFixed(0)} MiB resident at most, ${repeated} steps acted twice`;
  for (const { at, goesOnMs } of resumed)
    yield `  killed at step ${at}: the next step acted ${goesOnMs.toFixed(0)} ms after the start of the process`;
  yield `  sealed again under another key in ${resealed.seconds.toFixed(1)} s: ${resealed.peakMiB.toFixed(0)} MiB resident at most, ${resealed.readMiB.toFixed(0)} MiB to read it`;
  for (const fault of faults) yield `FAULT ${fault}`;
}
