// The ledger: one line for every effect that really happened, `NAME KEY`, written by the effect itself.
import { existsSync, readFileSync } from "node:fs";

export const EFFECTS = ["first", "left", "middle", "right", "pay-reserve", "pay-book", "last"];
/** Sub-steps of an idempotent function may happen again, under the same key: a receiver sees one. */
const MAY_REPEAT = new Set(["pay-reserve", "pay-book"]);

export function readLedger(file) {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

const nameOf = (line) => line.split(" ")[0];

export function countEffect(lines, name) {
  return lines.filter((line) => nameOf(line) === name).length;
}

/** Shape: texts; empty when every effect happened exactly once and nothing else did. */
export function findLedgerFaults(lines) {
  const faults = [];
  for (const name of EFFECTS) {
    const own = lines.filter((line) => nameOf(line) === name);
    const distinct = new Set(own).size;
    const isRight = MAY_REPEAT.has(name) ? distinct === 1 : own.length === 1;
    if (!isRight) faults.push(`effect ${name} happened ${own.length} times under ${distinct} keys`);
  }
  for (const line of lines) if (!EFFECTS.includes(nameOf(line))) faults.push(`a line that must never appear: ${line}`);
  return faults;
}
