// Two installed builds hand one task back and forth: each is killed in the midst of a step, the other goes on, reads, rotates
// the keys, prunes and carries it as a bundle; both tell the same of it. Then a build of formats to come, which is refused.
// The builds are this one and the oldest commit that has today's frozen files (without its history: this one under another
// version). Prints { tried, violations, pairs }.  node proof/proofs/two-builds.mjs commit|long
//   long: every commit since then that a stride of a dozen meets, each with this one.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT, Stand, viewOf } from "./stand.mjs";

const FORM = process.argv[2] ?? "commit";
const FROZEN = ["test/golden/formats/files", "test/golden/engine", "test/golden/task"];
const STEPS = ["a", "b", "c", "d", "e", "f"];
const OLDER_MAX = 12;
const LOOK_MS = 20;
const STEP_MS_MAX = 120_000;
const sum = { tried: 0, violations: [], pairs: [] };

const stand = new Stand();
const here = install("here", ROOT);
for (const { name, make } of listOlder()) {
  const older = install(name, make());
  sum.pairs.push(`${versionOf(here)} and ${name}`);
  await handOver(name, [here, older]);
}
refuseNewer();
if (sum.violations.length === 0) stand.remove();
else console.error(stand.folder);
console.log(JSON.stringify(sum));

/** A folder as a package manager would make it: what is shipped, and the packages beside it. */
function install(name, from) {
  const folder = stand.path("builds", name);
  mkdirSync(folder, { recursive: true });
  for (const part of ["package.json", "dist", "schemas"])
    cpSync(join(from, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

/** By name, how to come by its root with a `dist` in it. */
function listOlder() {
  const git = (...args) =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    const oldest = git("log", "-1", "--format=%h", "--", ...FROZEN).trim();
    if (oldest === "") throw new Error("no history");
    const since = git("log", "--reverse", "--format=%h", `${oldest}..HEAD`, "--", "src").trim().split("\n");
    const stride = Math.ceil(since.length / OLDER_MAX);
    const more = FORM === "long" ? since.filter((_commit, at) => at % stride === stride - 1) : [];
    return [oldest, ...more].filter(Boolean).map((commit) => ({ name: commit, make: () => buildCommit(commit) }));
  } catch {
    return [{ name: "renumbered", make: renumber }];
  }
}

function buildCommit(commit) {
  const folder = stand.path("sources", commit);
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["archive", commit], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: folder, stdio: "ignore" });
  return folder;
}

function renumber() {
  const folder = stand.path("sources", "renumbered");
  mkdirSync(folder, { recursive: true });
  for (const part of ["dist", "schemas"]) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: "99.0.0" }));
  return folder;
}

async function handOver(name, builds) {
  const task = `task-${name}`;
  const blame = (text) => sum.violations.push(`${name}: ${text}`);
  rmSync(stand.path("ledger"), { force: true });
  stand.writeWorkflow(STEPS, { canBeHeld: true });
  for (const [at, step] of STEPS.entries()) {
    writeFileSync(stand.path(`hold-${step}`), "");
    const words = at === 0 ? ["run", "workflow.json", "--task", task] : ["resume", task, "--take-over"];
    await killWithin(step, builds[at % 2], words).catch((error) => blame(error.message));
    rmSync(stand.path(`hold-${step}`));
    sum.tried += 1;
    const other = builds[(at + 1) % 2];
    if (at === 1) expectOk(other, ["keys", "rotate", task, "--task-key"], blame);
    if (at === 2) expectOk(other, ["checkpoints", "prune", task, "--keep", "1", "--yes"], blame);
    compare(builds, task, blame);
  }
  const last = viewOf(runBy(builds[0], ["resume", task, "--take-over", "--json"]));
  sum.tried += 1;
  if (last?.status !== "done" || last.output?.last !== STEPS.at(-1)) blame(`it ends ${JSON.stringify(last)}`);
  if ([...new Set(stand.ledger())].join() !== STEPS.join()) blame(`the ledger is ${stand.ledger().join()}`);
  carry(builds, task, blame);
}

