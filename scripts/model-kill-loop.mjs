// The built program, killed at random moments of a task with several specialists, many turns and tools, against a server
// of model answers on loopback; then taken up again until it is done.
//   node scripts/model-kill-loop.mjs [--kills N] [--seed N] [--keep]
// After each task: the server's journal shows no turn asked again that had been recorded (a later one had been asked),
// no more calls than turns and kills, every tool call under one key, and the output of an undisturbed run.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "./kill-loop/random.mjs";
import { openAnswerServer } from "./model-kill-loop/answer-server.mjs";
import { judgeCalls, judgeTools } from "./model-kill-loop/verdict.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "12" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
  },
});
const KILLS_PER_TASK = 4;
const STATUS_DONE = 0;
const PROGRAM = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const killsWanted = Number(values.kills);
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), "splashdown-model-kill-"));
const server = await openAnswerServer();

const specialist = (name, more = "") => `      - {name: ${name}, prompt: "I am ${name}. Work it out."${more}}\n`;
const OWN = ", tools: [look_up]";
const TOOL_SERVER = join(import.meta.dirname, "..", "test", "support", "programs", "strange-server.mjs");
const flowOf = (place) => `workflow:
  name: inquiry
  runtime:
    provider: local
    default_model: test-model
    mcp_servers:
      numbers:
        command: ${process.execPath}
        args: [${JSON.stringify(TOOL_SERVER)}, good]
        env: {LEDGER: ${JSON.stringify(join(place, "work", "server.jsonl"))}}
tools:
  - {name: numbers__again, approve: never}
  - {name: look_up, description: looks a number up, function: "./tools.mjs#lookUp", input: {n: {type: integer}}, effects: idempotent}
phases:
  - name: research
    confidence: 0
    specialists:
${specialist("alpha", OWN)}${specialist("beta", OWN)}${specialist("gamma", ", tools: [numbers__again]")}  - name: write
    confidence: 0
    specialists:
${specialist("author", `${OWN}, output: {report: {type: string}}`)}`;
const TOOLS = `import { appendFileSync } from "node:fs";
export function lookUp({ input, idempotencyKey, path }) {
  appendFileSync(new URL("./ledger.jsonl", import.meta.url), JSON.stringify({ path, n: input.n, key: idempotencyKey }) + "\\n");
  return { found: input.n * 11 };
}
`;

function makePlace(name) {
  const place = join(folder, name);
  for (const inner of ["config", "state", "work"]) mkdirSync(join(place, inner), { recursive: true });
  writeFileSync(join(place, "work", "flow.yaml"), flowOf(place));
  writeFileSync(join(place, "work", "tools.mjs"), TOOLS);
  for (const ledger of ["ledger.jsonl", "server.jsonl"]) writeFileSync(join(place, "work", ledger), "");
  // Kills before any turn would park a step after three of them, which is right and not asked about here.
  const settings = `providers: {local: {type: openai-compatible, base_url: "${server.url}"}}
recovery_config: {max_recovery_attempts: 100}
`;
  writeFileSync(join(place, "work", "splashdown.config.yaml"), settings);
  return place;
}

/** Runs the command to its end, or kills it after a time. */
function runOnce(place, killAfterMs) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, "run", "flow.yaml", "--task", "inquiry", "--json"], {
      cwd: join(place, "work"),
      env: {
        PATH: process.env.PATH,
        HOME: place,
        SPLASHDOWN_CONFIG_DIR: join(place, "config"),
        SPLASHDOWN_STATE_DIR: join(place, "state"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    child.on("error", reject);
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      resolve({ ...said, status, signal, ms: performance.now() - startedAt });
    });
  });
}

function readLines(place, name) {
  const text = readFileSync(join(place, "work", name), "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** What the functions of the workflow and its tool server were called with. */
function readLedger(place) {
  const served = readLines(place, "server.jsonl").map(({ name, input, key }) => ({ path: name, n: input.n, key }));
  return [...readLines(place, "ledger.jsonl"), ...served];
}

const outputOf = (end) => JSON.stringify(JSON.parse(end.stdout).output ?? null);

/** One task: killed up to some times, then run to its end. */
async function driveTask(name, killsMax, usualMs) {
  server.reset();
  const place = makePlace(name);
  let kills = 0;
  for (let left = killsMax; left > 0; left -= 1) {
    const end = await runOnce(place, Math.round(usualMs * 0.2) + random.below(Math.round(usualMs * 0.8)));
    if (end.signal !== "SIGKILL") break;
    kills += 1;
  }
  const end = await runOnce(place);
  const faults = end.status === STATUS_DONE ? [] : [`ended with ${end.status}: ${end.stderr.trim()}`];
  if (end.status === STATUS_DONE) faults.push(...judgeCalls(server.journal, kills), ...judgeTools(readLedger(place)));
  return { kills, faults, end, place };
}

const startedAt = performance.now();
const undisturbed = await driveTask("undisturbed", 0, 0);
if (undisturbed.faults.length > 0) throw new Error(`the undisturbed run: ${undisturbed.faults.join("; ")}`);
const expected = outputOf(undisturbed.end);
const callsExpected = server.journal.length;
let kills = 0;
let tasks = 0;
let calls = 0;
const faults = [];
for (; kills < killsWanted && tasks < killsWanted * 3; tasks += 1) {
  const driven = await driveTask(`task-${tasks}`, Math.min(KILLS_PER_TASK, killsWanted - kills), undisturbed.end.ms);
  kills += driven.kills;
  calls += server.journal.length;
  if (driven.faults.length === 0 && outputOf(driven.end) !== expected)
    driven.faults.push(`another output: ${outputOf(driven.end)}`);
  for (const fault of driven.faults) faults.push(`task ${tasks} after ${driven.kills} kills: ${fault}`);
  if (driven.faults.length === 0 && !values.keep) rmSync(driven.place, { recursive: true, force: true });
}
if (kills < killsWanted) faults.push(`only ${kills} of ${killsWanted} kills struck`);
await server.close();
for (const fault of faults) console.log(`FAULT ${fault}`);
if (faults.length === 0 && !values.keep) rmSync(folder, { recursive: true, force: true });
else console.log(`kept for a look: ${folder}`);
const seconds = Math.round((performance.now() - startedAt) / 1000);
console.log(
  `${kills} kills, ${tasks} tasks of ${callsExpected} turns, ${calls} calls, ${faults.length} violations, ${seconds} s`,
);
process.exit(faults.length === 0 ? 0 : 1);
