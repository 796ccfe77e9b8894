#!/usr/bin/env node
/**
 * Explores crashes and faults of the journal, the snapshots, recovery and every verb that changes something, and shows what
 * was found as it is found.
 *
 *   node scripts/explore-crashes.mjs [--quick | --long]
 *
 * Exit status 0: no violation on any image, and every mutant of the protocol was caught. 1: anything else.
 */
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, long: { type: "boolean" } } });
register();
const { exploreAll } = await import("../test/simulation/explore-all.ts");
process.exitCode = await exploreAll({
  form: values.quick === true ? "quick" : values.long === true ? "long" : "commit",
  print: (line) => console.log(line),
});
