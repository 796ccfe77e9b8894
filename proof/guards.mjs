#!/usr/bin/env node
/**
 * Removes, one at a time, every guard of durability in `src`: fencing checks, syncs, watermarks, claim checks, awaits of durable
 * writes. For each it runs the tests that reach the place, until one of them fails. A guard whose loss nothing notices is no guard.
 *
 *   node proof/guards.mjs [--only PATTERN] [--list] [--notes FILE] [--resume FILE] [--json]
 *
 * --only     sites whose id fits the pattern
 * --list     the sites, and nothing more
 * --notes F  which test file reaches which site, from an earlier run; made anew where F is not there
 * --resume F one JSON line per judged site is added to F; sites that stand in F already are not judged again
 *
 * A site whose loss cannot be noticed stands in proof/guards/accepted.json with the reason.
 * Exit status 0: all caught or accepted. 1: one survived, or an entry of that list fits no site or was caught after all.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { findSites } from "./guards/sites.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    notes: { type: "string" },
    resume: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const ROOT = join(import.meta.dirname, "..");
const CONFIG = "proof/guards/vitest.config.mjs";
/** Test files run together, quickest first: most guards are missed at once. */
const TOGETHER = 8;
/** A removed guard may leave a test waiting for ever, which counts as noticed. */
const RUN_MS_MAX = 240_000;

const accepted = JSON.parse(readFileSync(join(import.meta.dirname, "guards", "accepted.json"), "utf8"));
const sites = listSites().filter(({ id }) => new RegExp(values.only, "i").test(id));
if (values.list) {
  for (const { id, text } of sites) console.log(`${id}\n    ${text}`);
  console.log(`${sites.length} sites`);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "splashdown-guards-"));
try {
  process.exitCode = judgeAll();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function judgeAll() {
  const notes = readNotes(values.notes ?? join(folder, "notes.jsonl"));
  const known = new Map(
    values.resume !== undefined && existsSync(values.resume)
      ? readLines(values.resume).map((row) => [row.id, row])
      : [],
  );
  const rows = sites.map((site) => known.get(site.id) ?? judge(site, notes));
  const reasons = new Map(accepted.map(({ id, why }) => [id, why]));
  const survived = rows.filter(({ caughtBy, id }) => caughtBy === undefined && !reasons.has(id));
  const stale = accepted.filter(({ id }) => rows.some((row) => row.id === id && row.caughtBy !== undefined));
  const gone = values.only === "" ? accepted.filter(({ id }) => !sites.some((site) => site.id === id)) : [];
  const caught = rows.filter(({ caughtBy }) => caughtBy !== undefined).length;
  if (values.json) console.log(JSON.stringify({ rows, survived, stale, gone }));
  else {
    for (const { id, text, reachedBy } of survived)
      console.log(`SURVIVED ${id}\n    ${text} (reached by ${reachedBy} test files)`);
    for (const { id } of [...stale, ...gone]) console.log(`STALE in accepted.json: ${id}`);
    console.log(
      `${rows.length} guards removed: ${caught} noticed, ${rows.length - caught - survived.length} accepted, ${survived.length} not noticed`,
    );
  }
  return survived.length + stale.length + gone.length === 0 ? 0 : 1;
}

function judge({ id, text }, notes) {
  // A record's demand for a fencing check is read when the module is loaded: the tests of the module that holds it.
  const reaching = notes.filter(
    ({ reached }) =>
      reached.includes(id) || (id.includes(" record ") && reached.some((other) => other.startsWith(id.split(" ")[0]))),
  );
  const files = reaching.sort((left, right) => left.tookMs - right.tookMs).map(({ file }) => file);
  let caughtBy;
  for (let at = 0; at < files.length && caughtBy === undefined; at += TOGETHER)
    caughtBy = findNoticing(id, files.slice(at, at + TOGETHER));
  const row = { id, text, reachedBy: files.length, ...(caughtBy === undefined ? {} : { caughtBy }) };
  if (values.resume !== undefined) appendFileSync(values.resume, `${JSON.stringify(row)}\n`);
  if (!values.json)
    console.log(`${caughtBy === undefined ? "-   " : "ok  "} ${id}${caughtBy === undefined ? "" : ` (${caughtBy})`}`);
  return row;
}

/** The test that fails without the guard; `undefined` when all of them pass. */
function findNoticing(id, files) {
  const report = join(folder, "report.json");
  rmSync(report, { force: true });
  const { status, signal } = runTests(files, { SPLASHDOWN_GUARD: id, SPLASHDOWN_PROOF_FACTOR: "0.2" }, [
    "--bail=1",
    "--reporter=json",
    `--outputFile=${report}`,
  ]);
  if (status === 0) return undefined;
  if (signal !== null || !existsSync(report)) return "the run had to be ended";
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find((result) => result.status === "failed");
  return failed?.fullName ?? "an error outside of a test";
}

function runTests(files, env, flags) {
  return spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--config", CONFIG, ...flags], {
    cwd: ROOT,
    env: { ...process.env, ...env, SPLASHDOWN_GUARD_TESTS: JSON.stringify(files) },
    stdio: ["ignore", "ignore", "ignore"],
    timeout: RUN_MS_MAX,
    killSignal: "SIGKILL",
  });
}

function readNotes(file) {
  if (!existsSync(file)) {
    const isTest = (path) => path.endsWith(".test.ts") && !/^(?:e2e|unit\/examples)\//.test(path);
    const files = readdirSync(join(ROOT, "test"), { recursive: true })
      .filter(isTest)
      .map((path) => join("test", path));
    spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", "--config", CONFIG], {
      cwd: ROOT,
      env: { ...process.env, SPLASHDOWN_GUARD_NOTES: file, SPLASHDOWN_GUARD_TESTS: JSON.stringify(files) },
      stdio: ["ignore", values.json ? "ignore" : "inherit", "inherit"],
    });
  }
  return readLines(file);
}

function readLines(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function compareText(left, right) {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function listSites() {
  const isSource = (path) => path.endsWith(".ts") && !path.includes("generated");
  const files = readdirSync(join(ROOT, "src"), { recursive: true }).filter(isSource).sort(compareText);
  return files.flatMap((file) => {
    const path = join("src", file);
    return findSites(relative(ROOT, join(ROOT, path)), readFileSync(join(ROOT, path), "utf8"));
  });
}
