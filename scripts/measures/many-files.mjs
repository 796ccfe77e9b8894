// Retention over a task that has a snapshot file for each of many checkpoints: the list, the plan, and the removal of all
// but two, on the store itself. What opening the task costs comes on top and is measured as its resume.
import { createNodeFileSystem } from "../../dist/base/node-file-system.js";
import { formatSnapshotName } from "../../dist/checkpoint/names.js";
import { SnapshotRetention } from "../../dist/checkpoint/retention.js";
import { systemClock, systemRandom } from "../../dist/runtime/system-clock.js";
import { openStore } from "../../dist/store/open-store.js";

/** Small ones are about that large. */
const FILE_BYTES = 4_000;
const log = { info: () => undefined, warn: () => undefined, debug: () => undefined };

function openIn(folder, address) {
  const parts = { fileSystem: createNodeFileSystem(), clock: systemClock, random: systemRandom, workingFolder: folder };
  return openStore(address, { ...parts, platform: process.platform, userId: process.getuid?.() });
}

async function timed(work) {
  const startedMs = performance.now();
  const result = await work();
  return [performance.now() - startedMs, result];
}

async function layFiles(task, count) {
  const checkpoints = [];
  const bytes = systemRandom.bytes(FILE_BYTES);
  for (let seq = 1; seq <= count; seq += 1) {
    const atMs = Date.UTC(2024, 0, 1) + seq;
    checkpoints.push({ checkpointId: `c-${seq}`, seq, phase: 1, atMs, position: seq });
    await task.putOnce(formatSnapshotName({ phase: 1, seq, atMs }), bytes);
  }
  return checkpoints;
}

/** Shape: milliseconds of a list, of a plan, of the removal; how many files went. */
export async function measureManyFiles({ folder, address, count }) {
  const store = openIn(folder, address);
  const task = await store.createTask("many");
  const checkpoints = await layFiles(task, count);
  const retention = new SnapshotRetention({
    store: task,
    journal: { confirm: async () => undefined },
    log,
    rules: { perPhaseMax: 2, perTaskMax: 2 },
    verify: async () => true,
    onPruned: async () => undefined,
    nowMs: () => Date.now(),
  });
  const [listMs] = await timed(() => task.list("checkpoint"));
  const [planMs, plan] = await timed(() => retention.plan({ checkpoints }));
  const [pruneMs, removed] = await timed(() => retention.carryOut({ checkpoints }, plan));
  await store.close();
  return { files: count, removed: removed.length, listMs, planMs, pruneMs };
}
