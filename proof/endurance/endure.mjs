// Runs one long task to its end through a number of kills, and judges what it left behind.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { valueOf } from "./work.mjs";

const TASK = "long";
const LOOK_MS = 5;
/** So far a task may get while its killer looks away. */
const STEPS_AHEAD_MAX = 5;

/** One step, over and over: it notes that it acted, and gives its number and a value. */
function createWorkflow({ steps, valueBytes }) {
  const module = JSON.stringify(join(import.meta.dirname, "work.mjs"));
  return {
    "workflow.json": JSON.stringify({
      workflow: { name: "endurance", entry_point: "work", limits: { max_iterations: steps + 1 } },
      agents: [
        {
          name: "work",
          function: "./functions.mjs#work",
          effects: "idempotent",
          input: { before: "{{ work.output.n | default(0) }}" },
          routes: [{ to: "work", when: `{{ work.output.n < ${steps} }}` }, { to: "$end" }],
        },
      ],
      output: { n: "{{ work.output.n }}" },
    }),
    "functions.mjs": `import { act } from ${module};\nexport const work = (context) => act(context, ${JSON.stringify({ valueBytes })}, import.meta.dirname);\n`,
  };
}

/** Shape: name, seconds, `resumed` (one entry per kill), `repeated`, sizes, faults in words. */
export async function endure({ bench, job, random, kills }) {
  const startedAt = performance.now();
  const place = bench.createPlace();
  for (const [name, text] of Object.entries(createWorkflow(job))) writeFileSync(join(place.folder, name), text);
  const points = Array.from({ length: kills }, () => 1 + random.below(job.steps - 1)).sort((a, b) => a - b);
  const run = new LongRun(bench, place);
  for (const point of points) await run.toKill(point, job.steps);
  const { code, stdout, stderr } = await run.toEnd();
  const faults = code === 0 ? [] : [`it ended with ${code}: ${stderr.slice(-500)}`];
  if (code === 0 && JSON.parse(stdout).output?.n !== job.steps) faults.push(`the output is ${stdout.slice(0, 500)}`);
  const ledger = readLedger(place);
  const repeated = ledger.length - new Set(ledger).size;
  faults.push(...findLedgerFaults(ledger, job, run.resumed.length), ...(await findHistoryFaults(bench, place, job)));
  const residentMiBMax = residentMiBMaxOf(job);
  if (run.peakMiB > residentMiBMax)
    faults.push(`${Math.round(run.peakMiB)} MiB were resident in the run, and ${residentMiBMax} may be`);
  const resealed = await reseal(bench, place, residentMiBMax);
  faults.push(...resealed.faults, ...(await findHistoryFaults(bench, place, job)));
  return {
    name: job.name,
    seconds: (performance.now() - startedAt) / 1000,
    resumed: run.resumed,
    repeated,
    peakMiB: run.peakMiB,
    diskMiB: sizeBelow(place.outputs) / 2 ** 20,
    resealed,
    faults,
  };
}

class LongRun {
  resumed = [];
  peakMiB = 0;
  #bench;
  #place;
  #isBegun = false;

  constructor(bench, place) {
    this.#bench = bench;
    this.#place = place;
  }

