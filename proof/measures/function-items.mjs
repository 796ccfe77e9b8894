// A workflow of as many quick functions as its list is long, each of which fires a checkpoint. At its end the process that
// ran it says on stderr the most that was resident in it: `{"peakBytes": n}`.
//   splashdown run proof/measures/function-items.mjs --inputs LIST.json
import { writeSync } from "node:fs";
import { defineWorkflow } from "../../dist/index.js";

const ITEMS_MAX = 10_000;

process.once("exit", () => writeSync(2, `${JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1024 })}\n`));

export default defineWorkflow({
  workflow: {
    name: "function-items",
    entry_point: "each",
    input: { list: { type: "array" } },
    limits: { max_iterations: 2 * ITEMS_MAX },
  },
  agents: [],
  for_each: [
    {
      name: "each",
      type: "for_each",
      source: "workflow.input.list",
      as: "it",
      max_concurrent: 64,
      agent: { name: "w", function: () => ({ text: "ten bytes!" }), effects: "none" },
      routes: [{ to: "$end" }],
    },
  ],
  output: { count: "{{ each.count }}" },
});
