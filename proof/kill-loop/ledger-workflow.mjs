// The workflow with an effect ledger: every step appends one line to a file outside the task; lines are real executions.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Appends its line, then gives its output. Told by the trigger `MODE NAME`, it kills its owner in between and goes on: as
 * `effect` the keeper ends it; as `outlive` it has killed the keeper before and ignores TERM, so only recovery can. If
 * nobody does within a minute it writes a line that must never appear.
 */
const EFFECT = `
import { appendFileSync, existsSync, readFileSync, readdirSync, unlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const [name, ledger, trigger] = process.argv.slice(2);
const read = (file) => { try { return readFileSync(file, "latin1"); } catch { return ""; } };
await sleep(15);
appendFileSync(ledger, name + " " + process.env.SPLASHDOWN_IDEMPOTENCY_KEY + "\\n");
const [mode, chosen] = existsSync(trigger) ? read(trigger).split(" ") : [];
if (chosen === name) {
  unlinkSync(trigger);
  const owner = process.ppid;
  if (mode === "outlive") {
    process.on("SIGTERM", () => undefined);
    // A stopped owner starts no other keeper.
    process.kill(owner, "SIGSTOP");
    for (const pid of readdirSync("/proc").filter((entry) => /^\\d+$/.test(entry)))
      if (read("/proc/" + pid + "/cmdline").includes("splashdown-keeper\\0" + owner + "\\0")) process.kill(Number(pid), "SIGKILL");
  }
  process.kill(owner, "SIGKILL");
  await sleep(60000);
  appendFileSync(ledger, "late-" + name + "\\n");
}
process.stdout.write(JSON.stringify({ output: { step: name, value: name.length * 7 }, confidence: 0.95 }));
`;

/** What an effect gives when it is asked to, for a person who says that it is done. */
export const outputOf = (name) => ({ step: name, value: name.length * 7 });

const FUNCTIONS = `
import { appendFileSync } from "node:fs";
export async function pay(context) {
  const { ledger } = context.input;
  const act = (name) => appendFileSync(ledger, name + " " + context.idempotencyKey + "\\n");
  const first = await context.step("reserve", () => (act("pay-reserve"), 40));
  const second = await context.step("book", () => (act("pay-book"), 2));
  context.channel.set("paid", first + second);
  return { step: "pay", value: first + second };
}
`;

/** Writes the workflow into a folder; the answer is its file. */
export function writeLedgerWorkflow(folder) {
  mkdirSync(folder, { recursive: true });
  const ledger = join(folder, "ledger.txt");
  const trigger = join(folder, "kill-at-effect");
  const command = (name) => ["node", join(folder, "effect.mjs"), name, ledger, trigger];
  const step = (name, more = {}) => ({ name, command: command(name), effects: "external", ...more });
  const workflow = {
    workflow: { name: "ledger", entry_point: "first", limits: { max_iterations: 50 } },
    agents: [
      step("first", { routes: [{ to: "sides" }] }),
      step("left"),
      step("middle"),
      step("right"),
      {
        name: "pay",
        function: "./functions.mjs#pay",
        input: { ledger },
        effects: "idempotent",
        routes: [{ to: "last" }],
      },
      step("last", { routes: [{ to: "$end" }] }),
    ],
    parallel: [{ name: "sides", agents: ["left", "middle", "right"], routes: [{ to: "pay" }] }],
    output: { last: "{{ last.output }}", paid: "{{ pay.output.value }}", left: "{{ sides.outputs.left.value }}" },
  };
  writeFileSync(join(folder, "effect.mjs"), EFFECT);
  writeFileSync(join(folder, "functions.mjs"), FUNCTIONS);
  const file = join(folder, "workflow.json");
  writeFileSync(file, JSON.stringify(workflow, undefined, 2));
  return { file, ledger, trigger };
}
