#!/usr/bin/env node
/**
 * Explores crashes and faults of the journal, the snapshots, recovery and every verb that changes something, and shows what
 * was found as it is found. The parts are shared by as many processes as there are processors, unless told otherwise.
 *
 *   node proof/explore-crashes.mjs [--quick | --long] [--only PATTERN] [--processes N]
 *
 * `--only`: the parts whose `group: name`, as they are printed, fits; `mutants: ` for those.
 *
 * Exit status 0: no violation on any image, and every mutant of the protocol was caught. 1: anything else.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { register } from "tsx/esm/api";

const flag = { type: "boolean" };
const { values } = parseArgs({
  options: {
    quick: flag,
    long: flag,
    only: { type: "string", default: "" },
    processes: { type: "string" },
    serve: flag,
  },
});
const form = values.quick === true ? "quick" : values.long === true ? "long" : "commit";
const wanted = { form, only: new RegExp(values.only, "i") };
register();
const { exploreAll, listJobs } = await import("../test/simulation/explore-all.ts");

if (values.serve === true) serve();
else {
  const helpers = startHelpers(Number(values.processes ?? availableParallelism()));
  process.exitCode = await exploreAll({ ...wanted, runJob: helpers.runJob, print: (line) => console.log(line) });
  helpers.end();
}

/** Runs the jobs whose numbers come in, one at a time, and sends back what was found. */
function serve() {
  const jobs = listJobs(wanted);
  process.on("message", (index) => void jobs[index].run().then((found) => process.send({ index, found })));
}

/** Processes that take the next job whenever they are done with one. */
function startHelpers(count) {
  const queue = [];
  const waiting = new Map();
  const helpers = Array.from({ length: count }, () =>
    fork(import.meta.filename, [...process.argv.slice(2), "--serve"], { stdio: "inherit" }),
  );
  const idle = [...helpers];
  const giveOut = () => {
    while (idle.length > 0 && queue.length > 0) idle.shift().send(queue.shift());
  };
  for (const helper of helpers) {
    helper.on("message", ({ index, found }) => {
      waiting.get(index).resolve(found);
      idle.push(helper);
      giveOut();
    });
    helper.on("exit", (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`a helper ended with ${code}`));
    });
  }
  const runJob = (index) =>
    new Promise((resolve, reject) => {
      waiting.set(index, { resolve, reject });
      queue.push(index);
      giveOut();
    });
  return { runJob, end: () => helpers.forEach((helper) => helper.disconnect()) };
}
