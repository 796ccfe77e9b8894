// Runs, on every store there is here, Redis before Postgres among them: the suite of the store's contract, the stories of a
// task, those of FAULTS and the kill loop; prints a table of what passed, and by name what did not. `--readme` writes the
// table into docs/operations/stores.md. Two run side by side; each says when it is done.
//   node proof/stores.mjs [--readme] [--suite] [--only KIND,KIND] [--kills N] [--into FOLDER] [--built]
// --suite: only the contract. --kills: of each kill loop; six of ten of them on PGlite, whose start takes a second. --into: what
// each said stays there, and a run that finds it there does not ask again; so a run that was ended goes on.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listKinds } from "./stores/servers.mjs";
import { addKills, computeRows, findFaults, formatRows, placeTable } from "./stores/table.mjs";

const WORKERS = 2;
const { values } = parseArgs({
  options: {
    readme: { type: "boolean" },
    suite: { type: "boolean" },
    only: { type: "string", default: (await listKinds()).join() },
    kills: { type: "string", default: "20" },
    into: { type: "string" },
    built: { type: "boolean", default: false },
  },
});
const root = join(import.meta.dirname, "..");
const folder = values.into ?? mkdtempSync(join(tmpdir(), "splashdown-stores-"));
mkdirSync(folder, { recursive: true });
const kinds = values.only.split(",");
const results = [];
const killed = [];
const broken = [];

const CONTRACT = ["test/integration/store/conformance.test.ts", "test/integration/store/sql-conformance.test.ts"];
const contract = () => runTests("contract", { project: "!e2e", files: CONTRACT, stores: "all" });
const stories = (kind) => () =>
  runTests(`stories on ${kind}`, { project: "e2e", files: ["test/e2e/stores/scenarios.test.ts"], stores: kind });
const kills = (kind) => () => runKillLoop(kind);

async function runTests(name, { project, files, stores }) {
  const report = join(folder, `${name}.json`);
  const args = ["vitest", "run", "--project", project, "--reporter=json", `--outputFile=${report}`, ...files];
  if (!existsSync(report)) await run("npx", args, { SPLASHDOWN_TEST_STORES: stores, SPLASHDOWN_PROOF_FACTOR: "2" });
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    for (const { message } of testResults) if (message !== "") broken.push(`${name}: ${message.slice(0, 400)}`);
    const found = testResults.flatMap(({ assertionResults }) => assertionResults);
    results.push(...found);
    const countOf = (wanted) => found.filter(({ status }) => status === wanted).length;
    return `${countOf("passed")} passed, ${countOf("failed")} failed`;
  } catch (error) {
    broken.push(`${name}: no report: ${error.message}`);
    return "no report";
  }
}

async function runKillLoop(kind) {
  const count = Math.ceil(Number(values.kills) * (kind === "pglite" ? 0.6 : 1));
  const args = [join(root, "proof/kill-loop.mjs"), "--store", kind, "--workers", "1", "--kills", String(count)];
  const report = join(folder, `kill loop on ${kind}.txt`);
  if (!existsSync(report)) writeFileSync(report, (await run(process.execPath, args)).stdout);
  const stdout = readFileSync(report, "utf8");
  const [said = "no report", struck = 0] = /^(\d+) kills,.* violations/m.exec(stdout) ?? [];
  const faults = stdout.split("\n").filter((line) => line.startsWith("FAULT"));
  broken.push(...faults.map((fault) => `kill loop on ${kind}: ${fault}`));
  if (Number(struck) < count) broken.push(`kill loop on ${kind}: ${said}`);
  killed.push({ store: kind, passed: Number(struck), failed: faults.length });
  return said;
}

function run(file, args, variables = {}) {
  const env = { ...process.env, ...variables };
  const child = spawn(file, args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout })));
}

async function work(jobs) {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const startedAt = performance.now();
    const said = await job.run();
    console.error(`${job.name}: ${said}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }
}

// Once: the runs side by side would each make it.
if (!values.built) {
  const build = [join(root, "scripts/build.mjs")];
  execFileSync(process.execPath, build, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}
// Slow ones first.
const slowFirst = [...kinds].sort((one, other) => Number(other === "pglite") - Number(one === "pglite"));
const jobs = [
  ...(values.suite
    ? []
    : slowFirst.flatMap((kind) => [
        { name: `stories on ${kind}`, run: stories(kind) },
        { name: `kill loop on ${kind}`, run: kills(kind) },
      ])),
  { name: "contract", run: contract },
];
try {
  await Promise.all(Array.from({ length: WORKERS }, () => work(jobs)));
  const rows = addKills(computeRows(results), killed);
  const table = formatRows(rows);
  console.log(table);
  const faults = [...findFaults(results), ...broken];
  for (const fault of faults) console.log(`FAULT ${fault}`);
  if (values.readme && faults.length === 0) {
    const path = join(root, "docs/operations/stores.md");
    writeFileSync(path, placeTable(readFileSync(path, "utf8"), table));
  }
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  if (values.into === undefined) rmSync(folder, { recursive: true, force: true });
}
