// DBOS on Postgres: one workflow of steps that do nothing, each recorded before the next begins.
//   node dbos.mjs COUNT DATABASE_URL
import { DBOS } from "@dbos-inc/dbos-sdk";

const count = Number(process.argv[2]);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.argv[3], logLevel: "error" });
const starts = [];
const step = async () => {
  starts.push(performance.now());
  return "v".repeat(16);
};
const workflow = DBOS.registerWorkflow(
  async () => {
    for (let index = 0; index < count; index += 1) await DBOS.runStep(step, { name: "again" });
  },
  { name: "again" },
);
await DBOS.launch();
await workflow();
console.log(JSON.stringify({ stepMs: (starts.at(-1) - starts[0]) / (count - 1) }));
await DBOS.shutdown();
process.exit(0);
