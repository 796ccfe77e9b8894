/** What the files of a task tell before any key of it is at hand. */
import { SplashdownError } from "../../base/errors.js";
import { parseSegmentHeader, type SegmentHeader } from "../../journal/segment-header.js";
import type { TaskStore } from "../../store/contract/contract.js";
import { isArriving } from "../../transfer/copy-task.js";
import { readShredMark } from "./shred-mark.js";

/** True for a place whose first process died, or is still alive, before its keyring or its first record was written. */
export async function hasNoRecords(task: TaskStore): Promise<boolean> {
  const segments = await task.segments();
  if (segments.some(({ sizeBytes }) => sizeBytes > 0)) return false;
  if (await isArriving(task)) return false;
  for (const prefix of ["keyring-", "checkpoint_", "audit/"]) if ((await task.list(prefix)).length > 0) return false;
  return true;
}

/** What everybody is told who wants more of a task than to run it. */
export function notStarted(task: string): SplashdownError {
  return new SplashdownError("TASK_NOT_STARTED", `task ${task} died before anything was recorded`, {
    details: { task, file: "FILE" },
  });
}

/** The task's uuid as the first readable segment header states it; `undefined` when there is none. */
export async function readTaskId(task: TaskStore): Promise<string | undefined> {
  return (await readFirstHeader(task))?.taskId;
}

/** The header of the first segment that has a readable one; `undefined` when there is none. */
export async function readFirstHeader(task: TaskStore): Promise<SegmentHeader | undefined> {
  for (const segment of await task.segments()) {
    if (segment.sizeBytes === 0) continue;
    const bytes = Buffer.from(await task.read(segment));
    const end = bytes.indexOf(10);
    const parsed = parseSegmentHeader(end === -1 ? bytes : bytes.subarray(0, end));
    if (parsed.read !== undefined) return parsed.read.header;
  }
  return undefined;
}

/** Of a sealed task without a keyring: were its keys destroyed, or are the files gone? */
export async function explainMissing(task: TaskStore): Promise<SplashdownError> {
  const shredded = await readShredMark(task);
  if (shredded === undefined)
    return new SplashdownError("KEYRING_MISSING", "it is sealed, and there is no keyring file that opens it");
  return new SplashdownError("KEY_SHREDDED", `its keys were destroyed on ${shredded.at} by ${shredded.by}`);
}
