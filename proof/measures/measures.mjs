// The measures of one machine and one process, each beside its bound. Source of the bounds: DESIGN section 11.
import { execFileSync, spawnSync } from "node:child_process";
import { constants, fdatasync, write, writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { chainOf, fanOf, inPlace, loopOf, percentile, waitingChainOf } from "./place.mjs";
import { bytesBelow, gapsOf, listSnapshots, residentMiB, runTimed, steadyMean } from "./runs.mjs";

const root = join(import.meta.dirname, "../..");

const called = (start) => new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())));

/** The same bytes through the platform's asynchronous calls and nothing else: one append and one fdatasync per step. */
async function appendBare(folder, count, bytes) {
  const handle = await openFile(
    join(folder, "bare"),
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
    0o600,
  );
  const line = Buffer.alloc(bytes, 97);
  const startedMs = performance.now();
  for (let index = 0; index < count; index += 1) {
    await called((done) => write(handle.fd, line, 0, bytes, null, done));
    await called((done) => fdatasync(handle.fd, done));
  }
  const totalMs = performance.now() - startedMs;
  await handle.close();
  return totalMs / count;
}

async function timeChain(count) {
  return inPlace(async ({ folder, open }) => {
    const splashdown = await open();
    const { ends } = await runTimed(splashdown, chainOf(count));
    await splashdown.close();
    const journal = bytesBelow(join(folder, "outputs/bench/checkpoints/journal"));
    const bareMs = await appendBare(folder, count, Math.round(journal / count));
    return { stepMs: (ends.at(-1) - ends[0]) / (ends.length - 1), bareMs };
  });
}

/** Rounds of both in turn, so that a disk or a machine that is busy for a while is so for both; the first warm up. */
export const durableStep = async (count) => {
  const rounds = [];
  for (let round = 0; round < 8; round += 1) rounds.push(await timeChain(count));
  const warm = rounds.slice(3);
  const middle = (values) => percentile(values, 0.5);
  const stepMs = middle(warm.map((round) => round.stepMs));
  const bareMs = middle(warm.map((round) => round.bareMs));
  return {
    name: "durable step, sealed",
    value: `${stepMs.toFixed(3)} ms`,
    beside: `bare append + fdatasync ${bareMs.toFixed(3)} ms`,
    figure: stepMs,
    ratio: middle(warm.map((round) => round.stepMs / round.bareMs)),
    bound: 1.5,
  };
};

export const flatCost = (count) =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    const { ends } = await runTimed(splashdown, chainOf(count));
    await splashdown.close();
    const gaps = gapsOf(ends);
    const tenth = Math.floor(count / 10);
    const early = steadyMean(gaps.slice(tenth, tenth * 2));
    const late = steadyMean(gaps.slice(-tenth));
    return {
      name: `flat cost over ${count} steps`,
      value: `last tenth ${late.toFixed(3)} ms a step, ${residentMiB()} MiB resident`,
      beside: `second tenth ${early.toFixed(3)} ms a step`,
      figure: late,
      ratio: late / early,
      bound: 1.2,
    };
  });

export const bytesWritten = (count) =>
  inPlace(async ({ folder, open }) => {
    const splashdown = await open();
    await runTimed(splashdown, chainOf(count, 1024));
    const snapshots = await listSnapshots(splashdown);
    await splashdown.close();
    const onDisk = bytesBelow(join(folder, "outputs"));
    const journal = bytesBelow(join(folder, "outputs/bench/checkpoints/journal"));
    const written = journal + snapshots.reduce((sum, snapshot) => sum + snapshot.sizeBytes, 0);
    return {
      name: `bytes of ${count} steps × 1 KB`,
      value: `${(onDisk / 2 ** 20).toFixed(2)} MiB on disk, ${(written / 2 ** 20).toFixed(2)} MiB written`,
      beside: `journal ${(journal / 2 ** 20).toFixed(2)} MiB`,
      figure: onDisk,
      ratio: Math.max(written / (6 * journal + 2 ** 20), onDisk / 5e6),
      bound: 1,
    };
  });

