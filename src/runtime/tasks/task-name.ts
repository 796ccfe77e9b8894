/** Names of tasks that nobody named: by when they begin, or by what they are to be one of. */
import { UTCDateMini } from "@date-fns/utc/date/mini";
import { format } from "date-fns/format";
import { sha256Hex } from "../../base/digest.js";
import { LIMITS } from "../../base/limits.js";
import { isDeviceName } from "../../base/portable-name.js";

const KEY_CHARS = 16;

/** `<workflow>_<yyyyMMdd>_<HHmmss>` in UTC, with room for a number after it. */
export function computeTaskName(workflow: string, nowMs: number): string {
  return joinParts(workflow, format(new UTCDateMini(nowMs), "yyyyMMdd_HHmmss"), 4);
}

/** The same key gives the same name, in every process: who makes the task first has made it for all. */
export function computeKeyedName(label: string, key: string): string {
  return joinParts(label, sha256Hex(key).slice(0, KEY_CHARS));
}

function joinParts(text: string, end: string, sparedBytes = 0): string {
  const slug = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
  const room = LIMITS.taskNameBytesMax - end.length - 1 - sparedBytes;
  // `aux.txt` is a device on Windows, whatever follows.
  const label = slug === "" || isDeviceName(slug) ? `task${slug === "" ? "" : `-${slug}`}` : slug;
  return `${label.slice(0, room)}_${end}`;
}
