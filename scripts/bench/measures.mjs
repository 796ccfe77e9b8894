// The measures of one machine and one process, each beside its bound. Source of the bounds: DESIGN section 11.
import { execFileSync } from "node:child_process";
import { constants, readdirSync, statSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { chainOf, fanOf, inPlace, percentile } from "./place.mjs";

const root = join(import.meta.dirname, "../..");

function bytesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== ".ballast")
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Runs a workflow; the answer has the times between completions and the view. */
async function runTimed(splashdown, workflow, options = {}) {
  const ends = [];
  const snapshots = [];
  const stop = splashdown.on("event", (event) => {
    if (event.type === "step_completed") ends.push(performance.now());
    if (event.type === "snapshot_written") snapshots.push(event.event);
  });
  const startedMs = performance.now();
  const view = await splashdown.run({ workflow, task: "bench", ...options });
  stop();
  if (view.status !== "done") throw new Error(`${view.status}: ${view.reason}`);
  return { view, ends, snapshots, totalMs: performance.now() - startedMs };
}

/** The same bytes through the same calls and nothing else: one append and one fdatasync per step. */
async function appendBare(folder, count, bytes) {
  const handle = await openFile(
    join(folder, "bare"),
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
    0o600,
  );
  const line = Buffer.alloc(bytes, 97);
  const startedMs = performance.now();
  for (let index = 0; index < count; index += 1) {
    await handle.write(line);
    await handle.datasync();
  }
  const totalMs = performance.now() - startedMs;
  await handle.close();
  return totalMs / count;
}

export const durableStep = (count) =>
  inPlace(async ({ folder, open }) => {
    const splashdown = await open();
    const { ends } = await runTimed(splashdown, chainOf(count));
    await splashdown.close();
    const journal = bytesBelow(join(folder, "outputs/bench/checkpoints/journal"));
    const gaps = ends.slice(1).map((end, index) => end - ends[index]);
    const bareMs = await appendBare(folder, count, Math.round(journal / count));
    const stepMs = (ends.at(-1) - ends[0]) / (ends.length - 1);
    return {
      name: "durable step, sealed",
      value: `${stepMs.toFixed(3)} ms (p50 ${percentile(gaps, 0.5).toFixed(3)}, p95 ${percentile(gaps, 0.95).toFixed(3)})`,
      beside: `bare append + fdatasync ${bareMs.toFixed(3)} ms`,
      ratio: stepMs / bareMs,
      bound: 1.5,
    };
  });

export const flatCost = (count) =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    const { ends } = await runTimed(splashdown, chainOf(count));
    await splashdown.close();
    const tenth = Math.floor(count / 10);
    const early = (ends[tenth * 2] - ends[tenth]) / tenth;
    const late = (ends.at(-1) - ends[ends.length - 1 - tenth]) / tenth;
    return {
      name: `flat cost over ${count} steps`,
      value: `last tenth ${late.toFixed(3)} ms a step`,
      beside: `second tenth ${early.toFixed(3)} ms a step`,
      ratio: late / early,
      bound: 1.2,
    };
  });

export const bytesWritten = (count) =>
  inPlace(async ({ folder, open }) => {
    const splashdown = await open();
    const { snapshots } = await runTimed(splashdown, chainOf(count, 1024));
    await splashdown.close();
    const onDisk = bytesBelow(join(folder, "outputs"));
    const journal = bytesBelow(join(folder, "outputs/bench/checkpoints/journal"));
    const written = journal + snapshots.reduce((sum, snapshot) => sum + snapshot.sizeBytes, 0);
    return {
      name: `bytes of ${count} steps × 1 KB`,
      value: `${(onDisk / 2 ** 20).toFixed(2)} MiB on disk, ${(written / 2 ** 20).toFixed(2)} MiB written`,
      beside: `journal ${(journal / 2 ** 20).toFixed(2)} MiB`,
      ratio: written / (6 * journal + 2 ** 20),
      bound: 1,
    };
  });

/** From the call to the record that says the task goes on; the process is there already. */
export const resumeTime = (count, boundMs, enabled) =>
  inPlace(async ({ folder, open }) => {
    const { writeFileSync } = await import("node:fs");
    const workflow = chainOf(count);
    workflow.steps.push({ name: "later", type: "wait", duration: "2h", depends_on: [`s${count - 1}`] });
    const file = join(folder, "chain.json");
    writeFileSync(file, JSON.stringify({ ...workflow, checkpoint_config: { enabled } }));
    const first = await open();
    const ended = await first.run({ workflow: file, task: "bench" });
    await first.close();
    if (ended.exit_status !== 75) throw new Error(`${ended.status}: ${ended.reason}`);
    const splashdown = await open();
    let resumedMs = Infinity;
    const stop = splashdown.on("event", (event) => {
      if (event.type === "task_resumed") resumedMs = Math.min(resumedMs, performance.now());
    });
    const startedMs = performance.now();
    await splashdown.resume({ task: "bench" });
    stop();
    await splashdown.close();
    const tookMs = resumedMs - startedMs;
    const how = enabled ? "with a snapshot" : "from the journal alone";
    return {
      name: `resume of ${count} steps ${how}`,
      value: `${tookMs.toFixed(0)} ms`,
      beside: `bound ${boundMs} ms`,
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
    const resident = process.memoryUsage.rss() / 2 ** 20;
    return {
      name: `${count} no-op steps, window 64`,
      value: `${rate.toFixed(0)} steps/s, ${resident.toFixed(0)} MiB resident`,
      beside: "bound 5,000 steps/s",
      ratio: 5000 / rate,
      bound: 1,
    };
  });

function timeCommand(args, times = 5) {
  const samples = [];
  for (let index = 0; index < times; index += 1) {
    const startedMs = performance.now();
    execFileSync(process.execPath, args, { stdio: "ignore" });
    samples.push(performance.now() - startedMs);
  }
  return percentile(samples, 0.5);
}

export const startUp = async () => {
  const bareMs = timeCommand(["-e", "0"]);
  const helpMs = timeCommand([join(root, "dist/cli/main.js"), "--help"]);
  return {
    name: "splashdown --help",
    value: `${helpMs.toFixed(0)} ms`,
    beside: `bare Node ${bareMs.toFixed(0)} ms`,
    ratio: (helpMs - bareMs) / 150,
    bound: 1,
  };
};
