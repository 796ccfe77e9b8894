#!/usr/bin/env node
/**
 * Where the command begins. A Node that is too old for us is told so in a sentence, before anything is loaded that it cannot
 * read or lacks: so nothing is imported here, and only words are used that a Node of ten years can read.
 *
 * The command itself: command-line.ts.
 */
const OLDEST = "20.19";

const parts = process.versions.node.split(".");
const age = Number(parts[0]) * 1000 + Number(parts[1]);
if (age < 20019) {
  process.stderr.write(`splashdown: needs Node ${OLDEST} or newer; this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  void import("./command-line.js");
}
