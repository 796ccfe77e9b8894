/**
 * How a journal ends as far as its clear text tells: for those who have no key, or whose data is damaged.
 *
 * A guess good enough to warn by, never one to act by: kinds in the clear are bound by the seal, but nothing here is
 * verified.
 */
import type { EventFamily } from "../engine/model/event-codec.js";
import type { TaskStore } from "../store/contract/contract.js";
import { parseRecordLine } from "./record-line.js";

const NEWLINE = 0x0a;
/** What may follow the end of a task without opening it again. */
const AFTERWARDS: ReadonlySet<string> = new Set<EventFamily>(["checkpoint", "snapshot", "prune", "note"]);
const CLOSING: EventFamily = "task";

/**
 * True when records stand there and the last of them is not the end of the task.
 *
 * Errors: STORE_*.
 */
export async function looksUnfinished(task: TaskStore): Promise<boolean> {
  for (const entry of (await task.segments()).toReversed()) {
    if (entry.sizeBytes === 0) continue;
    const last = findLast(Buffer.from(await task.read(entry)));
    if (last !== undefined) return last.kind !== CLOSING || last.n === 1;
  }
  return false;
}

function findLast(bytes: Buffer): { readonly n: number; readonly kind: string } | undefined {
  for (let end = bytes.length; end > 0;) {
    const start = bytes.lastIndexOf(NEWLINE, end - 1) + 1;
    const line = parseRecordLine(bytes, start, end);
    if (line !== undefined && !AFTERWARDS.has(line.kind)) return line;
    end = start - 1;
  }
  return undefined;
}
