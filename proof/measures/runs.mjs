// What the measures share: runs that are timed, their snapshots, and figures that one slow moment does not spoil.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export function bytesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== ".ballast")
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Runs a workflow; the answer has the times between completions and the view. */
export async function runTimed(splashdown, workflow, options = {}) {
  const ends = [];
  const stop = splashdown.on("step_finished", () => ends.push(performance.now()));
  const startedMs = performance.now();
  const view = await splashdown.run({ workflow, task: "bench", ...options });
  stop();
  if (view.status !== "done") throw new Error(`${view.status}: ${view.reason}`);
  return { view, ends, totalMs: performance.now() - startedMs };
}

/** The snapshots of a run, as its history tells of them, each with the trigger of its checkpoint. */
export async function listSnapshots(splashdown) {
  const triggers = new Map();
  const found = [];
  for await (const { type, event } of splashdown.events("bench")) {
    if (type === "checkpoint_recorded") triggers.set(event.checkpointId, event.trigger);
    if (type === "snapshot_written") found.push({ ...event, trigger: triggers.get(event.checkpointId) });
  }
  return found;
}

/** The mean without the slowest twentieth, which is the disk's. */
export function steadyMean(gaps) {
  const sorted = [...gaps].sort((a, b) => a - b).slice(0, Math.ceil(gaps.length * 0.95));
  return sorted.reduce((sum, gap) => sum + gap, 0) / sorted.length;
}

export const gapsOf = (ends) => ends.slice(1).map((end, index) => end - ends[index]);

export const residentMiB = () => Math.round(process.memoryUsage.rss() / 2 ** 20);
