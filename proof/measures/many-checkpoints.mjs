// A task with a snapshot file for each of many checkpoints, and the commands that people type on it: list and prune. It is
// made once, on files, and copied into each store. To the files that the task wrote come random bytes of the size of small ones
// for every checkpoint before the newest of those: nothing opens them before they go.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatSnapshotName, parseSnapshotName, SNAPSHOT_PREFIX } from "../../dist/checkpoint/format/names.js";
import { systemRandom } from "../../dist/runtime/platform/system-clock.js";
import { openIn, runCommand, timed } from "./place.mjs";

const TASK = "many";
const FILE_BYTES = 4_000;
/** Of the files that people let stay. */
const KEPT = 2;

/** A step that is run over and over, with a checkpoint each time. */
const workflowOf = (count) => ({
  workflow: { name: TASK, entry_point: "again", limits: { max_iterations: count + 9 } },
  agents: [
    {
      name: "again",
      function: "./again.mjs#again",
      effects: "none",
      routes: [{ to: "again", when: `{{ context.iteration < ${count} }}` }, { to: "$end" }],
    },
  ],
  output: { done: "{{ again.output }}" },
});

/** Makes the task in `outputs` of the place; the answer is its address. */
export async function makeManyCheckpoints({ folder, open }, count) {
  writeFileSync(join(folder, "again.mjs"), "export const again = () => 1;\n");
  const workflow = join(folder, "many.json");
  writeFileSync(workflow, JSON.stringify(workflowOf(count)));
  const splashdown = await open();
  await splashdown.run({ workflow, task: TASK });
  const checkpoints = await splashdown.checkpoints.list(TASK);
  await splashdown.close();
  const address = `file:${join(folder, "outputs")}`;
  const store = openIn(folder, address);
  const task = await store.task(TASK);
  const bytes = systemRandom.bytes(FILE_BYTES);
  const written = await task.list(SNAPSHOT_PREFIX);
  const newest = Math.max(...written.map(({ key }) => parseSnapshotName(key).seq));
  for (const { phase, seq, timestamp } of checkpoints.filter((checkpoint) => checkpoint.seq < newest))
    await task.putOnce(formatSnapshotName({ phase, seq, atMs: Date.parse(timestamp) }), bytes);
  await store.close();
  return address;
}

/** Shape: how many checkpoints there were and files went, and milliseconds of each command with the start of its process. */
export async function measureMany({ folder, home, from, variables }) {
  const working = join(folder, "many");
  mkdirSync(working, { recursive: true });
  // Of its own: each copy of the task goes its own way.
  const own = { HOME: home, SPLASHDOWN_STATE_DIR: join(working, "state") };
  const run = (...args) => runCommand(working, { ...variables, ...own }, args);
  const [copyMs] = await timed(() => run("store", "copy", TASK, "--from", from, "--to", variables.SPLASHDOWN_STORE));
  const [listMs, listed] = await timed(() => run("checkpoints", "list", TASK, "--json"));
  const prune = ["checkpoints", "prune", TASK, "--keep", String(KEPT)];
  const [planMs, plan] = await timed(() => run(...prune, "--dry-run", "--json"));
  const [pruneMs, pruned] = await timed(() => run(...prune, "--yes", "--json"));
  const filesOf = (view) => JSON.parse(view).tasks[0].files.length;
  const removed = filesOf(pruned);
  if (removed !== filesOf(plan)) throw new Error(`${filesOf(plan)} files were to go, and ${removed} went`);
  const count = JSON.parse(listed).length;
  return { checkpoints: count, removed, copyMs, listMs, planMs, pruneMs };
}
