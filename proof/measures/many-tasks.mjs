// A store with many small tasks, a few of which have crashed, and the commands that look at all of them. They are made once, on
// files, and copied into each store.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chainOf, runCommand, timed } from "./place.mjs";

const STEPS = 10;
/** Of the crashed ones, which `recover` takes up. */
const CRASHED = 8;

/** Kills its process the first time, and is done once there is a file `mended` beside it. */
const STEP = `import { existsSync } from "node:fs";
export const crash = () => (existsSync(new URL("mended", import.meta.url)) ? 1 : process.kill(process.pid, "SIGKILL"));
`;
const CRASHING = {
  workflow: { name: "crashing", entry_point: "crash" },
  agents: [{ name: "crash", function: "./crash.mjs#crash", effects: "none", routes: [{ to: "$end" }] }],
};

/** Makes the tasks in `outputs` of the place; the answer is their address. */
export async function makeManyTasks({ folder, open }, count) {
  const splashdown = await open();
  const workflow = chainOf(STEPS);
  for (let at = 0; at < count - CRASHED; at += 1) await splashdown.run({ workflow, task: `done-${at}` });
  await splashdown.close();
  writeFileSync(join(folder, "crash.mjs"), STEP);
  writeFileSync(join(folder, "crashing.json"), JSON.stringify(CRASHING));
  const variables = { HOME: join(folder, "home") };
  for (let at = 0; at < CRASHED; at += 1)
    await runCommand(folder, variables, ["run", "crashing.json", "--task", `crashed-${at}`]).catch(() => undefined);
  writeFileSync(join(folder, "mended"), "");
  return `file:${join(folder, "outputs")}`;
}

/** Shape: how many tasks there were and were taken up, and milliseconds of each command with the start of its process. */
export async function measureTasks({ folder, home, from, variables }) {
  const working = join(folder, "tasks");
  mkdirSync(working, { recursive: true });
  const own = { HOME: home, SPLASHDOWN_STATE_DIR: join(working, "state") };
  const run = (...args) => runCommand(working, { ...variables, ...own }, args);
  const [copyMs] = await timed(() => run("store", "copy", "--from", from, "--to", variables.SPLASHDOWN_STORE));
  const [listMs, listed] = await timed(() => run("list", "--json"));
  const [doctorMs] = await timed(() => run("doctor", "--json"));
  const [metricsMs] = await timed(() => run("metrics", "--json"));
  const [planMs] = await timed(() => run("checkpoints", "prune", "--dry-run", "--json"));
  const [recoverMs, recovered] = await timed(() => run("recover", "--json"));
  const tasks = JSON.parse(listed).length;
  const takenUp = JSON.parse(recovered).tasks.filter(({ action }) => action === "taken_up").length;
  if (takenUp !== CRASHED) throw new Error(`${CRASHED} tasks had crashed, and ${takenUp} were taken up`);
  return { tasks, takenUp, copyMs, listMs, doctorMs, metricsMs, planMs, recoverMs };
}