/** From the call to the record that says the task `bench` goes on. */
export async function timeResume(splashdown) {
  let resumedMs = Infinity;
  const stop = splashdown.on("event", (event) => {
    if (event.type === "task_resumed") resumedMs = Math.min(resumedMs, performance.now());
  });
  const startedMs = performance.now();
  await splashdown.resume({ task: "bench" });
  stop();
  await splashdown.close();
  return resumedMs - startedMs;
}

/** From the call to the record that says the task goes on; the process is there already. */
export const resumeTime = (count, boundMs, { enabled = true, inFile = false } = {}) =>
  inPlace(async ({ folder, open }) => {
    const file = join(folder, "workflow.json");
    const workflow = inFile ? waitingChainOf(count) : loopOf(count);
    writeFileSync(file, JSON.stringify({ ...workflow, checkpoint_config: { enabled } }));
    const first = await open();
    const ended = await first.run({ workflow: file, task: "bench" });
    await first.close();
    if (ended.exit_status !== 75) throw new Error(`${ended.status}: ${ended.reason}`);
    const samples = [];
    for (let times = 0; times < 5; times += 1) samples.push(await timeResume(await open()));
    const tookMs = percentile(samples, 0.5);
    const how = inFile ? "that all stand in the file" : enabled ? "with a snapshot" : "from the journal alone";
    return {
      name: `resume of ${count} steps ${how}`,
      value: `${tookMs.toFixed(0)} ms`,
      beside: `bound ${boundMs} ms; the first of five ${samples[0].toFixed(0)} ms`,
      figure: tookMs,
      ratio: tookMs / boundMs,
      bound: 1,
    };
  });

export const fan = (count) =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    const { totalMs } = await runTimed(splashdown, fanOf(count, 64));
    await splashdown.close();
    const rate = (count / totalMs) * 1000;
    return {
      name: `${count} no-op steps, window 64`,
      value: `${rate.toFixed(0)} steps/s, ${residentMiB()} MiB resident`,
      beside: "bound 5,000 steps/s",
      figure: rate,
      ratio: 5000 / rate,
      bound: 1,
    };
  });

/** Items in a process of its own, so that its memory is theirs alone. */
function runItems(count, ...kind) {
  const script = join(import.meta.dirname, "items.mjs");
  const env = { PATH: process.env.PATH };
  return JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", script, String(count), ...kind], { env, encoding: "utf8" }),
  );
}

/** What a further item takes, results included: its step, its output and its slot, and nothing of the window's. */
const ITEM_BYTES_MAX = 4 * 1024;

/** The whole process of the command with ten thousand quick functions, each of which fires a checkpoint. */
const FUNCTION_ITEMS_RESIDENT_MIB_MAX = 150;
/** The same in a program that uses the library: its heap grows as the platform likes. */
const LIBRARY_ITEMS_RESIDENT_MIB_MAX = 256;

export const functionItems = async (count) => [
  judgeResident(`resident with ${count} function items, window 64`, {
    peakBytes: await runFunctionItems(count),
    boundMiB: FUNCTION_ITEMS_RESIDENT_MIB_MAX,
  }),
  judgeResident("the same in a program with the library", {
    peakBytes: runItems(count, "function").peakBytes,
    boundMiB: LIBRARY_ITEMS_RESIDENT_MIB_MAX,
  }),
];

function judgeResident(name, { peakBytes, boundMiB }) {
  const peakMiB = peakBytes / 2 ** 20;
  return {
    name,
    value: `${peakMiB.toFixed(0)} MiB`,
    beside: `bound ${boundMiB} MiB`,
    figure: peakMiB,
    ratio: peakMiB / boundMiB,
    bound: 1,
  };
}

