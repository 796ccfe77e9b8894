#!/usr/bin/env node
/**
 * Runs tests of the source with coverage and holds the result to its floors. Every branch of the guarded rooms that no test
 * takes is told with its file and line. Exit status 1 when a floor is not reached.
 *
 *   node proof/coverage.mjs            all tests of the source: lines overall, branches of the guarded rooms
 *   node proof/coverage.mjs --rooms    the guarded rooms only, by their own tests
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describeRooms, FLOORS, judgeCoverage } from "./proofs/coverage-floors.mjs";

const FOLDER = "coverage";
const VITEST = "node_modules/vitest/vitest.mjs";
const ROOMS = Object.keys(FLOORS.branches);

const isOfRooms = process.argv.includes("--rooms");
const tests = isOfRooms
  ? [...ROOMS.flatMap((room) => [`test/unit/${room}`, `test/integration/${room}`]), "test/property"]
  : [];
const include = isOfRooms ? [`--coverage.include=src/{${ROOMS.join()}}/**/*.ts`] : [];
const args = [VITEST, "run", "--project", "!e2e", ...tests, ...include];
const coverage = ["--coverage", "--coverage.reporter=json", "--coverage.reportOnFailure"];
const { status } = spawnSync(process.execPath, [...args, ...coverage, `--coverage.reportsDirectory=${FOLDER}`], {
  stdio: "inherit",
});
const report = JSON.parse(readFileSync(`${FOLDER}/coverage-final.json`, "utf8"));
const { short, rooms } = judgeCoverage(report, isOfRooms ? { ...FLOORS, lines: 0 } : FLOORS);
console.log(describeRooms(rooms).join("\n"));
for (const line of short) console.error(line);
process.exitCode = status === 0 && short.length === 0 ? 0 : 1;
