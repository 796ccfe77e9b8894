/** Ends a process group and waits until nothing of it runs (P3). */
import type { Clock } from "../base/clock.js";
import { SplashdownError, errnoOf, isErrorCode } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import type { ProcessIdentity } from "./contract.js";
import { hasGroup, isGroupRunning, type ProcessTable } from "./process-table.js";

export interface GroupEnding {
  readonly clock: Clock;
  readonly table: ProcessTable;
}

const POLL_FIRST_MS = 2;
const POLL_LAST_MS = 50;

/**
 * TERM, up to `graceMs` of patience, then KILL, until the group is empty.
 *
 * Shape: the answer is false when nothing ran to begin with. A group of another boot or of a later process with the
 * same number is left alone. KILL is repeated, for a group that forks faster than it is ended.
 * Errors: STEP_FAILED when members of another user stay, whom we may not end (a child that used sudo).
 */
export async function endGroup(ending: GroupEnding, identity: ProcessIdentity, graceMs: number): Promise<boolean> {
  if (!(await isStillRunning(ending, identity))) return false;
  const killAtMs = ending.clock.monotonicMs() + graceMs;
  let pollMs = POLL_FIRST_MS;
  if (graceMs > 0) signalGroup(identity.pid, "SIGTERM");
  do {
    const nowMs = ending.clock.monotonicMs();
    const isForbidden = nowMs >= killAtMs && !signalGroup(identity.pid, "SIGKILL");
    if (isForbidden && nowMs >= killAtMs + LIMITS.killGraceMs) throw foreignMembers(identity);
    await ending.clock.sleep(pollMs);
    pollMs = Math.min(pollMs * 2, POLL_LAST_MS);
  } while (await isStillRunning(ending, identity));
  return true;
}

/** Asks cheaply first. A shortage leaves it open whether the group runs: it is looked at again. */
async function isStillRunning(ending: GroupEnding, identity: ProcessIdentity): Promise<boolean> {
  if (!hasGroup(identity.pid)) return false;
  try {
    return await isGroupRunning(ending.table, identity);
  } catch (error) {
    if (isErrorCode(error, "STORE_BUSY")) return true;
    throw error;
  }
}

/** Shape: false when no member of the group may be signalled by us. */
function signalGroup(groupId: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  try {
    process.kill(-groupId, signal);
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    // Gone since it was looked at; or of another user; or, on some systems, only zombies are left.
    if (errno !== "ESRCH" && errno !== "EPERM") throw error;
    return errno === "ESRCH";
  }
}

function foreignMembers(identity: ProcessIdentity): SplashdownError {
  const text = `process group ${identity.pid} holds processes of another user, which cannot be ended`;
  return new SplashdownError("STEP_FAILED", text, { details: { pid: identity.pid, retryable: false } });
}
