/**
 * Tells whether this process was started by a step of a task: its own environment says so, or that of a process above it.
 *
 * A step that takes the variable out of its child's environment has still got it itself. One that leaves its process tree
 * altogether is not found: as the same user that is not to be prevented here.
 */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

/** Every program of a step has it. */
export const STEP_TASK_VARIABLE = "SPLASHDOWN_TASK";

const ANCESTORS_MAX = 256;
const ENVIRONMENT_BYTES_MAX = 4 * 1024 * 1024;
const PARENT_FIELD = 1;

/** The task whose step is above this process; `undefined` where there is none, or the system does not tell. */
export function findStepAbove(own: string | undefined): string | undefined {
  if (own !== undefined) return own;
  let pid = process.ppid;
  for (let count = 0; count < ANCESTORS_MAX && pid > 1; count += 1) {
    const task = readTask(pid);
    if (task !== undefined) return task;
    pid = readParent(pid);
  }
  return undefined;
}

function readTask(pid: number): string | undefined {
  const entries = readStart(`/proc/${pid}/environ`).split("\0");
  const prefix = `${STEP_TASK_VARIABLE}=`;
  return entries.find((entry) => entry.startsWith(prefix) && entry.length > prefix.length)?.slice(prefix.length);
}

/** 0 where nobody tells. */
function readParent(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[PARENT_FIELD]) || 0;
  } catch {
    return 0;
  }
}

function readStart(path: string): string {
  try {
    const descriptor = openSync(path, "r");
    try {
      return readPieces(descriptor).toString("utf8");
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "";
  }
}

function readPieces(descriptor: number): Buffer {
  const parts: Buffer[] = [];
  for (let sizeBytes = 0; sizeBytes < ENVIRONMENT_BYTES_MAX;) {
    const part = Buffer.alloc(64 * 1024);
    const length = readSync(descriptor, part, 0, part.length, null);
    if (length === 0) break;
    parts.push(part.subarray(0, length));
    sizeBytes += length;
  }
  return Buffer.concat(parts);
}
