// The built program, killed at random moments of a task with several specialists, many turns and tools, against a server
// of model answers on loopback (aimock) in the forms of four providers; then taken up again until it is done.
//   node proof/model-kill-loop.mjs [--kills N] [--seed N] [--keep]
// After each kill the task's journal tells which turns are finished. After each task: the server was asked none of those
// again, and none before a later one; no more calls than turns and kills; every tool call under one key; and the output is
// that of an undisturbed run.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "./kill-loop/random.mjs";
import { openAnswerServer } from "./model-kill-loop/answer-server.mjs";
import { judgeCalls, judgeFinished, judgeTools } from "./model-kill-loop/verdict.mjs";
import { KEY_VARIABLE, makePlace, readLedger } from "./model-kill-loop/workflow.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
  },
});
const KILLS_PER_TASK = 4;
const STATUS_DONE = 0;
/** About as long as a turn takes, answer and tools. */
const TURN_MS = 250;
const PROGRAM = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const RUN = ["run", "flow.yaml", "--task", "inquiry", "--json"];
const killsWanted = Number(values.kills);
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), "splashdown-model-kill-"));
const server = await openAnswerServer();

/** Runs the command to its end, or kills it at a moment: so many calls of the server from now, and then a time. */
function runOnce(place, args, moment) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd: join(place, "work"),
      env: {
        PATH: process.env.PATH,
        HOME: place,
        [KEY_VARIABLE]: "a key for the loop",
        SPLASHDOWN_CONFIG_DIR: join(place, "config"),
        SPLASHDOWN_STATE_DIR: join(place, "state"),
        SPLASHDOWN_TRUST: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    const cancel = moment === undefined ? () => undefined : scheduleKill(child, moment);
    child.on("error", reject);
    child.on("close", (status, signal) => {
      cancel();
      resolve({ ...said, status, signal, ms: performance.now() - startedAt });
    });
  });
}

const LOOK_MS = 5;

function scheduleKill(child, { calls, ms }) {
  const callsThen = server.journal.length + calls;
  let timer;
  const looking = setInterval(() => {
    if (server.journal.length < callsThen) return;
    clearInterval(looking);
    timer = setTimeout(() => child.kill("SIGKILL"), ms);
  }, LOOK_MS);
  return () => (clearInterval(looking), clearTimeout(timer));
}

/** Anywhere between the start of the program and the last call of the task. */
function pickMoment(callsLeft, usualMs) {
  const calls = random.below(callsLeft + 1);
  return { calls, ms: random.below(calls === 0 ? Math.round(usualMs / 2) : TURN_MS) };
}

const STEP_NAME = /\/(\w+)@/;

/** How many turns of each specialist are finished by the task's journal, and how many calls the server had had by then. */
async function readFinished(place) {
  const { stdout, status } = await runOnce(place, ["events", "inquiry", "--json"]);
  const turns = new Map();
  // A kill before the task was there leaves nothing to read.
  for (const { type, event } of status === STATUS_DONE ? JSON.parse(stdout) : []) {
    if (type === "turn_recorded") turns.set(STEP_NAME.exec(event.step)?.[1], event.turn);
  }
  return { turns, calls: server.journal.length };
}

const outputOf = (end) => JSON.stringify(JSON.parse(end.stdout).output ?? null);

/** One task: killed up to some times, then run to its end. */
async function driveTask(name, killsMax, { calls: callsUsual, ms: usualMs }) {
  server.reset();
  const place = makePlace(join(folder, name), server.url);
  const finished = [];
  for (let left = killsMax; left > 0; left -= 1) {
    const end = await runOnce(place, RUN, pickMoment(Math.max(0, callsUsual - server.journal.length), usualMs));
    if (end.signal !== "SIGKILL") break;
    finished.push(await readFinished(place));
  }
  const kills = finished.length;
  const end = await runOnce(place, RUN);
  if (end.status !== STATUS_DONE)
    return { kills, end, place, faults: [`ended with ${end.status}: ${end.stderr.trim()}`] };
  const { journal } = server;
  const faults = [...judgeCalls(journal, kills), ...judgeFinished(journal, finished), ...judgeTools(readLedger(place))];
  return { kills, end, place, faults };
}

const startedAt = performance.now();
const undisturbed = await driveTask("undisturbed", 0, { calls: 0, ms: 0 });
if (undisturbed.faults.length > 0) throw new Error(`the undisturbed run: ${undisturbed.faults.join("; ")}`);
const expected = outputOf(undisturbed.end);
const usual = { calls: server.journal.length, ms: undisturbed.end.ms };
let kills = 0;
let tasks = 0;
let calls = 0;
const faults = [];
for (; kills < killsWanted && tasks < killsWanted * 3; tasks += 1) {
  const driven = await driveTask(`task-${tasks}`, Math.min(KILLS_PER_TASK, killsWanted - kills), usual);
  kills += driven.kills;
  calls += server.journal.length;
  if (driven.faults.length === 0 && outputOf(driven.end) !== expected)
    driven.faults.push(`another output: ${outputOf(driven.end)}`);
  for (const fault of driven.faults) faults.push(`task ${tasks} after ${driven.kills} kills: ${fault}`);
  if (driven.faults.length === 0 && !values.keep) rmSync(driven.place, { recursive: true, force: true });
}
if (kills < killsWanted) faults.push(`only ${kills} of ${killsWanted} kills struck`);
const paths = server.paths();
await server.close();
for (const fault of faults) console.log(`FAULT ${fault}`);
if (faults.length === 0 && !values.keep) rmSync(folder, { recursive: true, force: true });
else console.log(`kept for a look: ${folder}`);
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(
  `${kills} kills, ${tasks} tasks of ${usual.calls} turns, ${calls} calls of ${paths.join(" ")}, ${faults.length} violations, ${seconds} s`,
);
process.exit(faults.length === 0 ? 0 : 1);
