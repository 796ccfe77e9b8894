// What the size of a task's state costs: the step beside it, the snapshot of it, what a snapshot holds up.
// Source of the bounds: DESIGN section 11, and the figures of seed 001.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { inPlace, percentile } from "./place.mjs";
import { gapsOf, listSnapshots, residentMiB, runTimed, steadyMean } from "./runs.mjs";

/** Specialists one after the other. */
const chained = (prefix, count, what) =>
  Array.from({ length: count }, (_item, index) => ({
    name: `${prefix}${index}`,
    ...what,
    ...(index === 0 ? {} : { depends_on: [`${prefix}${index - 1}`] }),
  }));

/** A phase of small steps, one that makes the state large, and small ones again while that is saved, if it is. */
function growingOf(megabytes, enabled) {
  const small = { type: "set", value: "v" };
  const growth = { function: () => "v".repeat(209_715), effects: "none" };
  const phases = [
    { name: "before", specialists: chained("a", 500, small) },
    { name: "growth", specialists: chained("b", megabytes * 5, growth) },
    { name: "after", specialists: chained("c", 500, small) },
  ];
  return { workflow: { name: `growing-${megabytes}` }, phases, checkpoint_config: { enabled } };
}

/** With snapshots the small steps after the growth run while the large state is written. */
const grow = (megabytes, enabled) =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const stop = splashdown.on("step_finished", ({ step }) => {
      if (step.includes("/c10@")) delay.enable();
      if (step.includes("/c499@")) delay.disable();
    });
    const { ends } = await runTimed(splashdown, growingOf(megabytes, enabled));
    stop();
    await splashdown.close();
    const gaps = gapsOf(ends);
    return { small: steadyMean(gaps.slice(100, 499)), large: steadyMean(gaps.slice(-400)), delay };
  });

/** The step at a large state by itself, then what a snapshot that is being written holds up. */
export const largeState = async (megabytes) => {
  const alone = await grow(megabytes, false);
  const saving = await grow(megabytes, true);
  const heldMs = saving.delay.max / 1e6;
  return [
    {
      name: `a step at ${megabytes} MB of state`,
      value: `${alone.large.toFixed(3)} ms, ${residentMiB()} MiB resident`,
      beside: `${alone.small.toFixed(3)} ms at the beginning; ${saving.large.toFixed(3)} ms while the state is saved`,
      figure: alone.large,
      ratio: alone.large / alone.small,
      bound: 1.2,
    },
    {
      name: `longest stop of the process while ${megabytes} MB are saved`,
      value: `${heldMs.toFixed(1)} ms (p99 ${(saving.delay.percentile(99) / 1e6).toFixed(1)})`,
      beside: "bound 5 ms",
      figure: heldMs,
      ratio: heldMs / 5,
      bound: 1,
    },
  ];
};

const REQUESTED = 20;

/** Phases of set steps with a kilobyte each, then steps that ask for a checkpoint: the task waits for those. */
function savingOf(count) {
  const phases = Array.from({ length: 20 }, (_phase, at) => ({
    name: `p${at}`,
    specialists: Array.from({ length: count / 20 }, (_item, index) => ({
      name: `s${at}x${index}`,
      type: "set",
      value: "word ".repeat(205),
    })),
  }));
  const ask = { function: (context) => context.checkpoint({}), effects: "none" };
  phases.push({ name: "asking", specialists: chained("ask", REQUESTED, ask) });
  return { workflow: { name: "saving" }, phases };
}

/** What one takes by itself; those written behind the steps share the process with them. */
export const snapshotCost = (count) =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    await runTimed(splashdown, savingOf(count));
    const snapshots = await listSnapshots(splashdown);
    await splashdown.close();
    const requested = snapshots.filter(({ trigger }) => trigger === "user_requested");
    if (requested.length !== REQUESTED) throw new Error(`${requested.length} of ${REQUESTED} snapshots were written`);
    const times = (some) => some.map((snapshot) => snapshot.durationMs);
    const p95 = percentile(times(requested), 0.95);
    const behind = Math.max(0, ...times(snapshots.filter(({ trigger }) => trigger !== "user_requested")));
    const { sizeBytes, rawBytes } = snapshots.at(-1);
    return [
      {
        name: `snapshot at ${count} steps, p95 of ${REQUESTED}`,
        value: `${p95.toFixed(0)} ms`,
        beside: `bound 50 ms; behind running steps up to ${behind} ms`,
        figure: p95,
        ratio: p95 / 50,
        bound: 1,
      },
      {
        name: "bytes of a snapshot per byte of state",
        value: (sizeBytes / rawBytes).toFixed(3),
        beside: `${sizeBytes} of ${rawBytes} bytes`,
        figure: sizeBytes / rawBytes,
        ratio: sizeBytes / rawBytes,
        bound: 0.5,
      },
    ];
  });

/** Words of no meaning in the proportions of a text, equal in every run. */
function writeText(words, seed) {
  let state = seed;
  const next = (limit) => (state = (state * 48_271) % 2_147_483_647) % limit;
  return Array.from({ length: words }, () => `w${Math.floor(next(3_000) ** 2 / 3_000).toString(36)}`).join(" ");
}

/** Ten agents in three phases, which give some four kilobytes of text each and say how sure they are. */
function typicalOf() {
  let seed = 0;
  const agent = (name) => {
    seed += 1;
    const text = writeText(1_000, seed);
    const sure = { knowledge: 0.9, information: 0.9, implementation: 0.9, validation: 0.9 };
    const answer = () => ({ output: { text }, confidence: sure });
    return { name, function: answer, effects: "none", output: { text: { type: "string" } } };
  };
  const phase = (name, count) => ({
    name,
    specialists: Array.from({ length: count }, (_agent, at) => agent(`${name}${at}`)),
  });
  return { workflow: { name: "typical" }, phases: [phase("research", 4), phase("draft", 4), phase("review", 2)] };
}

export const typicalTask = () =>
  inPlace(async ({ open }) => {
    const splashdown = await open();
    await runTimed(splashdown, typicalOf());
    const snapshots = await listSnapshots(splashdown);
    await splashdown.close();
    const largest = Math.max(...snapshots.map(({ sizeBytes }) => sizeBytes));
    return {
      name: `largest snapshot of a typical task of ten agents`,
      value: `${(largest / 1000).toFixed(0)} KB`,
      beside: `bound 100 KB; ${snapshots.length} snapshots`,
      figure: largest,
      ratio: largest / 100_000,
      bound: 1,
    };
  });
