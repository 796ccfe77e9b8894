// Measures every store there is here: a durable step beside the database's own insert of as many bytes in the same run,
// then resume, list and prune; and with --files the list and the removal of so many snapshot files of one task. A server of
// Postgres is started for it, where its binaries are.
//   node scripts/bench-stores.mjs [--steps N] [--files N] [--only KIND,KIND] [--json]
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureStores } from "./measures/stores.mjs";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "500" },
    files: { type: "string", default: "0" },
    only: { type: "string", default: "file,sqlite,pglite,postgres" },
    json: { type: "boolean", default: false },
  },
});

const found = [];
for await (const row of measureStores({
  steps: Number(values.steps),
  files: Number(values.files),
  kinds: values.only.split(","),
})) {
  found.push(row);
  if (values.json) continue;
  const ms = (figure) => `${figure.toFixed(2)} ms`;
  console.log(
    `${row.store.padEnd(9)} step ${ms(row.stepMs)} = ${(row.stepMs / row.bareMs).toFixed(2)} × its own insert ${ms(row.bareMs)}; ` +
      `resume ${ms(row.resumeMs)}, list ${ms(row.listMs)}, prune ${ms(row.pruneMs)}`,
  );
  const many = row.manyFiles;
  if (many === undefined) continue;
  const rest = `planned in ${ms(many.planMs)}, ${many.removed} removed in ${ms(many.pruneMs)}`;
  console.log(`${" ".repeat(9)} ${many.files} snapshot files: listed in ${ms(many.listMs)}, ${rest}`);
}
const machine = { steps: Number(values.steps), node: process.version, load: loadavg()[0] };
if (values.json) console.log(JSON.stringify({ machine, stores: found }, undefined, 2));
else console.log(`${machine.steps} steps, Node ${machine.node}, load ${machine.load?.toFixed(1)}`);
