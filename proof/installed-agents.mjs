// The built program against the real command lines of claude, codex, gemini and copilot, which ask a server of model answers
// on loopback (aimock): answer in a form, confidence, tokens and cost, session, refusals, kill, timeout, secrets; then the
// example of two agents that review a file. Not in the default run: it installs the programs first, at pinned versions, into
// proof/installed-agents/programs/ (about a gigabyte).
//   node proof/installed-agents.mjs [--only claude,codex] [--scenario answer,kill] [--keep]      "": the example alone
// After the installation it goes on in a network of its own that has loopback alone, where the machine lets it (Linux, root).
// Exit status 0: everything as it must be; 1: a fault; 3: none of the programs can be had here, with the reason.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openAnswerServer } from "./installed-agents/answer-server.mjs";
import { openPlace } from "./installed-agents/place.mjs";
import { installProgram, PROGRAMS, versionOf } from "./installed-agents/programs.mjs";
import { FILE_TEXT, OUTPUT, SCENARIOS } from "./installed-agents/scenarios.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: Object.keys(PROGRAMS).join(",") },
    scenario: { type: "string", default: Object.keys(SCENARIOS).join(",") },
    keep: { type: "boolean", default: false },
    isolated: { type: "boolean", default: false },
  },
});
const STATUS_UNAVAILABLE = 3;
const KEY = "sk-canary-7f3a9c1e55d2";
const EXAMPLE = join(import.meta.dirname, "..", "examples", "agent-review", "workflow.yaml");
const EXAMPLE_AGENTS = ["claude", "codex"];
const EXAMPLE_OUTPUT = "It subtracts.";

const names = values.only.split(",");
const missing = values.isolated ? [] : names.map((name) => [name, installProgram(name)]).filter(([, reason]) => reason);
for (const [name, reason] of missing) console.log(`${name} ${versionOf(name)} cannot be had here: ${reason}`);
const present = names.filter((name) => !missing.some(([other]) => other === name));
if (present.length === 0) process.exit(STATUS_UNAVAILABLE);
if (!values.isolated) goOnAlone();

/** Does not come back where the rest could be done in a network of its own. */
function goOnAlone() {
  const isAlone = spawnSync("unshare", ["--net", "ip", "link", "set", "lo", "up"]).status === 0;
  console.log(`network: ${isAlone ? "loopback alone" : "as it is; loopback alone needs Linux and root"}`);
  if (!isAlone) return;
  const own = [
    "--isolated",
    "--only",
    present.join(","),
    "--scenario",
    values.scenario,
    ...(values.keep ? ["--keep"] : []),
  ];
  const script = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", process.execPath, import.meta.filename, ...own];
  process.exit(spawnSync("unshare", ["--net", ...script], { stdio: "inherit" }).status ?? 1);
}

const folder = mkdtempSync(join(tmpdir(), "splashdown-installed-agents-"));
const faults = [];
let checks = 0;
function say(agent, what, { isGood, more = "" }) {
  checks += 1;
  if (!isGood) faults.push(what);
  const version = agent in PROGRAMS ? versionOf(agent) : "";
  const tail = more === "" ? "" : ` (${more.replace(/\s+/g, " ").slice(0, 160)})`;
  console.log(`${isGood ? "ok   " : "FAULT"} ${agent.padEnd(8)} ${version.padEnd(8)} ${what}${tail}`);
}

async function inPlace({ name, agents, output }, act) {
  const server = await openAnswerServer({ file: join(folder, name, "work", "a.mjs"), output });
  try {
    const place = openPlace(join(folder, name), { names: agents, server, key: KEY });
    place.write("a.mjs", FILE_TEXT);
    await act({ place, server, key: KEY });
    return server.paths();
  } finally {
    await server.close();
  }
}

async function judge(agent) {
  const paths = await inPlace({ name: agent, agents: [agent], output: OUTPUT }, async (room) => {
    for (const scenario of values.scenario.split(",")) {
      room.server.behave("answer");
      const report = (what, isGood, more) => say(agent, what, { isGood: isGood === true, more });
      try {
        await SCENARIOS[scenario]({ ...room, agent }, report);
      } catch (error) {
        report(scenario, false, String(error));
      }
    }
  });
  console.log(`     ${agent} asked ${paths.join(" ")}`);
}

async function review() {
  await inPlace({ name: "example", agents: EXAMPLE_AGENTS, output: EXAMPLE_OUTPUT }, async ({ place }) => {
    copyFileSync(EXAMPLE, join(place.work, "workflow.yaml"));
    // Codex works in a repository, or where it is told that it may.
    spawnSync("git", ["init", "--quiet"], { cwd: place.work });
    const { status, json, stderr } = await place.run("run", "workflow.yaml", "--input", "file=a.mjs", "--json");
    const { claude, codex } = json?.output ?? {};
    const isGood = status === 0 && claude === EXAMPLE_OUTPUT && codex === EXAMPLE_OUTPUT;
    say("example", "two agents review a file side by side", {
      isGood,
      more: isGood ? "" : `${status}, ${claude}, ${codex}, ${stderr}`,
    });
  });
}

for (const agent of present) if (values.scenario !== "") await judge(agent);
if (EXAMPLE_AGENTS.every((agent) => present.includes(agent))) await review();
if (faults.length > 0 || values.keep) console.log(`kept for a look: ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(`${checks} checks of ${present.length} programs, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
