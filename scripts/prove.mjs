#!/usr/bin/env node
/**
 * Proves what the project claims of itself, and prints it as a table: suite, cases tried, violations, time.
 *
 *   node scripts/prove.mjs [--long] [--only PATTERN] [--workers N] [--json] [--built]
 *
 * `--built`: the program has been built already.
 * Exit status 0: no violation, and at least as many cases as each suite must try. 1: anything else.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SUITES } from "./proofs/suites.mjs";

const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    workers: { type: "string", default: "2" },
  },
});
const form = values.long ? "long" : "commit";
const WIDTH = 66;
const SHOWN = 5;
const startMs = performance.now();

if (!values.built) {
  const build = [join(import.meta.dirname, "build.mjs")];
  execFileSync(process.execPath, build, { stdio: ["ignore", "ignore", "inherit"] });
}
const queue = SUITES.filter(({ name }) => new RegExp(values.only, "i").test(name));
const rows = [];
const say = (line) => (values.json ? undefined : console.log(line));
say(`${"suite".padEnd(WIDTH)} ${"cases".padStart(9)} ${"violations".padStart(10)} ${"time".padStart(7)}`);
await Promise.all(Array.from({ length: Number(values.workers) }, () => work()));
const isGood = rows.length > 0 && rows.every(({ ok }) => ok);
const seconds = secondsSince(startMs);
const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
say(
  `${"in all".padEnd(WIDTH)} ${String(sum("tried")).padStart(9)} ${String(sum("wrong")).padStart(10)} ${`${seconds} s`.padStart(7)}`,
);
if (values.json) console.log(JSON.stringify({ form, rows, seconds, ok: isGood }));
process.exitCode = isGood ? 0 : 1;

async function work() {
  for (let suite = queue.shift(); suite !== undefined; suite = queue.shift()) {
    const suiteMs = performance.now();
    const { tried, violations, skipped } = await suite.run(form);
    const least = suite.least[form];
    const isShort = skipped === undefined && tried < least;
    const ok = violations.length === 0 && !isShort;
    rows.push({
      suite: suite.name,
      tried,
      least,
      wrong: violations.length,
      violations,
      skipped,
      ok,
      seconds: secondsSince(suiteMs),
    });
    printRow(rows.at(-1), isShort);
  }
}

function printRow({ suite, tried, least, wrong, violations, skipped, seconds: time }, isShort) {
  say(`${suite.padEnd(WIDTH)} ${String(tried).padStart(9)} ${String(wrong).padStart(10)} ${`${time} s`.padStart(7)}`);
  if (skipped !== undefined) say(`  skipped: ${skipped}`);
  if (isShort) say(`  TOO FEW: at least ${least}`);
  for (const violation of violations.slice(0, SHOWN)) say(`  VIOLATION ${violation}`);
}

function secondsSince(ms) {
  return Math.round((performance.now() - ms) / 1000);
}
