// The job with an effect ledger: a machine with a parallel group and a function, every step with an effect outside.
import { writeFileSync } from "node:fs";
import { countEffect, findLedgerFaults, readLedger } from "./ledger.mjs";
import { outputOf, writeLedgerWorkflow } from "./ledger-workflow.mjs";

export function createLedgerJob() {
  return { name: "ledger", usualMs: 600, prepare: prepareLedger, toldOfAnswers: [] };
}

function prepareLedger(place) {
  const { file, ledger, trigger } = writeLedgerWorkflow(place.folder);
  return {
    file,
    inputs: [],
    ledger,
    /** The named effect kills its owner, once. */
    arm: (by, name) => writeFileSync(trigger, `${by} ${name}`),
    answer: ({ step }) => {
      const name = step.split("@")[0].split("/").at(-1);
      return countEffect(readLedger(ledger), name) > 0
        ? { answer: "done", value: outputOf(name) }
        : { answer: "rerun" };
    },
    findFaults: () => findLedgerFaults(readLedger(ledger)),
    readResult: (view) => ({ output: JSON.stringify(view.output) }),
  };
}
