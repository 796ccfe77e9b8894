/** The next time at which something falls due. */
import type { TaskState } from "./state.js";

/** When `due` must be fed next: retries, waits, expiring questions, time limits, intervals. Costs O(waiting things). */
export function nextDueAtMs(_state: TaskState): number | undefined {
  return undefined;
}
