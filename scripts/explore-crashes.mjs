#!/usr/bin/env node
/**
 * Explores crashes of the journal, the snapshots, recovery and every verb that changes something, and shows what was found.
 *
 *   node scripts/explore-crashes.mjs [--quick] [--json]
 *
 * Exit status 0: no violation on any image, and every mutant of the protocol was caught. 1: anything else.
 */
import { register } from "tsx/esm/api";

register();
const { exploreAll } = await import("../test/simulation/explore-all.ts");
process.exitCode = await exploreAll({
  isQuick: process.argv.includes("--quick"),
  isJson: process.argv.includes("--json"),
  print: (line) => console.log(line),
});
