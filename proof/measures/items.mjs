// One for_each of that many items which do nothing, in a window of 64; prints how quickly they went, what of it was alive
// when the last was done, and the most that was resident. `function`: each is a function, so that each fires a checkpoint;
// garbage is then collected when the system likes, as for everybody.
//   node --expose-gc proof/measures/items.mjs COUNT [function]
import { defineWorkflow } from "../../dist/index.js";
import { inPlace, itemsOf } from "./place.mjs";

const count = Number(process.argv[2]);
const isFunction = process.argv[3] === "function";

function createItems() {
  const workflow = itemsOf(64);
  if (!isFunction) return workflow;
  workflow.workflow.limits = { max_iterations: 2 * count };
  workflow.for_each[0].agent = { name: "w", function: () => ({ text: "ten bytes!" }), effects: "none" };
  return defineWorkflow(workflow);
}

await inPlace(async ({ open }) => {
  const splashdown = await open();
  const list = Array.from({ length: count }, (_item, index) => index);
  const startedMs = performance.now();
  const found = {};
  let done = 0;
  splashdown.on("step_finished", () => {
    done += 1;
    if (done < count) return;
    found.rate = (count / (performance.now() - startedMs)) * 1000;
    if (!isFunction) globalThis.gc();
    found.aliveBytes = process.memoryUsage().heapUsed;
  });
  const view = await splashdown.run({ workflow: createItems(), task: "bench", inputs: { list } });
  await splashdown.close();
  if (view.output?.count !== count)
    throw new Error(`${view.status}: ${view.output?.count} of ${count} items were done`);
  console.log(JSON.stringify({ ...found, peakBytes: process.resourceUsage().maxRSS * 1024 }));
});
