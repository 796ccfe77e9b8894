// Runs a for_each of many quick functions with the built library and prints the most that was resident, in MiB.
// usage: node function-items.mjs LIBRARY ITEMS BYTES; the settings are those of the environment.
const [library, items, bytes] = process.argv.slice(2);
const { openSplashdown, defineWorkflow } = await import(library);
const count = Number(items);
const text = "v".repeat(Number(bytes));
const splashdown = await openSplashdown({ store: "file:outputs" });
const each = { name: "each", type: "for_each", source: "workflow.input.list", as: "it", max_concurrent: 32 };
const view = await splashdown.run({
  workflow: defineWorkflow({
    workflow: {
      name: "items",
      entry_point: "each",
      input: { list: { type: "array" } },
      limits: { max_iterations: 2 * count },
    },
    agents: [],
    for_each: [{ ...each, agent: { name: "w", function: () => ({ text }), effects: "none" } }],
    output: { count: "{{ each.count }}" },
  }),
  task: "t",
  inputs: { list: Array.from({ length: count }, (_none, index) => index) },
});
await splashdown.close();
const residentMiB = process.resourceUsage().maxRSS / 1024;
process.stdout.write(`${JSON.stringify({ status: view.status, output: view.output, residentMiB })}\n`);