/** Runs until the step is under way, and kills it there. */
async function killWithin(step, build, words) {
  const child = stand.start([join(build, "dist/cli/main.js"), ...words]);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => said.push(bytes));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const endMs = performance.now() + STEP_MS_MAX;
  while (stand.ledger().at(-1) !== step) {
    if (child.exitCode !== null || performance.now() > endMs)
      throw new Error(`${words.join(" ")} does not come to ${step}: ${Buffer.concat(said).toString()}`.slice(0, 600));
    await sleep(LOOK_MS);
  }
  child.kill("SIGKILL");
  await ended;
}

/** Both say the same of it, and that it is whole. */
function compare(builds, task, blame) {
  for (const words of [
    ["show", task, "--json"],
    ["checkpoints", "list", task, "--json"],
  ]) {
    const [first, second] = builds.map((build) => viewOf(runBy(build, words)));
    sum.tried += 1;
    if (first === undefined || JSON.stringify(withoutAge(first)) !== JSON.stringify(withoutAge(second)))
      blame(`${words.join(" ")} is ${JSON.stringify(first)} here, ${JSON.stringify(second)} there`.slice(0, 600));
  }
  for (const build of builds) expectOk(build, ["audit", "verify", task], blame);
}

/** What counts from now on is another at every look. */
function withoutAge(view) {
  return JSON.parse(
    JSON.stringify(view, (key, value) => (/(?:age|elapsed|_for)(?:_ms|_seconds)?$/.test(key) ? undefined : value)),
  );
}

/** A bundle of either opens in the other, in another place. */
function carry(builds, task, blame) {
  for (const [at, build] of builds.entries()) {
    const file = stand.path(`${task}-${at}.zip`);
    expectOk(build, ["checkpoints", "export", task, "--to", file], blame);
    const there = { variables: { SPLASHDOWN_STORE: `file:${stand.path(`elsewhere-${task}-${at}`)}` } };
    const imported = runBy(builds[1 - at], ["checkpoints", "import", file], there);
    const shown = viewOf(runBy(builds[1 - at], ["show", task, "--json"], there));
    sum.tried += 1;
    if (imported.code !== 0 || shown?.status !== "done")
      blame(`a bundle is not taken: ${imported.stdout}${imported.stderr}`);
  }
}

function expectOk(build, words, blame) {
  const { code, stdout, stderr } = runBy(build, words);
  sum.tried += 1;
  if (code !== 0) blame(`${words.join(" ")} ended with ${code}: ${stdout}${stderr}`.slice(0, 600));
}

/** Every format of the new build says 2.0. What it wrote is refused by name, and stays as it is. */
function refuseNewer() {
  const newer = install("newer", ROOT);
  const changed = readdirSync(join(newer, "dist"), { recursive: true })
    .filter((file) => file.endsWith(".js"))
    .map((file) => join(newer, "dist", file))
    .filter((file) => readFileSync(file, "utf8").includes('const VERSION = "1.0";'));
  for (const file of changed)
    writeFileSync(file, readFileSync(file, "utf8").replace('const VERSION = "1.0";', 'const VERSION = "2.0";'));
  if (changed.length < 8) sum.violations.push(`only ${changed.length} formats have a version of their own`);
  rmSync(stand.path("outputs"), { recursive: true, force: true });
  stand.writeWorkflow(["a"]);
  const made = runBy(newer, ["run", "workflow.json", "--task", "new", "--json"]);
  if (made.code !== 0) sum.violations.push(`the newer build does not run: ${made.stdout}${made.stderr}`.slice(0, 600));
  const before = picture();
  for (const words of [
    ["show", "new"],
    ["resume", "new"],
    ["checkpoints", "list", "new"],
    ["keys", "verify", "new"],
  ]) {
    const { code, stdout, stderr } = runBy(here, words);
    sum.tried += 1;
    if (code === 0 || !`${stdout}${stderr}`.includes("version 2.0"))
      sum.violations.push(`${words.join(" ")} of a newer task ended with ${code}: ${stdout}${stderr}`.slice(0, 600));
  }
  if (picture() !== before) sum.violations.push("a task of a newer build was changed by who cannot read it");
}

/** All that lies there but the audit of failed attempts, byte by byte. */
function picture() {
  return readdirSync(stand.path("outputs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith("/audit"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => `${file} ${readFileSync(file).toString("base64")}`)
    .join("\n");
}

function runBy(build, words, options = {}) {
  return stand.run(words, { ...options, program: join(build, "dist/cli/main.js") });
}
