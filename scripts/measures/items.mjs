// One for_each of that many items which do nothing, in a window of 64; prints how quickly they went and what it took.
//   node scripts/measures/items.mjs COUNT
import { inPlace, itemsOf } from "./place.mjs";
import { runTimed } from "./runs.mjs";

const count = Number(process.argv[2]);
await inPlace(async ({ open }) => {
  const splashdown = await open();
  const list = Array.from({ length: count }, (_item, index) => index);
  const { view, totalMs } = await runTimed(splashdown, itemsOf(64), { inputs: { list } });
  await splashdown.close();
  if (view.output.count !== count) throw new Error(`${view.output.count} of ${count} items were done`);
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ rate: (count / totalMs) * 1000, peakBytes }));
});
