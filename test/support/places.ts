/** Places and processes for tests. */
import type { Place } from "../../src/base/place.js";
import type { ProcessIdentity } from "../../src/process/contract.js";

/** A machine of its own name and boot, whole. */
export function placeOf(bootId: string, given: Partial<Place> = {}): Place {
  return { host: "host-a", machineId: "machine-a", bootId, namespace: "pid:[4026531836]", ...given };
}

export function processOf(pid: number, startTicks: number, bootId: string): ProcessIdentity {
  return { pid, startTicks, ...placeOf(bootId) };
}