/** With the command; the answer is the most that was resident in its process, in bytes. */
const runFunctionItems = (count) =>
  inPlace(async ({ folder }) => {
    writeFileSync(
      join(folder, "list.json"),
      JSON.stringify({ list: Array.from({ length: count }, (_item, index) => index) }),
    );
    const workflow = join(import.meta.dirname, "function-items.mjs");
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(root, "dist/cli/main.js"),
        "run",
        workflow,
        "--inputs",
        "list.json",
        "--task",
        "bench",
        "--quiet",
        "--json",
      ],
      { cwd: folder, env: { PATH: process.env.PATH, HOME: join(folder, "home") }, encoding: "utf8" },
    );
    if (status !== 0 || JSON.parse(stdout).output.count !== count)
      throw new Error(`${status}: ${stderr.slice(0, 2000)}`);
    return JSON.parse(stderr.trim().split("\n").at(-1)).peakBytes;
  });

export const forEach = async (count) => {
  const runs = [1, 2, 3].map(() => runItems(count));
  const { rate, aliveBytes, peakBytes } = runs.toSorted((a, b) => a.rate - b.rate)[1];
  const few = count / 10;
  const itemBytes = (aliveBytes - runItems(few).aliveBytes) / (count - few);
  return [
    {
      name: `for_each of ${count} no-op items, window 64`,
      value: `${rate.toFixed(0)} items/s`,
      beside: "bound 5,000 items/s",
      figure: rate,
      ratio: 5000 / rate,
      bound: 1,
    },
    {
      name: `memory of a further item, from ${few} to ${count}`,
      value: `${(itemBytes / 1024).toFixed(1)} KiB, ${(peakBytes / 2 ** 20).toFixed(0)} MiB resident at most`,
      beside: `bound ${ITEM_BYTES_MAX / 1024} KiB`,
      figure: itemBytes,
      ratio: itemBytes / ITEM_BYTES_MAX,
      bound: 1,
    },
  ];
};

const BARE = ["-e", "0"];

/** What a command takes beyond bare Node: the middle of pairs in turn, so that a busy moment is so for both. */
function timeOverBare(args, options = {}) {
  const timed = (what) => {
    const startedMs = performance.now();
    execFileSync(process.execPath, what, { stdio: "ignore", ...options });
    return performance.now() - startedMs;
  };
  const pairs = Array.from({ length: 5 }, () => ({ bareMs: timed(BARE), tookMs: timed(args) }));
  const middle = (of) => percentile(pairs.map(of), 0.5);
  return { bareMs: middle(({ bareMs }) => bareMs), overMs: middle(({ bareMs, tookMs }) => tookMs - bareMs) };
}

const overBare = (what, boundMs, { bareMs, overMs }) => ({
  name: `${what}, over bare Node`,
  value: `${overMs.toFixed(0)} ms`,
  beside: `bare Node ${bareMs.toFixed(0)} ms`,
  figure: overMs,
  ratio: overMs / boundMs,
  bound: 1,
});

export const startUp = async () =>
  overBare("splashdown --help", 150, timeOverBare([join(root, "dist/cli/main.js"), "--help"]));

/** A task of 500 phases has a thousand checkpoints; they are listed by the command. */
export const listing = (phases) =>
  inPlace(async ({ folder, open }) => {
    const splashdown = await open();
    const workflow = Array.from({ length: phases }, (_phase, at) => ({
      name: `p${at}`,
      specialists: [{ name: `s${at}`, type: "set", value: "v" }],
    }));
    await runTimed(splashdown, { workflow: { name: "phases" }, phases: workflow });
    const { length } = await splashdown.checkpoints.list("bench");
    await splashdown.close();
    const env = { PATH: process.env.PATH, HOME: join(folder, "home") };
    const took = timeOverBare([join(root, "dist/cli/main.js"), "checkpoints", "list", "bench"], { cwd: folder, env });
    return overBare(`list of ${length} checkpoints`, 300, took);
  });
