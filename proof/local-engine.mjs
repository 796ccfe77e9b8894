// The built program against a real inference engine on this machine (node-llama-cpp, a tiny model of random weights made
// here): real sampling, structured output, cancel, kill, replay. Not in the default run: it installs the engine first,
// into proof/local-engine/engine/.
//   node proof/local-engine.mjs [--seed N] [--keep]
// Exit status 0: everything as it must be; 1: a fault; 3: the engine cannot be had here, with the reason.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { installEngine, openEngine } from "./local-engine/engine-process.mjs";
import { writeTinyModel } from "./local-engine/tiny-model.mjs";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, keep: { type: "boolean", default: false } },
});
const PROGRAM = join(import.meta.dirname, "..", "dist", "cli", "main.js");
const STATUS_UNAVAILABLE = 3;
const STATUS_CANCELLED = 130;
/** A generation of so many tokens is still going on when it is looked at. */
const TOKENS_LONG = 60_000;
const TOKENS_BEGUN = 40;
const LOOK_MS = 10;
const LOOK_MS_MAX = 60_000;
const CANCEL_MS_MAX = 2_000;

const missing = installEngine();
if (missing !== undefined) {
  console.log(`the engine cannot be had here: ${missing}`);
  process.exit(STATUS_UNAVAILABLE);
}
const folder = mkdtempSync(join(tmpdir(), "splashdown-local-engine-"));
const modelPath = join(folder, "tiny.gguf");
writeTinyModel(modelPath, Number(values.seed));
const engine = await openEngine(modelPath);
const work = join(folder, "work");
for (const inner of ["config", "state", "work"]) mkdirSync(join(folder, inner));
writeFileSync(
  join(work, "splashdown.config.yaml"),
  `providers: {local: {type: openai-compatible, base_url: "${engine.url}/v1", model: tiny}}\n`,
);

function writeFlow(name, steps) {
  const lines = steps.map((step) => `  - ${JSON.stringify({ prompt: "Say something.", ...step })}\n`);
  writeFileSync(
    join(work, `${name}.yaml`),
    `workflow: {name: ${name}, runtime: {provider: local}}\nsteps:\n${lines.join("")}`,
  );
}

function start(...args) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: work,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SPLASHDOWN_CONFIG_DIR: join(folder, "config"),
      SPLASHDOWN_STATE_DIR: join(folder, "state"),
      SPLASHDOWN_TRUST: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (status, signal) => resolve({ ...said, status, signal }));
  });
  return { child, ended };
}

const run = async (...args) => {
  const end = await start(...args).ended;
  return { ...end, json: end.stdout.startsWith("{") ? JSON.parse(end.stdout) : undefined };
};

