// The kill loop: the built program, killed at random and at every named point, taken up again until it is done.
// After each task: every effect exactly once, no late effect, the final output equal to an undisturbed run.
//   node scripts/kill-loop.mjs [--kills N] [--seed N]
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { EFFECTS, writeLedgerWorkflow } from "./kill-loop/ledger-workflow.mjs";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
});
const killsWanted = Number(values.kills);
const root = join(import.meta.dirname, "..");
const cli = join(root, "dist/cli/main.js");
const child = join(root, "scripts/kill-loop/kill-child.mjs");
const audit = join(root, "examples/code-audit/workflow.yaml");
const base = mkdtempSync(join(tmpdir(), "splashdown-kill-"));
const tally = { kills: 0, tasks: 0, unknown: 0, takenUp: 0, points: new Map(), violations: [] };

let seed = Number(values.seed);
function random(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

const environment = (place) => ({
  PATH: process.env.PATH,
  HOME: join(base, "home"),
  SPLASHDOWN_CONFIG_DIR: join(base, "config"),
  SPLASHDOWN_STATE_DIR: join(base, "state"),
  SPLASHDOWN_STORE: `file:${join(place, "outputs")}`,
  NODE_OPTIONS: "",
});

/** Runs a program to its end, or kills it after a time. */
async function execute(args, { place, killAfterMs }) {
  const started = spawn(process.execPath, args, {
    cwd: place,
    env: environment(place),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  started.stdout.on("data", (chunk) => (stdout += chunk));
  started.stderr.on("data", (chunk) => (stderr += chunk));
  const ended = new Promise((resolve) => started.on("close", (code, signal) => resolve({ code, signal })));
  if (killAfterMs !== undefined) {
    const timer = setTimeout(() => started.kill("SIGKILL"), killAfterMs);
    const result = await ended;
    clearTimeout(timer);
    return { ...result, stdout, stderr };
  }
  return { ...(await ended), stdout, stderr };
}

const verb = (place, ...args) => execute([cli, ...args, "--json"], { place });

function readLedger(ledger) {
  return existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").filter(Boolean) : [];
}

const effectsOf = (lines, name) => lines.filter((line) => line.split(" ")[0] === name).length;

/** Answers unknown outcomes as a person with the ledger at hand would: done if the line is there, else rerun. */
async function answerUnknown(place, task, ledger) {
  const shown = await verb(place, "show", task);
  if (shown.code !== 0) throw new Error(`show failed: ${shown.code} ${shown.stderr}`);
  const view = JSON.parse(shown.stdout);
  const before = readLedger(ledger);
  for (const question of view.questions.filter((candidate) => candidate.status === "open")) {
    if (question.kind !== "unknown_outcome") throw new Error(`unexpected question ${question.id}`);
    tally.unknown += 1;
    const name = question.step.split("@")[0].split("/").at(-1);
    const acted = effectsOf(before, name) > 0;
    const words = acted ? ["done", "--output", JSON.stringify({ step: name, value: name.length * 7 })] : ["rerun"];
    const answered = await verb(place, "answer", task, question.id, ...words);
    if (answered.code !== 0) throw new Error(`answer failed: ${answered.stderr}`);
  }
}

/** Goes on until the task is done, killing now and then while kills are wanted. */
async function finish({ place, task, first, again, ledger, extraKills = 0 }) {
  let next = first;
  let kills = extraKills;
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const killAfterMs = next.killAfterMs ?? (kills > 0 ? 60 + random(700) : undefined);
    const result = await execute(next.args, { place, killAfterMs });
    if (result.signal === "SIGKILL") {
      tally.kills += 1;
      kills -= 1;
    } else if (result.code === 0) {
      return JSON.parse((await verb(place, "show", task)).stdout);
    } else if (result.code === 22 && ledger !== undefined) {
      await answerUnknown(place, task, ledger);
    } else {
      throw new Error(`ended with ${result.code}: ${result.stderr.slice(-1500)} ${result.stdout.slice(-500)}`);
    }
    next = again;
  }
  throw new Error("not done after 60 processes");
}

function violate(where, what) {
  tally.violations.push(`${where}: ${what}`);
  console.error(`VIOLATION ${where}: ${what}`);
}

let count = 0;
function newPlace() {
  count += 1;
  return join(base, `place-${count}`);
}

async function runLedger(point, wanted) {
  const place = newPlace();
  const { file, ledger, trigger } = writeLedgerWorkflow(place);
  const task = "ledger";
  const plainRun = [cli, "run", file, "--task", task, "--json"];
  const again = { args: [cli, "resume", task, "--json"] };
  if (point.startsWith("effect:")) writeFileSync(trigger, point.slice("effect:".length));
  const isNamed = point !== "random" && !point.startsWith("effect:");
  const first = isNamed ? { args: [child, point, "run", file, task] } : { args: plainRun };
  tally.points.set(point.split(":")[0], (tally.points.get(point.split(":")[0]) ?? 0) + 1);
  try {
    const before = readLedger(ledger);
    const view = await finish({
      place,
      task,
      first,
      again: { args: plainRun.slice(0, 1).concat(again.args.slice(1)) },
      ledger,
      extraKills: wanted,
    });
    const lines = readLedger(ledger);
    for (const name of EFFECTS) {
      const times = effectsOf(lines, name);
      const mayRepeat = name.startsWith("pay-");
      if (times !== 1 && !(mayRepeat && times >= 1 && sameKeys(lines, name)))
        violate(point, `effect ${name} happened ${times} times`);
    }
    if (lines.some((line) => line.startsWith("late-"))) violate(point, "a child outlived its owner and acted");
    if (JSON.stringify(view.output) !== JSON.stringify(expected.ledger))
      violate(point, `output ${JSON.stringify(view.output)}`);
    if (before.length > 0) violate(point, "the ledger was not fresh");
  } catch (error) {
    violate(point, error.message);
  }
  tally.tasks += 1;
  rmSync(place, { recursive: true, force: true });
}

/** An idempotent function may repeat a sub-step whose end was not recorded: then with the same key, so that a receiver sees one. */
function sameKeys(lines, name) {
  return new Set(lines.filter((line) => line.split(" ")[0] === name)).size === 1;
}

async function runAudit(point, wanted) {
  const place = newPlace();
  writeLedgerWorkflow(place);
  const folder = join(root, "examples/code-audit");
  const task = "audit";
  const plainRun = [cli, "run", audit, "--task", task, "--input", `folder=${folder}`, "--json"];
  const first =
    point === "random" ? { args: plainRun } : { args: [child, point, "run", audit, task, `folder=${folder}`] };
  tally.points.set(`audit ${point.split(":")[0]}`, (tally.points.get(`audit ${point.split(":")[0]}`) ?? 0) + 1);
  try {
    await finish({ place, task, first, again: { args: plainRun }, extraKills: wanted });
    const report = readFileSync(join(place, "outputs", task, "final/report.md"), "utf8");
    const json = readFileSync(join(place, "outputs", task, "final/report.json"), "utf8");
    if (expected.report === undefined) Object.assign(expected, { report, json });
    if (report !== expected.report) violate(`audit ${point}`, "report.md differs from the undisturbed run");
    if (json !== expected.json) violate(`audit ${point}`, "report.json differs from the undisturbed run");
  } catch (error) {
    violate(`audit ${point}`, error.message);
  }
  tally.tasks += 1;
  rmSync(place, { recursive: true, force: true });
}

const expected = {};

async function learnExpected() {
  const place = newPlace();
  const { file } = writeLedgerWorkflow(place);
  const made = await execute([cli, "keys", "init", "--if-missing", "--json"], { place });
  if (made.code !== 0) throw new Error(`keys init failed: ${made.stderr}`);
  const result = await execute([cli, "run", file, "--task", "ledger", "--json"], { place });
  if (result.code !== 0) throw new Error(`the undisturbed run failed: ${result.stderr}${result.stdout}`);
  expected.ledger = JSON.parse(result.stdout).output;
  await runAudit("random", 0);
}

const startedAt = performance.now();
await learnExpected();
const named = [
  ...[1, 2, 3, 4, 5, 6].flatMap((n) => [`intent:${n}`, `spawned:${Math.min(n, 5)}`, `done:${n}`]),
  ...["first", "left", "middle", "right", "last"].map((name) => `effect:${name}`),
  ...[1, 2, 3].map((n) => `half-snapshot:${n}`),
];
const short = killsWanted < 50;
const chosen = short ? named.filter((_point, index) => index % 4 === 0) : named;
for (const point of chosen) await runLedger(point, short ? 0 : 1);
for (let round = 0; tally.kills < killsWanted; round += 1) {
  const turn = round % 6;
  if (turn === 0) await runAudit("random", 3);
  else if (turn === 1) await runAudit(`half-snapshot:${1 + random(4)}`, 1);
  else if (turn === 2) await runLedger("random", 4);
  else if (turn === 3) await runLedger(`operation:${1 + random(160)}`, 2);
  else if (turn === 4) await killRecovery(1 + random(60));
  else await runLedger("random", 2);
  if (round > killsWanted * 2) break;
}

/** Kills in the middle of the work, then again and again during the recovery itself. */
async function killRecovery(operation) {
  const place = newPlace();
  const { file, ledger } = writeLedgerWorkflow(place);
  const task = "ledger";
  tally.points.set("recovery", (tally.points.get("recovery") ?? 0) + 1);
  try {
    const first = await execute([child, `done:${1 + random(4)}`, "run", file, task], { place });
    if (first.signal === "SIGKILL") tally.kills += 1;
    for (let turn = 0; turn < 3; turn += 1) {
      const result = await execute([child, `operation:${operation + turn * 7}`, "resume", task], { place });
      if (result.signal === "SIGKILL") tally.kills += 1;
      if (result.code === 22) await answerUnknown(place, task, ledger);
    }
    const again = { args: [cli, "resume", task, "--json"] };
    const view = await finish({ place, task, first: again, again, ledger });
    const lines = readLedger(ledger);
    for (const name of EFFECTS) {
      const times = effectsOf(lines, name);
      if (times !== 1 && !(name.startsWith("pay-") && sameKeys(lines, name)))
        violate("recovery", `effect ${name} happened ${times} times`);
    }
    if (JSON.stringify(view.output) !== JSON.stringify(expected.ledger))
      violate("recovery", `output ${JSON.stringify(view.output)}`);
  } catch (error) {
    violate("recovery", error.message);
  }
  tally.tasks += 1;
  rmSync(place, { recursive: true, force: true });
}

await sleep(10);
rmSync(base, { recursive: true, force: true });
const seconds = Math.round((performance.now() - startedAt) / 1000);
for (const [point, times] of tally.points) console.log(`${point.padEnd(24)} ${times} tasks`);
console.log(
  `${tally.kills} kills, ${tally.tasks} tasks, ${tally.unknown} unknown outcomes reported, ${tally.violations.length} violations, ${seconds} s`,
);
process.exit(tally.violations.length === 0 && tally.kills >= killsWanted ? 0 : 1);
