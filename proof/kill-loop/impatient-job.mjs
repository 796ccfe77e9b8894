// The job of the impatient user: the ledger's workflow between two gates.
import { readFileSync, writeFileSync } from "node:fs";
import { createLedgerJob } from "./ledger-job.mjs";

export const FINISH = "finish";

export function createImpatientJob() {
  const ledger = createLedgerJob();
  return { ...ledger, name: "impatient", prepare: (place) => prepareGates(ledger.prepare(place)) };
}

function prepareGates(task) {
  const workflow = JSON.parse(readFileSync(task.file, "utf8"));
  const [first] = workflow.agents;
  const last = workflow.agents.find(({ name }) => name === "last");
  first.routes = [{ to: "allow" }];
  last.routes = [{ to: FINISH }];
  const gate = (name, values, route) => ({
    name,
    type: "human_gate",
    prompt: `${name}?`,
    options: values.map((value) => ({ value, route })),
  });
  workflow.agents.push(gate("allow", ["go", "send"], "sides"), gate(FINISH, ["close", "end"], "$end"));
  writeFileSync(task.file, JSON.stringify(workflow, undefined, 2));
  return task;
}

/** What a person says: of a gate both options, of all else what the ledger shows. */
export function answersTo(task, question) {
  if (question.kind === "gate") return question.options.map(({ value }) => ({ answer: value }));
  return [task.answer(question)];
}
