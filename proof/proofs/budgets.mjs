// The budgets of storage and cryptography, each measured by itself in a process of its own, with nothing beside it. Looser than
// the bounds of scripts/bench, which tells how far from them we are. Prints { tried, violations, measured }, or { skipped }
// where the machine is too busy for a time to mean anything.
//   node proof/proofs/budgets.mjs            all
//   node proof/proofs/budgets.mjs NAME       that one, as { value, bound }
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { durableStep, timeResume } from "../measures/measures.mjs";
import { inPlace, percentile } from "../measures/place.mjs";
import { largeState, snapshotCost } from "../measures/state-measures.mjs";

/** Gives 200 KB that hardly compress. */
const GROW = `import { randomBytes } from "node:crypto";
export const grow = () => randomBytes(157_286).toString("base64");
`;

/** Chained functions that give so many pieces of 200 KB, then a wait: what is resumed holds all of them. */
function heldOf(megabytes) {
  const growth = Array.from({ length: megabytes * 5 }, (_piece, at) => ({
    name: `g${at}`,
    function: "./grow.mjs#grow",
    effects: "none",
    ...(at === 0 ? {} : { depends_on: [`g${at - 1}`] }),
  }));
  const wait = { name: "later", type: "wait", duration: "2h", depends_on: [growth.at(-1).name] };
  return { workflow: { name: `held-${megabytes}` }, steps: [...growth, wait] };
}

const BUDGETS = {
  "append over fdatasync, ms": {
    bound: 0.5,
    measure: async () => {
      const { figure, ratio } = await durableStep(300);
      return figure - figure / ratio;
    },
  },
  "snapshot of 1 MB, ms": {
    bound: 80,
    measure: async () => (await snapshotCost(1_000))[0].figure,
  },
  "recovery of 10 MB, ms": {
    bound: 500,
    measure: () =>
      inPlace(async ({ folder, open }) => {
        const file = join(folder, "workflow.json");
        writeFileSync(join(folder, "grow.mjs"), GROW);
        writeFileSync(file, JSON.stringify(heldOf(10)));
        const first = await open();
        await first.run({ workflow: file, task: "bench" });
        await first.close();
        const times = [];
        for (let run = 0; run < 5; run += 1) times.push(await timeResume(await open()));
        return percentile(times, 0.5);
      }),
  },
  "resident at 100 MB of state, MB": {
    bound: 1_500,
    measure: async () => {
      await largeState(100);
      return process.resourceUsage().maxRSS / 1_000;
    },
  },
};

/** What ran before this one is still in the average. */
const BUSY_LOAD = 4;
const name = process.argv[2];
if (name === undefined) tellAll();
else {
  const { bound, measure } = BUDGETS[name];
  console.log(JSON.stringify({ value: await measure(), bound }));
}

function tellAll() {
  const sum = { tried: 0, violations: [], measured: {} };
  const [load] = loadavg();
  if (load > BUSY_LOAD * availableParallelism()) sum.skipped = `the machine is busy: load ${load.toFixed(1)}`;
  for (const budget of Object.keys(BUDGETS)) {
    const text = execFileSync(process.execPath, [import.meta.filename, budget], { encoding: "utf8" });
    const { value, bound } = JSON.parse(text.trim().split("\n").at(-1));
    sum.tried += 1;
    sum.measured[budget] = Number(value.toFixed(2));
    const isJudged = sum.skipped === undefined || budget.startsWith("resident");
    if (isJudged && !(value <= bound)) sum.violations.push(`${budget}: ${value.toFixed(2)}, the budget is ${bound}`);
  }
  console.log(JSON.stringify(sum));
}
