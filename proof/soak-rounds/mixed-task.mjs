// The task of a mixed round: a gate, a model that costs, a group of items that say the secret they were given, and a last
// step; each command has an effect outside.
import { writeFileSync } from "node:fs";

export const TASK = "t";
export const SECRET = "canary-7f3a9c-of-the-soak";
export const ITEMS = ["a", "b", "c"];
export const EFFECTS = [...ITEMS.map((item) => `item-${item}`), "last"];

const step = (name, script, more) => ({
  name,
  command: ["sh", "-c", script, ...(more.args ?? [])],
  working_dir: ".",
  effects: "external",
  ...more.step,
});

export function writeMixedTask(stand) {
  const workflow = {
    name: "mixed",
    entry_point: "ask",
    input: { items: { type: "array" } },
    limits: { max_iterations: 60, budget_usd: 5 },
    runtime: { provider: "scripted", scripted_answers: { think: [{ say: { v: 1 }, cost_usd: 0.25 }] } },
  };
  const options = [
    { label: "yes", value: "yes", route: "think" },
    { label: "no", value: "no", route: "$end" },
  ];
  const work = step(
    "w",
    `sleep 0.05; echo item-$0 >> ledger; echo $TOKEN >&2; echo '{"output":{"item":"'$0'","said":"'$TOKEN'"}}'`,
    {
      args: ["{{ it }}"],
      step: { secrets: ["TOKEN"] },
    },
  );
  const last = step("last", `echo last >> ledger; echo '{"output":{"did":"last"}}'`, {
    step: { save_as: "last.json", routes: [{ to: "$end" }] },
  });
  const each = { name: "each", type: "for_each", source: "workflow.input.items", as: "it", max_concurrent: 2 };
  const file = {
    workflow,
    agents: [
      { name: "ask", type: "human_gate", prompt: "go on?", options },
      { name: "think", prompt: "what?", routes: [{ to: "each" }] },
      last,
    ],
    for_each: [{ ...each, agent: work, routes: [{ to: "last" }] }],
    output: { items: "{{ each.outputs }}", last: "{{ last.output }}", thought: "{{ think.output.v }}" },
  };
  writeFileSync(stand.path("workflow.json"), JSON.stringify(file));
}

/** As a person with the ledger at hand: done if the line is there, else once more. */
export function answerTo({ kind, step: id }, ledger) {
  if (kind === "gate") return ["yes"];
  const item = ITEMS[Number(/\[(\d+)\]/.exec(id)?.[1] ?? -1)];
  if (kind !== "unknown_outcome" || !ledger.includes(item === undefined ? "last" : `item-${item}`)) return ["rerun"];
  const output = item === undefined ? { did: "last" } : { item, said: SECRET };
  return ["done", "--value", JSON.stringify(output)];
}
