/**
 * What the system tells about processes: who has a number now, since when, and who is in a group.
 *
 * Linux is read from /proc. Elsewhere `ps` is asked: its start time counts whole seconds, so there a number that is
 * given away and taken again within one second is not told apart. P4: a process is `place + pid + start`, never `pid`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { SplashdownError, errnoOf, messageOf } from "../base/errors.js";
import { isSamePlace, type Place } from "../base/place.js";
import type { ProcessIdentity } from "./contract.js";
import { readPlace } from "./place.js";
import { MARK_VARIABLE, SYSTEM_ENVIRONMENT } from "./system-environment.js";

export interface ProcessEntry {
  readonly pid: number;
  readonly parentId: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** See `ProcessIdentity.startTicks`. */
  readonly startTicks: number;
  /** The start in the spelling that the keeper compares. */
  readonly startText: string;
  /** Ended, and only its parent has not taken note. */
  readonly isZombie: boolean;
}

/**
 * The system's view of its processes; two implementations, one choice in `openProcessTable`.
 *
 * Errors: STORE_BUSY when the system has no descriptor left to look with.
 */
export interface ProcessTable {
  /** Where its numbers mean something. */
  readonly place: Place;
  /** `undefined`: nobody has the number. */
  read(pid: number): ProcessEntry | undefined;
  /** Every process; empty turns between slices keep the loop alive. */
  list(): Promise<readonly ProcessEntry[]>;
  /** True when the environment that the process began with holds the mark; false also where that cannot be seen. */
  hasMark(pid: number, mark: string): boolean;
}

const SLICE_ENTRIES = 64;

/** Picks the source of this platform. `platform` is for tests. */
export function openProcessTable(
  platform: string = process.platform,
  place: Place = readPlace(undefined, platform),
): ProcessTable {
  return platform === "linux" ? new KernelProcessTable(place) : new CommandProcessTable(place);
}

/**
 * True while the group of that very process has a member that still runs.
 *
 * Shape: a leader with another start means that the number was given away, which the system does only when the group
 * is empty. Without a leader, members count when their session is the group's own: ours are session leaders.
 */
export async function isGroupRunning(table: ProcessTable, identity: ProcessIdentity): Promise<boolean> {
  // Number 1 is the system's own, and smaller ones are no processes: as groups they would mean all processes or ours.
  if (identity.pid <= 1 || !isSamePlace(identity, table.place)) return false;
  const leader = table.read(identity.pid);
  if (leader !== undefined) {
    if (leader.startTicks !== identity.startTicks) return false;
    if (!leader.isZombie) return true;
  }
  if (!hasGroup(identity.pid)) return false;
  const entries = await table.list();
  return entries.some((entry) => entry.groupId === identity.pid && entry.sessionId === identity.pid && !entry.isZombie);
}

/** False when no process, not even a zombie, is in the group. Costs one call and no descriptor. */
export function hasGroup(groupId: number): boolean {
  if (groupId <= 1) return false;
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}

class KernelProcessTable implements ProcessTable {
  constructor(readonly place: Place) {}

  read(pid: number): ProcessEntry | undefined {
    try {
      return parseKernelStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "ENOENT" || errno === "ESRCH") return undefined;
      throw tableError(error);
    }
  }

  hasMark(pid: number, mark: string): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`${MARK_VARIABLE}=${mark}`);
    } catch (error) {
      if (isShortage(error)) throw tableError(error);
      // Of another user, or gone.
      return false;
    }
  }

  async list(): Promise<readonly ProcessEntry[]> {
    const numbers = listNumbers();
    const entries: ProcessEntry[] = [];
    for (const [index, name] of numbers.entries()) {
      if (index % SLICE_ENTRIES === SLICE_ENTRIES - 1) await new Promise((resolve) => setImmediate(resolve));
      const entry = this.read(Number(name));
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }
}

function listNumbers(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch (error) {
    throw tableError(error);
  }
}

function tableError(error: unknown): unknown {
  if (!isShortage(error)) return error;
  return new SplashdownError("STORE_BUSY", `processes cannot be looked up: ${messageOf(error)}`, { cause: error });
}

/** True for an error that says the system is short of descriptors, processes or memory for now. */
export function isShortage(error: unknown): boolean {
  return SHORTAGE_ERRNOS.has(errnoOf(error) ?? "");
}

const SHORTAGE_ERRNOS = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

/**
 * Reads one line of /proc/PID/stat; `undefined` when it is none.
 *
 * Source: proc(5): the name in parentheses may hold anything, so fields are counted after the last one. State is field
 * 3, parent 4, group 5, session 6, start 22.
 */
export function parseKernelStat(text: string): ProcessEntry | undefined {
  const nameEnd = text.lastIndexOf(")");
  if (nameEnd < 0) return undefined;
  const fields = text
    .slice(nameEnd + 1)
    .trim()
    .split(/\s+/);
  const [state, parentId, groupId, sessionId] = fields;
  const startText = fields[19];
  if (state === undefined || startText === undefined) return undefined;
  return {
    pid: Number.parseInt(text, 10),
    parentId: Number(parentId),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    startTicks: Number(startText),
    startText,
    isZombie: state === "Z" || state === "X",
  };
}

class CommandProcessTable implements ProcessTable {
  constructor(readonly place: Place) {}

  read(pid: number): ProcessEntry | undefined {
    return parsePsLine(runPs(["-o", PS_COLUMNS, "-p", String(pid)]));
  }

  hasMark(): boolean {
    return false;
  }

  list(): Promise<readonly ProcessEntry[]> {
    const lines = runPs(["-A", "-o", PS_COLUMNS]).split("\n");
    return Promise.resolve(lines.flatMap((line) => parsePsLine(line) ?? []));
  }
}

const PS_COLUMNS = "pid=,ppid=,pgid=,sess=,stat=,lstart=";

/** Reads one line of `ps -o pid=,ppid=,pgid=,sess=,stat=,lstart=`; `undefined` when it is none. */
export function parsePsLine(line: string): ProcessEntry | undefined {
  const [pid, parentId, groupId, sessionId, state, ...start] = line.trim().split(/\s+/);
  if (state === undefined || start.length === 0) return undefined;
  return {
    pid: Number(pid),
    parentId: Number(parentId),
    groupId: Number(groupId),
    // Some systems show an address or 0 instead of the session's number: then the group is all there is.
    sessionId: /^[1-9]\d*$/.test(sessionId ?? "") ? Number(sessionId) : Number(groupId),
    // `ps` is asked in UTC: the same time whatever zone this process is in, and no hour of it twice.
    startTicks: Math.floor(Date.parse(`${start.join(" ")} UTC`) / 1000),
    startText: start.join("_"),
    isZombie: state.startsWith("Z"),
  };
}

function runPs(parameters: readonly string[]): string {
  return spawnSync("ps", parameters, { encoding: "utf8", env: { ...SYSTEM_ENVIRONMENT, TZ: "UTC" } }).stdout ?? "";
}
