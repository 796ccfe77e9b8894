/** Ends a process group, with what of its tree left the group, and waits until nothing of it runs (P3). */
import type { Clock } from "../base/clock.js";
import { SplashdownError, errnoOf, isErrorCode } from "../base/errors.js";
import { LIMITS } from "../base/limits.js";
import { isSamePlace } from "../base/place.js";
import type { ProcessIdentity } from "./contract.js";
import { hasGroup, isGroupRunning, type ProcessEntry, type ProcessTable } from "./process-table.js";
import { findStrays } from "./process-tree.js";

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
  return endAll(ending, { identity, findStrays: async () => [] }, graceMs);
}

/** As `endGroup`, with members of the tree that took a session of their own or lost their parent. */
export async function endTree(ending: GroupEnding, identity: ProcessIdentity, graceMs: number): Promise<boolean> {
  const { table } = ending;
  if (!isSamePlace(identity, table.place)) return false;
  // A shortage leaves it open whether there are some: it is looked at again while the group runs.
  const find = () =>
    findStrays(table, identity).catch((error: unknown) => {
      if (isErrorCode(error, "STORE_BUSY")) return [];
      throw error;
    });
  return endAll(ending, { identity, findStrays: find }, graceMs);
}

/** Whether anything of the tree runs. Errors: STORE_BUSY. */
export async function isTreeRunning(table: ProcessTable, identity: ProcessIdentity): Promise<boolean> {
  if (!isSamePlace(identity, table.place)) return false;
  return (await isGroupRunning(table, identity)) || (await findStrays(table, identity)).length > 0;
}

interface Tree {
  readonly identity: ProcessIdentity;
  readonly findStrays: () => Promise<readonly ProcessEntry[]>;
}

async function endAll(ending: GroupEnding, { identity, findStrays: find }: Tree, graceMs: number): Promise<boolean> {
  let strays = await find();
  let hasGroupLeft = await isStillRunning(ending, identity);
  if (!hasGroupLeft && strays.length === 0) return false;
  const killAtMs = ending.clock.monotonicMs() + graceMs;
  let pollMs = POLL_FIRST_MS;
  const signalAll = (signal: "SIGTERM" | "SIGKILL"): boolean => {
    const areStraysOurs = strays.every((stray) => signalTo(stray.pid, signal));
    return (!hasGroupLeft || signalTo(-identity.pid, signal)) && areStraysOurs;
  };
  if (graceMs > 0) signalAll("SIGTERM");
  do {
    const nowMs = ending.clock.monotonicMs();
    const isForbidden = nowMs >= killAtMs && !signalAll("SIGKILL");
    if (isForbidden && nowMs >= killAtMs + LIMITS.killGraceMs) throw foreignMembers(identity);
    await ending.clock.sleep(pollMs);
    pollMs = Math.min(pollMs * 2, POLL_LAST_MS);
    // Looked for again: what was ended may have begun more.
    strays = await find();
    hasGroupLeft = await isStillRunning(ending, identity);
  } while (hasGroupLeft || strays.length > 0);
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

/** To a process, or to the group of a negative number. Shape: false when nothing of it may be signalled by us. */
function signalTo(target: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  try {
    process.kill(target, signal);
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
