// Planted violations: with one of them the loop must fail, else it proves nothing.
import { appendFileSync, writeFileSync } from "node:fs";
import { readLedger } from "./ledger.mjs";

const nothing = { flags: [], answer: undefined, spoil: () => undefined };

/** Changes the ledger of a finished task, the harness' own doing. */
const spoilLedger = (change) => ({ ...nothing, spoil: ({ ledger }) => ledger !== undefined && change(ledger) });

const PLANTS = {
  none: nothing,
  /** An effect that happened twice. */
  double: spoilLedger((ledger) => appendFileSync(ledger, `${readLedger(ledger)[0]}\n`)),
  /** An effect that never happened. */
  lost: spoilLedger((ledger) => writeFileSync(ledger, `${readLedger(ledger).slice(1).join("\n")}\n`)),
  /** A child that acted after its owner was dead and judged. */
  late: spoilLedger((ledger) => appendFileSync(ledger, "late-left\n")),
  /** The program runs steps again that may have acted: kills in the middle of an effect must show it. */
  rerun: { ...nothing, flags: ["--on-unknown", "rerun"] },
  /** The impatient user's `run` begins anew beside what waits. */
  anew: { ...nothing, runFlags: ["--new"] },
  /** A person who says `rerun` without looking. */
  careless: { ...nothing, answer: { answer: "rerun" } },
};

export function parsePlant(name) {
  const plant = Object.hasOwn(PLANTS, name) ? PLANTS[name] : undefined;
  if (plant === undefined) throw new Error(`no such plant: ${name}; one of ${Object.keys(PLANTS).join(", ")}`);
  return plant;
}