async function until(what, isTrue) {
  const endMs = performance.now() + LOOK_MS_MAX;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not within ${LOOK_MS_MAX / 1_000} s: ${what}`);
    await sleep(LOOK_MS);
  }
}

const faults = [];
function say(what, isGood, more = "") {
  if (!isGood) faults.push(what);
  console.log(`${isGood ? "ok   " : "FAULT"} ${what}${more === "" ? "" : `: ${more}`}`);
}

const complaintOf = ({ status, stderr }) => (status === 0 ? "" : `${status}, ${stderr.trim()}`);
const outputsOf = ({ json }) => json?.output ?? {};

async function sample() {
  const named = (prefix, temperature) =>
    [1, 2].map((index) => ({ name: `${prefix}${index}`, temperature, max_tokens: TOKENS_BEGUN }));
  writeFlow("sampled", [...named("cold", 0), ...named("warm", 1.5)]);
  const end = await run("run", "sampled.yaml", "--task", "sampled", "--json");
  const { cold1, cold2, warm1, warm2 } = outputsOf(end);
  say("a task of four answers is done", end.status === 0, complaintOf(end));
  say("temperature 0 says the same again", cold1 !== undefined && cold1.result === cold2?.result);
  say("temperature 1.5 does not", warm1 !== undefined && warm1.result !== warm2?.result);
  const { api_calls: calls, tokens_used: tokens } = end.json?.metrics ?? {};
  say("calls and tokens are counted", calls === 4 && tokens > 4 * TOKENS_BEGUN, `${calls} calls, ${tokens} tokens`);
}

async function form() {
  const output = {
    verdict: { type: "string", enum: ["good", "bad"] },
    sure: { type: "boolean" },
    why: { type: "string" },
  };
  writeFlow("formed", [{ name: "judge", temperature: 1, max_tokens: 4_000, output }]);
  const end = await run("run", "formed.yaml", "--task", "formed", "--json");
  const { verdict, sure, why } = outputsOf(end).judge ?? {};
  const fits = ["good", "bad"].includes(verdict) && typeof sure === "boolean" && typeof why === "string";
  say("an answer has the form that was asked for", end.status === 0 && fits, `${verdict}, ${sure}`);
  say("it had it at once", end.json?.metrics.api_calls === 1, `${end.json?.metrics.api_calls} calls`);
}

/** Starts a long answer and waits until it is under way. */
async function begin(name) {
  const { tokens } = await engine.stats();
  const running = start("run", `${name}.yaml`, "--task", name);
  await until("an answer is under way", async () => (await engine.stats()).tokens > tokens + TOKENS_BEGUN);
  return running;
}

const untilSilent = () => until("the engine has stopped", async () => (await engine.stats()).active === 0);

async function leave() {
  writeFlow("left", [{ name: "talk", max_tokens: TOKENS_LONG }]);
  const running = await begin("left");
  const { aborted } = await engine.stats();
  const startedMs = performance.now();
  running.child.kill("SIGINT");
  const { status } = await running.ended;
  const tookMs = Math.round(performance.now() - startedMs);
  say("Ctrl+C leaves an answer under way", status === STATUS_CANCELLED && tookMs < CANCEL_MS_MAX, `${tookMs} ms`);
  await untilSilent();
  say("the engine stopped with it", (await engine.stats()).aborted === aborted + 1);
}

async function kill() {
  writeFlow("killed", [
    { name: "first", max_tokens: TOKENS_BEGUN },
    { name: "talk", max_tokens: TOKENS_LONG, depends_on: ["first"] },
  ]);
  const { asked } = await engine.stats();
  const running = start("run", "killed.yaml", "--task", "killed");
  await until("the second is asked", async () => (await engine.stats()).asked === asked + 2);
  running.child.kill("SIGKILL");
  await running.ended;
  await untilSilent();
  writeFlow("killed", [
    { name: "first", max_tokens: TOKENS_BEGUN },
    { name: "talk", max_tokens: TOKENS_BEGUN, depends_on: ["first"] },
  ]);
  const end = await run("resume", "killed", "--accept-changes", "--json");
  say("a task that was killed goes on, and asks the open answer alone", end.status === 0, complaintOf(end));
  say("no finished answer is asked again", (await engine.stats()).asked === asked + 3);
}

async function replay() {
  const before = outputsOf(await run("run", "sampled.yaml", "--task", "sampled", "--json"));
  await engine.close();
  const end = await run("debug", "replay", "--checkpoint", "sampled:latest", "--json");
  say("a replay needs no engine", end.status === 0 && end.stdout.includes("warm2"), complaintOf(end));
  const again = await run("run", "sampled.yaml", "--task", "sampled", "--json");
  const isSame = before.warm1 !== undefined && JSON.stringify(outputsOf(again)) === JSON.stringify(before);
  say("a finished task gives its result without one", again.status === 0 && isSame);
  const forked = await run("debug", "replay", "--checkpoint", "sampled:latest", "--json");
  say("and tells the same story each time", forked.stdout === end.stdout);
}

try {
  const { stdout, status } = await run("doctor", "--models");
  say("doctor --models finds it", status === 0 && stdout.includes("1 models"));
  for (const scenario of [sample, form, leave, kill, replay]) await scenario();
} finally {
  await engine.close();
}
if (faults.length > 0 || values.keep) console.log(`kept for a look: ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(`${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
