// A real file system of 1 MiB, filled to another level each time: the run ends in order, loses nothing, and goes on when there
// is room. Prints { tried, violations } or { skipped }.  node proof/proofs/full-disk.mjs LEVELS
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { Stand, viewOf } from "./stand.mjs";

const LEVELS = Number(process.argv[2] ?? 64);
const DISK_KIB = 2048;
const STEPS = ["a", "b", "c"];
const sum = { tried: 0, violations: [] };

const stand = new Stand();
mkdirSync(stand.path("disk"));
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_KIB}k,mode=700`, "tmpfs", stand.path("disk")]);
if (mounted.status !== 0) sum.skipped = "a small file system cannot be mounted here";
else {
  try {
    stand.variables.SPLASHDOWN_STORE = `file:${stand.path("disk/outputs")}`;
    stand.variables.SPLASHDOWN_KEY = Buffer.alloc(32, 7).toString("base64");
    for (let level = 0; level < LEVELS; level += 1) tryLevel(level);
  } finally {
    spawnSync("umount", [stand.path("disk")]);
  }
}
stand.remove();
console.log(JSON.stringify(sum));

/** From a disk on which nothing fits to one on which all but the reserve does. */
function tryLevel(level) {
  const freeKib = Math.round(((level + 1) * DISK_KIB * 0.7) / LEVELS);
  const blame = (text) => sum.violations.push(`${freeKib} KiB free: ${text}`);
  sum.tried += 1;
  rmSync(stand.path("disk/outputs"), { recursive: true, force: true });
  rmSync(stand.path("ledger"), { force: true });
  stand.writeWorkflow(STEPS);
  writeFileSync(stand.path("disk/filler"), Buffer.alloc((DISK_KIB - freeKib) * 1024));
  const first = stand.run(["run", "workflow.json", "--task", "t", "--json"]);
  const said = `${first.stdout}${first.stderr}`;
  if (first.code !== 0 && !said.includes("STORE_FULL")) blame(`it ends ${first.code}: ${said.slice(0, 400)}`);
  const before = stand.ledger();
  rmSync(stand.path("disk/filler"));
  const again = stand.run(["run", "workflow.json", "--task", "t", "--json"]);
  const last = again.code === 0 ? again : stand.run(["resume", "t", "--json"]);
  if (viewOf(last)?.output?.last !== "c")
    blame(`then it ends ${last.code}: ${last.stdout}${last.stderr}`.slice(0, 400));
  const ledger = stand.ledger();
  if ([...new Set(ledger)].join() !== STEPS.join()) blame(`the ledger is ${ledger.join()}`);
  const redone = ledger.slice(before.length).filter((name) => before.slice(0, -1).includes(name));
  if (redone.length > 0) blame(`done again: ${redone.join()}`);
}
