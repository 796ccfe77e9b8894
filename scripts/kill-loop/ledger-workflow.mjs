// The workflow with an effect ledger: every step appends one line to a file outside the task; lines are real executions.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Appends its line, lets itself be used to kill its owner, then gives its output. A late line must never appear.
const EFFECT = `
import { appendFileSync, existsSync, readFileSync, unlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const [name, ledger, trigger] = process.argv.slice(2);
await sleep(15);
appendFileSync(ledger, name + " " + process.env.SPLASHDOWN_IDEMPOTENCY_KEY + "\\n");
let isChosen = false;
try {
  isChosen = existsSync(trigger) && readFileSync(trigger, "utf8") === name;
} catch {}
if (isChosen) {
  unlinkSync(trigger);
  process.kill(process.ppid, "SIGKILL");
  await sleep(3000);
  appendFileSync(ledger, "late-" + name + "\\n");
}
process.stdout.write(JSON.stringify({ output: { step: name, value: name.length * 7 }, confidence: 0.95 }));
`;

const FUNCTIONS = `
import { appendFileSync } from "node:fs";
export async function pay(context) {
  const { ledger } = context.input;
  const first = await context.step("reserve", () => (appendFileSync(ledger, "pay-reserve " + context.idempotencyKey + "\\n"), 40));
  const second = await context.step("book", () => (appendFileSync(ledger, "pay-book " + context.idempotencyKey + "\\n"), 2));
  context.channel.set("paid", first + second);
  return { step: "pay", value: first + second };
}
`;

export const EFFECTS = ["first", "left", "middle", "right", "pay-reserve", "pay-book", "last"];

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
