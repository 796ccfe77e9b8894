// Runs a for_each of many items with the built library and prints, as JSON, the heap after each thousand of finished items.
// usage: node --expose-gc many-items.mjs LIBRARY WORKFLOW ITEMS STEPS-PER-ITEM; the settings are those of the environment.
const [library, workflow, items, stepsPerItem] = process.argv.slice(2);
const { openSplashdown } = await import(library);
const count = Number(items);
const SAMPLES = 10;

const splashdown = await openSplashdown({ store: "file:outputs" });
const heap = [];
let done = 0;
splashdown.on("step_finished", () => {
  done += 1;
  if (done % ((count * Number(stepsPerItem)) / SAMPLES) !== 0) return;
  globalThis.gc();
  heap.push(process.memoryUsage().heapUsed);
});
const began = performance.now();
const view = await splashdown.run({
  workflow,
  task: "t",
  inputs: { list: Array.from({ length: count }, (_none, index) => index) },
});
const durationMs = performance.now() - began;
await splashdown.close();
const { maxRSS } = process.resourceUsage();
process.stdout.write(
  `${JSON.stringify({ status: view.status, output: view.output, heap, maxRssBytes: maxRSS * 1024, durationMs })}\n`,
);
