#!/usr/bin/env node
/**
 * Runs the tests of the source with coverage and holds the result to its floors. Exit status 1 when one is not reached.
 *
 *   node scripts/coverage.mjs
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { judgeCoverage } from "./coverage-floors.mjs";

const REPORT = "coverage/coverage-summary.json";
const VITEST = "node_modules/vitest/vitest.mjs";

const { status } = spawnSync(process.execPath, [VITEST, "run", "--project", "source", "--coverage"], {
  stdio: "inherit",
});
const short = judgeCoverage(JSON.parse(readFileSync(REPORT, "utf8")));
for (const line of short) console.error(line);
process.exitCode = status === 0 && short.length === 0 ? 0 : 1;
