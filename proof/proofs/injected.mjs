// Real system calls that fail or kill under the real program, by strace: each call of each kind, one after the other, until
// a run has no such call any more. Prints { tried, violations } or { skipped }.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Stand, viewOf } from "./stand.mjs";

const STEPS = ["a", "b", "c"];
const SEGMENT = "outputs/t/checkpoints/journal/00000001-0000.jsonl";

/** [calls, which of them, only those on this file] */
const PLACES = [
  ["fdatasync"],
  ["fsync"],
  ["link,linkat"],
  ["rename,renameat,renameat2"],
  ["unlink,unlinkat"],
  ["write,pwrite64,writev,pwritev", SEGMENT],
];
const WAYS = ["error=EIO", "signal=KILL"];
const CALLS_MAX = 200;

const sum = { tried: 0, violations: [] };
const probe = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]);
if (probe.error !== undefined || probe.status !== 0) sum.skipped = "strace is not installed, or may not trace here";
else for (const place of PLACES) for (const way of WAYS) strikeEach(place, way);
console.log(JSON.stringify(sum));

function strikeEach([calls, file], way) {
  for (let when = 1; when <= CALLS_MAX; when += 1) {
    const stand = new Stand();
    const hasStruck = strike(stand, { calls, file, way, when });
    stand.remove();
    if (!hasStruck) return;
    sum.tried += 1;
  }
}

/** False when the run had no such call. */
function strike(stand, { calls, file, way, when }) {
  stand.writeWorkflow(STEPS);
  const what = `${calls} number ${when}, ${way}`;
  const blame = (text) => sum.violations.push(`${what}: ${text}`);
  const only = file === undefined ? [] : ["-P", stand.path(file)];
  const inject = `inject=${calls}:${way}:when=${when}`;
  const through = ["strace", "-f", "-qq", "-o", stand.path("trace"), ...only, "-e", `trace=${calls}`, "-e", inject];
  const first = stand.run(["run", "workflow.json", "--task", "t", "--json"], { through });
  const trace = readFileSync(stand.path("trace"), "utf8");
  if (!/INJECTED|SIGKILL/.test(trace)) return false;
  judgeFirst(first, blame);
  const again = stand.run(["run", "workflow.json", "--task", "t", "--json"]);
  const last = again.code === 0 ? again : stand.run(["resume", "t", "--take-over", "--json"]);
  const view = viewOf(last);
  if (view?.status !== "done" || view.output?.last !== "c") blame(`it ends ${last.code}: ${last.stdout}${last.stderr}`);
  const ledger = stand.ledger();
  if ([...new Set(ledger)].join() !== STEPS.join()) blame(`the ledger is ${ledger.join()}`);
  if (stand.run(["audit", "verify", "t"]).code !== 0) blame("the audit trail is broken");
  return true;
}

function judgeFirst({ code, signal, stdout, stderr }, blame) {
  if (code === 0 || signal === "SIGKILL" || code === 137 || code === null) return;
  const said = `${stdout}${stderr}`;
  if (![4, 12].includes(code)) blame(`the first run ends with ${code}: ${said}`);
  if (!/(STORE|KEY|CHECKPOINT)_[A-Z]+/.test(said) || said.includes("INTERNAL")) blame(`no typed error: ${said}`);
}
