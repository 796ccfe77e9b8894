// Measures every store there is here: a durable step beside the database's own insert of as many bytes in the same run,
// then resume, list and prune. A server of Postgres is started for it, where its binaries are.
//   node scripts/bench-stores.mjs [--steps N] [--only KIND,KIND] [--json]
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureStores } from "./measures/stores.mjs";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "500" },
    only: { type: "string", default: "file,sqlite,pglite,postgres" },
    json: { type: "boolean", default: false },
  },
});

const found = [];
for await (const row of measureStores({ steps: Number(values.steps), kinds: values.only.split(",") })) {
  found.push(row);
  if (values.json) continue;
  const ms = (figure) => `${figure.toFixed(2)} ms`;
  console.log(
    `${row.store.padEnd(9)} step ${ms(row.stepMs)} = ${(row.stepMs / row.bareMs).toFixed(2)} × its own insert ${ms(row.bareMs)}; ` +
      `resume ${ms(row.resumeMs)}, list ${ms(row.listMs)}, prune ${ms(row.pruneMs)}`,
  );
}
const machine = { steps: Number(values.steps), node: process.version, load: loadavg()[0] };
if (values.json) console.log(JSON.stringify({ machine, stores: found }, undefined, 2));
else console.log(`${machine.steps} steps, Node ${machine.node}, load ${machine.load?.toFixed(1)}`);
