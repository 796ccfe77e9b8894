/** Looks at real processes from outside the code under test. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** True while the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  const [state = "X"] = readStat(pid);
  return !/^[ZX]/.test(state);
}

/** The processes that this one started, which it has not waited for; none where there is no `/proc`. */
export function listChildren(parent: number): number[] {
  const pids = listNumbers().filter((pid) => Number(readStat(pid)[1]) === parent);
  return pids.filter(isRunning);
}

/** The processes that work in a folder, whoever started them; none where there is no `/proc`. */
export function listWorkingIn(folder: string): number[] {
  return listNumbers().filter((pid) => isRunning(pid) && folderOf(pid) === folder);
}

function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

/** State, number of the parent, and what comes after; empty when there is no such process. */
function readStat(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function listNumbers(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
