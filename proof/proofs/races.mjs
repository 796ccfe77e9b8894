// Many crashed tasks, and eight processes that all want each of them at once: one goes on, nothing runs twice.
// With --freeze each race has racers stopped and let go again (SIGSTOP, SIGCONT) wherever they are, the one that goes on among
// them, so that somebody acts on a look that is long past.
// Prints { tried, violations }.  node proof/proofs/races.mjs ROUNDS [--freeze]
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../kill-loop/random.mjs";
import { Stand } from "./stand.mjs";

const ROUNDS = Number(process.argv[2] ?? 100);
const FREEZES = process.argv.includes("--freeze");
/** Longer than a take-over takes; a freeze is drawn up to this. */
const FROZEN_MS_MAX = 120;
const RACERS = 8;
const TRIES_MAX = 20;
/** So many tasks are owned by one process that is killed. */
const CRASHED_TOGETHER = 10;
/** A process that has not answered by then hangs. */
const ANSWER_MS_MAX = 120_000;
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

const random = createRandom(ROUNDS);
const stand = new Stand();
const tasks = Array.from({ length: ROUNDS }, (_, at) => `t${at}`);
writeFileSync(stand.path("functions.mjs"), FUNCTIONS);
mkdirSync(stand.path("ledgers"));
stand.variables.SPLASHDOWN_KEY = Buffer.alloc(32, 7).toString("base64");
writeFileSync(stand.path("gate"), "");
for (const task of tasks) writeFileSync(stand.path(`${task}.json`), JSON.stringify(workflowOf(task)));
for (let at = 0; at < tasks.length; at += CRASHED_TOGETHER) await crash(tasks.slice(at, at + CRASHED_TOGETHER));
const racers = Array.from({ length: RACERS }, () => stand.start([CHILD, "race"]));
try {
  await raceAll();
  for (const task of tasks) judge(task);
} catch (error) {
  sum.violations.push(error.message);
} finally {
  for (const racer of racers) racer.kill("SIGKILL");
}
if (sum.violations.length === 0) stand.remove();
else console.error(stand.folder);
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

/** One process owns some tasks, each in the middle of a step, and is killed. */
async function crash(some) {
  const child = stand.start([CHILD, "run", ...some]);
  await new Promise((resolve, reject) => {
    child.on("exit", () => reject(new Error("the first owner ended by itself")));
    const poll = setInterval(() => {
      const isHeld = some.every(
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
  await Promise.all(racers.map((racer) => answerOf(racer)));
  for (const task of tasks) {
    // Rarely each of them is refused for another one's sake; they are all at it again then.
    for (let tries = 1; !(await race(task)); tries += 1) {
      if (tries < TRIES_MAX) continue;
      sum.violations.push(`${task}: nobody went on in ${tries} races`);
      break;
    }
    sum.tried += 1;
  }
}

/** True when the task is done by then. */
async function race(task) {
  const answers = racers.map((racer) => answerOf(racer));
  for (const racer of racers) racer.send({ task });
  const thaw = FREEZES ? freezeSome() : () => Promise.resolve();
  // The winner holds the task until all the others have been refused.
  try {
    await awaitRefusals(answers);
  } finally {
    await thaw();
  }
  rmSync(stand.path("gate"));
  const outcomes = await Promise.all(answers);
  writeFileSync(stand.path("gate"), "");
  const done = outcomes.filter(({ status }) => status === "done").length;
  const refused = outcomes.filter(({ code }) => code === "OWNER_ALIVE" || code === "OWNER_SUPERSEDED").length;
  if (done > 1 || done + refused !== RACERS) sum.violations.push(`${task}: ${JSON.stringify(outcomes)}`);
  return done === 1;
}

/** Stops one racer after the other for a while, until told to end; all of them go on then. */
function freezeSome() {
  const over = new AbortController();
  const frozen = (async () => {
    while (!over.signal.aborted) {
      const racer = racers[random.below(RACERS)];
      racer.kill("SIGSTOP");
      sum.frozen = (sum.frozen ?? 0) + 1;
      await sleep(1 + random.below(FROZEN_MS_MAX));
      racer.kill("SIGCONT");
      await sleep(1 + random.below(10));
    }
  })();
  return () => {
    over.abort();
    return frozen;
  };
}

function answerOf(racer) {
  return new Promise((resolve, reject) => {
    const end = (code) => reject(new Error(`a racer ended with ${code}`));
    racer.once("exit", end);
    racer.once("message", (answer) => {
      racer.off("exit", end);
      resolve(answer);
    });
  });
}

/** True when all but one have answered; a violation when they do not. */
function awaitRefusals(answers) {
  let count = 0;
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(new Error(`only ${count} of ${RACERS} answered in ${ANSWER_MS_MAX} ms: two go on at once`));
    const timer = setTimeout(late, ANSWER_MS_MAX);
    const take = () => {
      count += 1;
      if (count < RACERS - 1) return;
      clearTimeout(timer);
      resolve();
    };
    for (const answer of answers) answer.then(take, reject);
  });
}

function judge(task) {
  const lines = stand.ledger(`ledgers/${task}`).join();
  if (lines !== "first,hold,hold,last") sum.violations.push(`${task}: the ledger is ${lines}`);
  const segments = readdirSync(stand.path("outputs", task, "checkpoints/journal"));
  const epochs = segments.filter((name) => name.endsWith("-0000.jsonl"));
  if (new Set(epochs).size !== epochs.length) sum.violations.push(`${task}: two owners of one epoch`);
}
