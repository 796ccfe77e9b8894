/** How a suite is run, whatever it is: a script of ours, loops of kills, tests. Each gives cases tried, and what was wrong. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listKinds } from "../stores/servers.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/**
 * `skipped`: why nothing could be tried. `untried`: cases that need what is not here, one line each.
 *
 * @typedef {{ tried: number, violations: string[], skipped?: string, untried?: string[] }} Found
 */

/** Runs a script of ours that prints one line of JSON. */
export async function readJson(script, ...args) {
  const { code, stdout, stderr } = await run([join(ROOT, script), ...args.map(String)]);
  const line = stdout.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !line.startsWith("{"))
    return { tried: 0, violations: [`${script} ended with ${code}: ${stderr.slice(-600)}`] };
  return JSON.parse(line);
}

/** Runs the kill loop. Shape: as every suite's answer. */
export function killLoop(kills, seed = 1, store = "file") {
  return countKills("proof/kill-loop.mjs", ["--kills", kills, "--seed", seed, "--workers", 1, "--store", store]);
}

/** So many kills on every store that is here. */
export async function impatientKills(kills) {
  const sum = { tried: 0, violations: [] };
  for (const store of await listKinds()) {
    const args = ["--impatient", "--kills", kills, "--workers", 1, "--store", store];
    const { tried, violations } = await countKills("proof/kill-loop.mjs", args);
    sum.tried += tried;
    sum.violations.push(...violations.map((text) => `${store}: ${text}`));
  }
  return sum;
}

export async function countKills(script, args) {
  const { code, stdout, stderr } = await run([join(ROOT, script), ...args.map(String)]);
  const tried = Number(/^(\d+) kills,/m.exec(stdout)?.[1] ?? 0);
  const faults = stdout.split("\n").filter((line) => line.startsWith("FAULT"));
  const hasBroken = code !== 0 && faults.length === 0;
  return { tried, violations: hasBroken ? [`${script} ended with ${code}: ${stderr.slice(-600)}`] : faults };
}

/** Mutants of storage and cryptography; one that nobody noticed is a violation only where too many are. */
export async function countMutants() {
  const { code, stdout, stderr } = await run([join(ROOT, "proof/mutants.mjs"), "--json"]);
  const line = stdout.trim().split("\n").at(-1) ?? "";
  if (code === 3) return { tried: 0, violations: [], skipped: line };
  if (!line.startsWith("{"))
    return { tried: 0, violations: [`proof/mutants.mjs ended with ${code}: ${stderr.slice(-600)}`] };
  const { rows, score, stale, ok } = JSON.parse(line);
  const tried = rows.reduce((sum, row) => sum + row.noticed + row.unnoticed.length, 0);
  const words = `${(score * 100).toFixed(1)} of 100 noticed, ${stale.length} entries of equivalent.json fit nothing`;
  return { tried, violations: ok ? [] : [words] };
}

/** One round of the soak after the other, each with a seed of its own. */
export async function mixedRounds(count) {
  const sum = { tried: 0, violations: [] };
  for (let seed = 1; seed <= count; seed += 1) {
    const { tried, violations } = await readJson("proof/soak-rounds/mixed-round.mjs", String(seed));
    sum.tried += tried;
    sum.violations.push(...violations.map((text) => `seed ${seed}: ${text}`));
  }
  return sum;
}

/**
 * Runs tests: all of the files, or those whose title fits. A test that loops says how many cases it tried; a factor over 1
 * asks for all it can try (test/support/tried.ts).
 */
export async function runTests(files, { factor = 1, projects = ["!e2e"], titles = "" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-proof-"));
  const report = join(folder, "report.json");
  const where = projects.flatMap((project) => ["--project", project]);
  const args = ["run", ...where, "--testTimeout=0", "--reporter=json", `--outputFile.json=${report}`];
  const only = titles === "" ? [] : ["--testNamePattern", titles];
  try {
    await run([VITEST, ...args, ...only, ...files], { SPLASHDOWN_PROOF_FACTOR: String(factor) });
    return judgeReport(JSON.parse(readFileSync(report, "utf8")), titles);
  } catch (error) {
    return { tried: 0, violations: [`${files.join()}: no report: ${error.message}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a report of the tests says. A file that could not be loaded is a violation as a failed test is. */
export function judgeReport({ testResults }, titles = "") {
  const tests = testResults.flatMap((file) => file.assertionResults);
  const meant = tests.filter(({ fullName }) => new RegExp(titles).test(fullName));
  const failed = tests.filter(({ status }) => status === "failed");
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  );
  return {
    tried: tests.reduce((sum, { status, meta }) => sum + (status === "passed" ? (meta?.tried ?? 1) : 0), 0),
    violations: [
      ...failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.slice(0, 400)}`),
      ...broken.map(({ name, message }) => `${name} does not load: ${String(message).slice(0, 400)}`),
    ],
    untried: [
      ...meant.filter(({ status }) => status === "skipped" || status === "pending").map(({ fullName }) => fullName),
      ...tests.flatMap(({ meta }) => (meta?.untried === undefined ? [] : [meta.untried])),
    ],
  };
}

function run(args, variables = {}) {
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...variables } });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said })));
}
