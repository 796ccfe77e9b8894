#!/usr/bin/env node
/**
 * Changes the storage and the cryptography in every small way a mutation tester knows, and holds against each change the
 * tests of the file's own room: at least nine of ten must be noticed. Tells each that was not.
 *
 *   node proof/mutants.mjs [--only PATTERN] [--workers N] [--json]
 *
 * Not in the default run: it installs Stryker first, into proof/mutants/engine/. `--only`: files whose path fits. A mutant
 * that makes no difference stands in proof/mutants/equivalent.json with the reason, and is left out of the count.
 * Exit status 0: noticed as many as must be. 1: fewer, or an entry of that list that fits nothing any more. 3: Stryker cannot
 * be had here, with the reason.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { ROOMS } from "./mutants/rooms.mjs";
import { judgeMutants, scoreOf } from "./mutants/verdict.mjs";
import { installPackages } from "./proofs/installed.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    workers: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const ROOT = join(import.meta.dirname, "..");
const ENGINE = join(import.meta.dirname, "mutants", "engine");
const MODULES = join(ENGINE, "node_modules", "@stryker-mutator");
const STATUS_UNAVAILABLE = 3;
const SCORE_MIN = 0.9;
const WIDTH = 44;

const reason = installPackages(ENGINE);
if (reason !== undefined) {
  console.log(`Stryker cannot be had here: ${reason}`);
  process.exit(STATUS_UNAVAILABLE);
}
const equivalents = JSON.parse(readFileSync(join(import.meta.dirname, "mutants", "equivalent.json"), "utf8"));
const say = (line) => (values.json ? undefined : console.log(line));
const all = [];
const stale = [];
say(
  `${"file".padEnd(WIDTH)} ${"noticed".padStart(8)} ${"not".padStart(5)} ${"equivalent".padStart(10)} ${"of 100".padStart(7)}`,
);
for (const room of ROOMS) {
  const files = listFiles(room);
  if (files.length === 0) continue;
  const found = judgeMutants(await change(files, room.tests), equivalents);
  all.push(...found.rows);
  stale.push(...found.stale);
  for (const row of found.rows) sayRow(row);
}
const score = scoreOf(all);
say(`in all ${all.length} files: ${(score * 100).toFixed(1)} of 100 noticed, at least ${SCORE_MIN * 100} must be`);
for (const { file, line, is } of stale) say(`STALE in equivalent.json: ${file}: ${line} -> ${is}`);
const isGood = all.length > 0 && score >= SCORE_MIN && stale.length === 0;
if (values.json) console.log(JSON.stringify({ rows: all, score, stale, ok: isGood }));
process.exitCode = isGood ? 0 : 1;

function listFiles({ name, without }) {
  const isMeant = (file) => file.endsWith(".ts") && !without.some((pattern) => pattern.test(basename(file)));
  const files = readdirSync(join(ROOT, "src", name), { recursive: true, encoding: "utf8" }).filter(isMeant);
  return files.map((file) => `src/${name}/${file}`).filter((file) => new RegExp(values.only, "i").test(file));
}

/** The report of Stryker's on these files. */
async function change(files, tests) {
  const folder = mkdtempSync(join(tmpdir(), "splashdown-mutants-"));
  const report = join(folder, "report.json");
  const settings = {
    mutate: files,
    plugins: [join(MODULES, "vitest-runner", "dist", "src", "index.js")],
    testRunner: "vitest",
    vitest: { configFile: "proof/mutants/vitest.config.mjs" },
    coverageAnalysis: "perTest",
    concurrency: Number(values.workers),
    reporters: values.json ? ["json"] : ["json", "progress-append-only"],
    jsonReporter: { fileName: report },
    ignorePatterns: ["/dist", "/outputs", "/examples", "/coverage", "/test/e2e", "/proof/*/*/node_modules"],
    tempDirName: ".stryker-tmp",
    cleanTempDir: "always",
    timeoutMS: 20_000,
    allowConsoleColors: false,
    logLevel: "error",
  };
  const file = join(folder, "stryker.json");
  writeFileSync(file, JSON.stringify(settings));
  try {
    const status = await run([join(MODULES, "core", "bin", "stryker.js"), "run", file], tests);
    if (!existsSync(report)) throw new Error(`Stryker ended with ${status} and no report on ${files.join(", ")}`);
    return JSON.parse(readFileSync(report, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(args, tests) {
  // Loops over every bit and byte in their short form: they run anew for each mutant.
  const env = {
    ...process.env,
    SPLASHDOWN_MUTANT_TESTS: JSON.stringify(tests),
    SPLASHDOWN_PROOF_FACTOR: "0.1",
  };
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ["ignore", values.json ? "ignore" : "inherit", "inherit"],
  });
  return new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
}

function sayRow({ file, noticed, unnoticed, equivalent }) {
  const share = (scoreOf([{ noticed, unnoticed }]) * 100).toFixed(1);
  say(
    `${file.padEnd(WIDTH)} ${String(noticed).padStart(8)} ${String(unnoticed.length).padStart(5)} ${String(equivalent).padStart(10)} ${share.padStart(7)}`,
  );
  for (const { at, was, is, status } of unnoticed) {
    const untested = status === "NoCoverage" ? " (run by no test)" : "";
    say(`  ${at} ${was.slice(0, 120)} -> ${is.slice(0, 120)}${untested}`);
  }
}
