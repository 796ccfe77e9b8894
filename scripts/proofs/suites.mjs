/**
 * What is proven, as data: each suite tries cases, counts them, and names what was wrong. `least` is how many cases there must
 * be at least in that form.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** @typedef {{ tried: number, violations: string[], skipped?: string }} Found */

const EXPLORED = [
  { name: "crash after every operation", least: { commit: 30_000, long: 1_000_000 } },
  { name: "crash of what recovers, prunes, forks, imports, rotates, shreds", least: { commit: 10_000, long: 200_000 } },
  // Below the verbs every operation for every commit; of the verbs' own every third.
  { name: "an operation fails", least: { commit: 20_000, long: 80_000 } },
  { name: "a sync fails, drops its data, then succeeds", least: { commit: 2_000, long: 10_000 } },
];

const DAMAGE = [
  "test/unit/checkpoint/file-damage.test.ts",
  "test/unit/checkpoint/blobs.test.ts",
  "test/unit/journal/history.test.ts",
  "test/unit/vault/keyring-damage.test.ts",
  "test/unit/runtime/audit-file.test.ts",
];

/** What the usual run of the tests kills only here and there. */
const KILLED = [
  "test/e2e/past/killed-removal.test.ts",
  "test/e2e/past/killed-return.test.ts",
  "test/e2e/kill/eventful.test.ts",
];

/** Slow ones first: two run side by side. */
export const SUITES = [
  {
    name: "real system calls fail or kill (strace)",
    least: { commit: 60, long: 60 },
    run: () => readJson("scripts/proofs/injected.mjs"),
  },
  {
    name: "kill -9 of the real program",
    least: { commit: 200, long: 20_000 },
    run: (form) => killLoop(form === "long" ? 20_000 : 200),
  },
  {
    name: "kill -9 within turns and tools of models, over four wires",
    least: { commit: 8, long: 100 },
    run: (form) => countKills("scripts/model-kill-loop.mjs", ["--kills", form === "long" ? 100 : 8]),
  },
  {
    name: "real processes killed within every verb and rule",
    least: { commit: 40, long: 150 },
    run: (form) => runTests(KILLED, { factor: form === "long" ? 2 : 1, project: "e2e" }),
  },
  ...EXPLORED.map(({ name, least }) => ({
    name,
    least,
    run: (form) => readJson("scripts/proofs/explore.mjs", name, form),
  })),
  {
    name: "eight processes want one crashed task",
    least: { commit: 100, long: 5_000 },
    run: (form) => readJson("scripts/proofs/races.mjs", form === "long" ? "5000" : "100"),
  },
  {
    name: "a real disk fills up",
    least: { commit: 64, long: 1_024 },
    run: (form) => readJson("scripts/proofs/full-disk.mjs", form === "long" ? "1024" : "64"),
  },
  {
    name: "protocols with one thing left out are caught",
    least: { commit: 12, long: 12 },
    run: (form) => readJson("scripts/proofs/explore.mjs", "mutants", form),
  },
  {
    name: "every bit, every length: checkpoint, segment, keyring, blob, audit",
    least: { commit: 70_000, long: 70_000 },
    run: () => runTests(DAMAGE),
  },
  {
    name: "parsers on changed and random bytes",
    least: { commit: 200_000, long: 50_000_000 },
    run: (form) => runTests(["test/property/parsers.test.ts"], { factor: form === "long" ? 5_000 : 20 }),
  },
  {
    name: "mixed tasks under kills, faults and commands: the ten points",
    least: { commit: 40, long: 1_000 },
    run: (form) => mixedRounds(form === "long" ? 50 : 2),
  },
  {
    name: "crypto against outside vectors",
    least: { commit: 5, long: 5 },
    run: () => runTests(["test/unit/vault/vectors.test.ts"]),
  },
  {
    name: "golden files of every format",
    least: { commit: 5, long: 5 },
    run: () => runTests(["test/golden", "test/unit/engine/golden.test.ts"]),
  },
  {
    name: "stores under one suite",
    least: { commit: 100, long: 100 },
    run: () => runTests(["test/unit/store/conformance.test.ts", "test/property/store-model.test.ts"]),
  },
];

/** Runs a script of ours that prints one line of JSON. */
export async function readJson(script, ...args) {
  const { code, stdout, stderr } = await run([join(ROOT, script), ...args]);
  const line = stdout.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !line.startsWith("{"))
    return { tried: 0, violations: [`${script} ended with ${code}: ${stderr.slice(-600)}`] };
  return JSON.parse(line);
}

/** Runs the kill loop. Shape: as every suite's answer. */
export function killLoop(kills, seed = 1, store = "file") {
  return countKills("scripts/kill-loop.mjs", ["--kills", kills, "--seed", seed, "--workers", 1, "--store", store]);
}

async function countKills(script, args) {
  const { code, stdout, stderr } = await run([join(ROOT, script), ...args.map(String)]);
  const tried = Number(/^(\d+) kills,/m.exec(stdout)?.[1] ?? 0);
  const faults = stdout.split("\n").filter((line) => line.startsWith("FAULT"));
  const hasBroken = code !== 0 && faults.length === 0;
  return { tried, violations: hasBroken ? [`${script} ended with ${code}: ${stderr.slice(-600)}`] : faults };
}

/** One round of the soak after the other, each with a seed of its own. */
async function mixedRounds(count) {
  const sum = { tried: 0, violations: [] };
  for (let seed = 1; seed <= count; seed += 1) {
    const { tried, violations } = await readJson("scripts/soak-rounds/mixed-round.mjs", String(seed));
    sum.tried += tried;
    sum.violations.push(...violations.map((text) => `seed ${seed}: ${text}`));
  }
  return sum;
}

/** A test that loops says how many cases it tried; a factor over 1 asks for all it can try (test/support/tried.ts). */
async function runTests(files, { factor = 1, project = "source" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-proof-"));
  const report = join(folder, "report.json");
  const args = ["run", "--project", project, "--testTimeout=3600000", "--reporter=json", `--outputFile.json=${report}`];
  try {
    await run([VITEST, ...args, ...files], { SPLASHDOWN_PROOF_FACTOR: String(factor) });
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const tests = testResults.flatMap((file) => file.assertionResults);
    const failed = tests.filter(({ status }) => status === "failed");
    return {
      tried: tests.reduce((sum, { status, meta }) => sum + (status === "passed" ? (meta?.tried ?? 1) : 0), 0),
      violations: failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.slice(0, 400)}`),
    };
  } catch (error) {
    return { tried: 0, violations: [`${files.join()}: no report: ${error.message}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args, variables = {}) {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...variables } });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said })));
}
