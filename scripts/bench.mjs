// Measures Splashdown on this machine, each figure beside its bound in the same run.
//   node scripts/bench.mjs [--json] [--quick]
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { bytesWritten, durableStep, fan, flatCost, resumeTime, startUp } from "./bench/measures.mjs";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const many = values.quick ? 2_000 : 10_000;
const measures = [
  () => startUp(),
  () => durableStep(1_000),
  () => flatCost(many),
  () => bytesWritten(1_000),
  () => resumeTime(1_000, 50, true),
  () => resumeTime(many, 150, true),
  () => resumeTime(many, 700, false),
  () => fan(many),
];
const results = [];
for (const measure of measures) {
  const result = await measure();
  results.push({ ...result, met: result.ratio <= result.bound });
  if (!values.json) {
    const mark = result.ratio <= result.bound ? "met " : "OVER";
    console.log(
      `${mark} ${result.name.padEnd(44)} ${result.value}; ${result.beside}; ${result.ratio.toFixed(2)} of ${result.bound}`,
    );
  }
}
const machine = { node: process.version, cores: cpus().length, model: cpus()[0]?.model ?? "unknown" };
if (values.json) console.log(JSON.stringify({ machine, results }, undefined, 2));
else console.log(`Node ${machine.node}, ${machine.cores} cores, ${machine.model}`);
