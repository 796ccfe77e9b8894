// Measures every store there is here: a durable step beside the database's own insert of as many bytes in the same run, then
// resume, list, the reading of a snapshot file and prune; with --files the commands that list and prune a task of so many
// checkpoints with a file each; with --tasks those that look at so many tasks. Servers are started for it, where their programs are.
//   node proof/bench-stores.mjs [--steps N] [--files N] [--tasks N] [--only KIND,KIND] [--json]
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureStores } from "./measures/stores.mjs";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "500" },
    files: { type: "string", default: "0" },
    tasks: { type: "string", default: "0" },
    only: { type: "string", default: "file,sqlite,pglite,postgres,postgres behind redis" },
    json: { type: "boolean", default: false },
  },
});

const ms = (figure) => `${figure.toFixed(2)} ms`;
const s = (figure) => `${(figure / 1000).toFixed(1)} s`;

function print(row) {
  const read = `read of ${Math.round(row.readBytes / 1024)} KiB ${ms(row.readMs)}`;
  console.log(
    `${row.store.padEnd(21)} step ${ms(row.stepMs)} = ${(row.stepMs / row.bareMs).toFixed(2)} × its own insert ${ms(row.bareMs)}; ` +
      `resume ${ms(row.resumeMs)}, list ${ms(row.listMs)}, ${read}, prune ${ms(row.pruneMs)}`,
  );
  if (row.many !== undefined) printMany(row.many);
  if (row.tasks !== undefined) printTasks(row.tasks);
}

const indent = " ".repeat(21);

function printMany({ checkpoints, removed, copyMs, listMs, planMs, pruneMs }) {
  const took = `copied in ${s(copyMs)}, listed in ${s(listMs)}, planned in ${s(planMs)}, ${removed} pruned in ${s(pruneMs)}`;
  console.log(`${indent} ${checkpoints} checkpoints, by command: ${took}`);
}

function printTasks({ tasks, takenUp, copyMs, listMs, doctorMs, metricsMs, planMs, recoverMs }) {
  const looked = `listed in ${s(listMs)}, doctor ${s(doctorMs)}, metrics ${s(metricsMs)}, prune planned in ${s(planMs)}`;
  const took = `copied in ${s(copyMs)}, ${looked}, ${takenUp} recovered in ${s(recoverMs)}`;
  console.log(`${indent} ${tasks} tasks, by command: ${took}`);
}

const found = [];
const started = loadavg()[0];
await measureStores({
  steps: Number(values.steps),
  files: Number(values.files),
  tasks: Number(values.tasks),
  kinds: values.only.split(","),
  onRow: (row) => {
    found.push(row);
    if (!values.json) print(row);
  },
});
const machine = { steps: Number(values.steps), node: process.version, load: started };
if (values.json) console.log(JSON.stringify({ machine, stores: found }, undefined, 2));
else console.log(`${machine.steps} steps, Node ${machine.node}, load ${machine.load?.toFixed(1)} at the beginning`);
