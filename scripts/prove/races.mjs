// Many crashed tasks, and eight processes that all want each of them at once: one goes on, nothing runs twice.
// Prints { tried, violations }.  node scripts/prove/races.mjs ROUNDS
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stand } from "./stand.mjs";

const ROUNDS = Number(process.argv[2] ?? 100);
const RACERS = 8;
const CHILD = join(import.meta.dirname, "race-child.mjs");
const sum = { tried: 0, violations: [] };

const FUNCTIONS = `
import { appendFileSync, existsSync } from "node:fs";
const note = (context, name) => appendFileSync(context.input.ledger, name + "\\n");
export const first = (context) => (note(context, "first"), 1);
export async function hold(context) {
  note(context, "hold");
  while (existsSync(context.input.gate)) await new Promise((resolve) => setTimeout(resolve, 20));
  return 2;
}
export const last = (context) => (note(context, "last"), 3);
`;

const stand = new Stand();
const tasks = Array.from({ length: ROUNDS }, (_, at) => `t${at}`);
writeFileSync(stand.path("functions.mjs"), FUNCTIONS);
mkdirSync(stand.path("ledgers"));
stand.variables.SPLASHDOWN_KEY = Buffer.alloc(32, 7).toString("base64");
writeFileSync(stand.path("gate"), "");
for (const task of tasks) writeFileSync(stand.path(`${task}.json`), JSON.stringify(workflowOf(task)));
await crashAll();
await raceAll();
for (const task of tasks) judge(task);
stand.remove();
console.log(JSON.stringify(sum));

function workflowOf(task) {
  const input = { ledger: stand.path("ledgers", task), gate: stand.path("gate") };
  const step = (name, to) => ({
    name,
    function: `./functions.mjs#${name}`,
    input,
    effects: "idempotent",
    routes: [{ to }],
  });
  return {
    workflow: { name: task, entry_point: "first", limits: { max_iterations: 20 } },
    agents: [step("first", "hold"), step("hold", "last"), step("last", "$end")],
    output: { last: "{{ last.output }}" },
  };
}

/** One process owns all tasks, each in the middle of a step, and is killed. */
async function crashAll() {
  const child = stand.start([CHILD, "run", ...tasks]);
  await new Promise((resolve, reject) => {
    child.on("exit", () => reject(new Error("the first owner ended by itself")));
    const poll = setInterval(() => {
      const isHeld = tasks.every(
        (task) => existsSync(stand.path("ledgers", task)) && stand.ledger(`ledgers/${task}`).includes("hold"),
      );
      if (!isHeld) return;
      clearInterval(poll);
      child.removeAllListeners("exit");
      child.on("exit", resolve);
      child.kill("SIGKILL");
    }, 50);
  });
}

/** All racers want the same task at the same time, task after task. */
async function raceAll() {
  const racers = Array.from({ length: RACERS }, () => stand.start([CHILD, "race"]));
  await Promise.all(racers.map((racer) => answerOf(racer)));
  for (const task of tasks) {
    const answers = racers.map((racer) => answerOf(racer));
    for (const racer of racers) racer.send({ task });
    // The winner holds the task until all the others have been refused.
    await awaitRefusals(answers);
    const outcomes = await releaseAndAwait(answers);
    judgeOutcomes(task, outcomes);
  }
  for (const racer of racers) racer.kill("SIGKILL");
}

function answerOf(racer) {
  return new Promise((resolve, reject) => {
    racer.once("message", resolve);
    racer.once("exit", (code) => reject(new Error(`a racer ended with ${code}`)));
  });
}

function awaitRefusals(answers) {
  let count = 0;
  return new Promise((resolve) => {
    for (const answer of answers) void answer.then(() => (count += 1) >= RACERS - 1 && resolve());
  });
}

async function releaseAndAwait(answers) {
  rmSync(stand.path("gate"));
  const outcomes = await Promise.all(answers);
  writeFileSync(stand.path("gate"), "");
  return outcomes;
}

function judgeOutcomes(task, outcomes) {
  sum.tried += 1;
  const done = outcomes.filter(({ status }) => status === "done").length;
  const refused = outcomes.filter(({ code }) => code === "OWNER_ALIVE" || code === "OWNER_SUPERSEDED").length;
  if (done !== 1 || refused !== RACERS - 1) sum.violations.push(`${task}: ${JSON.stringify(outcomes)}`);
}

function judge(task) {
  const lines = stand.ledger(`ledgers/${task}`).join();
  if (lines !== "first,hold,hold,last") sum.violations.push(`${task}: the ledger is ${lines}`);
  const segments = readdirSync(stand.path("outputs", task, "checkpoints/journal"));
  const epochs = segments.filter((name) => name.endsWith("-0000.jsonl"));
  if (new Set(epochs).size !== epochs.length) sum.violations.push(`${task}: two owners of one epoch`);
}