  /** Lets it go on until that many steps acted, then kills it, which cannot come to its end meanwhile. */
  async toKill(point, steps) {
    const halt = join(this.#place.folder, "halt");
    writeFileSync(halt, String(Math.min(point + STEPS_AHEAD_MAX, steps)));
    const goesOn = this.#start();
    await this.#watch(goesOn, () => countLines(this.#place) >= point);
    goesOn.started.kill();
    const { signal, stderr } = await goesOn.started.ended;
    rmSync(halt);
    if (signal !== "SIGKILL") throw new Error(`it ended before step ${point}: ${stderr.slice(-500)}`);
    this.resumed.push({ at: countLines(this.#place), goesOnMs: 0 });
  }

  async toEnd() {
    const goesOn = this.#start();
    await this.#watch(goesOn, () => false);
    return goesOn.started.ended;
  }

  #start() {
    const { program } = this.#bench;
    const rest = this.#isBegun ? ["resume", TASK] : ["run", "workflow.json", "--task", TASK];
    this.#isBegun = true;
    const before = countLines(this.#place);
    return {
      before,
      startedAt: performance.now(),
      started: this.#bench.start(this.#place, [program, ...rest, "--json"]),
    };
  }

  async #watch({ before, startedAt, started }, isReached) {
    let killed = this.resumed.at(-1);
    while (!started.hasEnded() && !isReached()) {
      await sleep(LOOK_MS);
      this.peakMiB = Math.max(this.peakMiB, readPeakMiB(started.pid));
      if (killed === undefined || countLines(this.#place) === before) continue;
      killed.goesOnMs = performance.now() - startedAt;
      killed = undefined;
    }
  }
}

/** A process of ten thousand small steps, and so much for each megabyte of the state: the value, its record, a checkpoint's text. */
const RUN_MIB_MAX = 256;
const RUN_SHARE_MAX = 4;

/** What may be resident, known before the run: no bound grows with what the run leaks. Values of their own are no state. */
function residentMiBMaxOf({ steps, valueBytes, isLarge = false }) {
  return RUN_MIB_MAX + Math.ceil(isLarge ? 0 : (RUN_SHARE_MAX * steps * valueBytes) / 2 ** 20);
}

/**
 * Sealing everything again holds one value, or the state of one checkpoint file and its text, beside what reading the task
 * needs, and what is not collected yet; so it comes about where the task may run.
 */
const RESEAL_MIB_MAX = 96;
const RESEAL_SHARE_MAX = 0.5;

/** Shape: seconds, the most that was resident while the task was only read and while all of it was sealed again, faults. */
async function reseal(bench, place, residentMiBMax) {
  const reading = await measure(bench, place, ["show", TASK, "--json"]);
  const sealing = await measure(bench, place, ["keys", "rotate", TASK, "--task-key", "--reencrypt", "--json"]);
  const faults = [reading, sealing].flatMap(({ code, stderr }) =>
    code === 0 ? [] : [`${code}: ${stderr.slice(-500)}`],
  );
  const overReading = reading.peakMiB + Math.max(RESEAL_MIB_MAX, RESEAL_SHARE_MAX * reading.peakMiB);
  if (sealing.peakMiB > Math.max(overReading, residentMiBMax))
    faults.push(`to seal it again needs ${Math.round(sealing.peakMiB - reading.peakMiB)} MiB more than to read it`);
  return { seconds: sealing.seconds, readMiB: reading.peakMiB, peakMiB: sealing.peakMiB, faults };
}

async function measure(bench, place, args) {
  const startedAt = performance.now();
  const started = bench.start(place, [bench.program, ...args]);
  let peakMiB = 0;
  while (!started.hasEnded()) {
    peakMiB = Math.max(peakMiB, readPeakMiB(started.pid));
    await sleep(LOOK_MS);
  }
  return { ...(await started.ended), peakMiB, seconds: (performance.now() - startedAt) / 1000 };
}

const ledgerOf = (place) => join(place.folder, "ledger");

/** Lines of one length, so that their number needs no reading. */
const LINE_BYTES = 80;

function countLines(place) {
  return Math.floor((statSync(ledgerOf(place), { throwIfNoEntry: false })?.size ?? 0) / LINE_BYTES);
}

function readLedger(place) {
  return readFileSync(ledgerOf(place), "utf8").split("\n").filter(Boolean);
}

/** The most that was resident so far; 0 where the system does not tell. */
function readPeakMiB(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function sizeBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Shape: texts; empty when every step acted, and none twice under two keys, or more often than kills struck. */
export function findLedgerFaults(ledger, { steps }, kills) {
  const distinct = new Set(ledger);
  const faults = [];
  if (distinct.size !== steps) faults.push(`${distinct.size} acts under keys of their own instead of ${steps}`);
  if (ledger.length - distinct.size > kills)
    faults.push(`${ledger.length - distinct.size} acts were repeated in ${kills} kills`);
  return faults;
}

async function findHistoryFaults(bench, place, { steps, valueBytes, isLarge = false }) {
  return bench.look(place, async (splashdown) => {
    const faults = [];
    let done = 0;
    for await (const { type, event } of splashdown.events(TASK)) {
      if (type !== "step_completed") continue;
      done += 1;
      const { n, value } = event.output.inline ?? {};
      const isWhole = isLarge
        ? event.output.blob?.sizeBytes > valueBytes
        : n === done && value === valueOf(n, valueBytes);
      if (!isWhole) faults.push(`step ${done} did not give what it must`);
    }
    if (done !== steps) faults.push(`${done} steps are done instead of ${steps}`);
    const { status, damage } = await splashdown.show(TASK);
    if (status !== "done" || damage.length > 0) faults.push(`it is ${status}, with damage ${JSON.stringify(damage)}`);
    return faults.slice(0, 5);
  });
}
