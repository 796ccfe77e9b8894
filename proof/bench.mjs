// Measures Splashdown on this machine, each figure beside its bound in the same run, and beside what a user would pick
// instead. `--results` keeps what was measured, `--readme` writes it into docs/benchmarks.md. A figure over its bound is told.
//   node proof/bench.mjs [--json] [--quick] [--no-peers] [--results FILE] [--readme]
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as measures from "./measures/measures.mjs";
import * as ofState from "./measures/state-measures.mjs";
import { measurePeers } from "./measures/peers.mjs";
import { describeMachine, describePeers, formatLine, RESULTS, writeTable } from "./measures/results.mjs";

const flag = { type: "boolean", default: false };
const { values } = parseArgs({
  options: { json: flag, quick: flag, readme: flag, "no-peers": flag, results: { type: "string" } },
});
const many = values.quick ? 2_000 : 10_000;
const list = [
  () => measures.startUp(),
  () => measures.listing(values.quick ? 100 : 500),
  () => measures.durableStep(values.quick ? 500 : 1_000),
  () => measures.flatCost(many),
  () => ofState.largeState(values.quick ? 20 : 100),
  () => measures.bytesWritten(1_000),
  () => ofState.snapshotCost(1_000),
  () => ofState.typicalTask(),
  () => measures.resumeTime(1_000, 50),
  () => measures.resumeTime(1_000, 50, { inFile: true }),
  () => measures.resumeTime(many, 150),
  () => measures.resumeTime(many, 700, { enabled: false }),
  () => measures.fan(many),
  () => measures.forEach(many),
  () => measures.functionItems(many),
];

const machine = {
  node: process.version,
  cores: cpus().length,
  model: cpus()[0]?.model ?? "unknown",
  load: loadavg()[0],
};
const results = [];
for (const measure of list) {
  for (const result of [await measure()].flat()) {
    const judged = { ...result, met: result.ratio <= result.bound };
    results.push(judged);
    if (!values.json) console.log(formatLine(judged));
  }
}
const peers = values.quick || values["no-peers"] ? [] : await measurePeers(1_000);
const found = { at: new Date().toISOString().slice(0, 10), machine, results, peers };
if (values.json) console.log(JSON.stringify(found, undefined, 2));
else for (const line of [...describePeers(found), describeMachine(found)]) console.log(line);
const file = values.results ?? (values.readme ? RESULTS : undefined);
if (file !== undefined) writeFileSync(file, `${JSON.stringify(found, undefined, 2)}\n`);
if (values.readme) {
  const path = join(import.meta.dirname, "../docs/benchmarks.md");
  writeFileSync(path, writeTable(readFileSync(path, "utf8"), found));
}
