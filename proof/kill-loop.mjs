// The kill loop: the built program, killed at random and at every named point, taken up again until it is done.
//   node proof/kill-loop.mjs [--kills N] [--seed N] [--workers N] [--points A,B] [--plant WHAT] [--keep]
//                             [--impatient] [--minutes N] [--store file|sqlite|pglite|postgres|"postgres behind redis"|postgres://…]
// After each task: every effect exactly once (or reported unknown, and nothing run), no child left over, a history in
// which nothing that was done was done again, and the output of an undisturbed run. kill-loop/README.md says the rest.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createAuditJob } from "./kill-loop/audit-job.mjs";
import { Bench } from "./kill-loop/bench.mjs";
import { driveTask } from "./kill-loop/drive.mjs";
import { createLedgerJob } from "./kill-loop/ledger-job.mjs";
import { driveImpatiently } from "./kill-loop/impatient.mjs";
import { createImpatientJob } from "./kill-loop/impatient-job.mjs";
import { planImpatience, planTasks } from "./kill-loop/plan.mjs";
import { parsePlant } from "./kill-loop/plants.mjs";
import { createRandom } from "./kill-loop/random.mjs";
import { Tally } from "./kill-loop/tally.mjs";
import { openServers } from "./stores/servers.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "2" },
    points: { type: "string", default: "" },
    plant: { type: "string", default: "none" },
    store: { type: "string", default: "file" },
    keep: { type: "boolean", default: false },
    impatient: { type: "boolean", default: false },
    minutes: { type: "string", default: "" },
  },
});
const killsWanted = Number(values.kills);
const plant = parsePlant(values.plant);
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "splashdown-kill-"));
const servers = await openServers(values.store);
const bench = new Bench({ folder, dist: join(root, "dist"), store: servers.store, cache: servers.cache });
const tally = new Tally({ say: (text) => console.error(text) });

/** Runs one planned task to its end and judges it. */
async function runPlanned(task) {
  const job = jobs[task.job];
  job.learnt ??= learnExpected(job);
  await job.learnt;
  const random = createRandom(task.seed);
  const outcome = await drive({ bench, job, strikes: task.strikes, random, plant, expected: job.expected });
  tally.add(task, outcome);
  if (!values.keep && outcome.violations.length === 0) bench.discard(outcome.place);
}

/** What an undisturbed run gives, and how long it takes; found out before the first task of the job. */
async function learnExpected(job) {
  const outcome = await drive({ bench, job, strikes: [], random: createRandom(0), plant: parsePlant("none") });
  if (outcome.violations.length > 0) throw new Error(`the undisturbed ${job.name}: ${outcome.violations.join("; ")}`);
  job.expected = outcome.result;
  job.usualMs = outcome.lastProcessMs;
}

async function work(queue) {
  for (let task = queue.next(); task !== undefined; task = queue.next()) await runPlanned(task);
}

const startedAt = performance.now();
const drive = values.impatient ? driveImpatiently : driveTask;
const jobs = {
  ledger: createLedgerJob(),
  audit: createAuditJob({ root, folder }),
  impatient: createImpatientJob(),
};
const plan = (values.impatient ? planImpatience : planTasks)({
  killsWanted,
  random: createRandom(Number(values.seed)),
  only: values.points.split(",").filter(Boolean),
});
const isOver = () => values.minutes !== "" && performance.now() - startedAt > Number(values.minutes) * 60_000;
const queue = { next: () => (isOver() ? undefined : plan.next(tally.kills)) };
try {
  await bench.makeKey();
  await Promise.all(Array.from({ length: Number(values.workers) }, () => work(queue)));
} finally {
  await servers.close();
}

const missed = tally.kills < killsWanted && !isOver() ? [`only ${tally.kills} of ${killsWanted} kills struck`] : [];
const faults = [...tally.violations, ...plan.untouched(tally), ...missed];
const isKept = values.keep || tally.violations.length > 0;
if (!isKept) rmSync(folder, { recursive: true, force: true });
console.log(tally.formatTable());
for (const fault of faults) console.log(`FAULT ${fault}`);
if (isKept) console.log(`kept for a look: ${folder}`);
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(
  `${tally.kills} kills, ${tally.tasks} tasks, ${tally.unknown} unknown outcomes reported, ${tally.violations.length} violations, ${seconds} s`,
);
process.exit(faults.length === 0 ? 0 : 1);
