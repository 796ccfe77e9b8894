/**
 * Whether an owner that cannot be asked has provably ended, by the word of the kernel it ran on.
 *
 * A number alone proves nothing (R1): it counts with the boot, the namespace in which it means something, and the start of
 * the process that had it.
 */
import { errnoOf } from "../../base/errors.js";
import { isSamePlace } from "../../base/place.js";
import { openProcessTable, type ProcessTable } from "../../process/process-table.js";
import type { OwnerFacts } from "../../store/contract/contract.js";

/** Shape: false also where it cannot be told. Errors: none. */
export function isOwnerGone(owner: OwnerFacts, table: ProcessTable = openProcessTable()): boolean {
  if (owner.namespace === "" || !isSamePlace(owner, table.place)) return false;
  try {
    const entry = table.read(owner.pid);
    // Some systems hide the processes of others, but not that a number is taken.
    if (entry === undefined) return !isTaken(owner.pid);
    if (entry.isZombie) return true;
    return owner.processStartedAt !== "" && String(entry.startTicks) !== owner.processStartedAt;
  } catch {
    return false;
  }
}

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}
