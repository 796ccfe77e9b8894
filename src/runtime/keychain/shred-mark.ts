/** What stands in a task whose keys were destroyed: by whom and when. It is in the clear, for nothing opens seals there. */
import { isJsonObject, type JsonValue } from "../../base/json.js";
import type { TaskStore } from "../../store/contract/contract.js";

const KEY = "shredded.json";
const BYTES_MAX = 4096;

export interface ShredMark {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: string;
}

/** Durable before the first key is destroyed, so that an interrupted destruction is told as one. */
export async function writeShredMark(task: TaskStore, mark: ShredMark): Promise<void> {
  await task.putOnce(KEY, Buffer.from(`${JSON.stringify({ format: "splashdown.shredded", ...mark })}\n`));
}

/** Shape: `undefined` when the keys of the task were not destroyed. A mark that cannot be read is one all the same. */
export async function readShredMark(task: TaskStore): Promise<ShredMark | undefined> {
  const bytes = await task.get(KEY, { offset: 0, length: BYTES_MAX });
  if (bytes === undefined) return undefined;
  const value = parse(Buffer.from(bytes).toString("utf8"));
  const { at, by } = isJsonObject(value) ? value : {};
  return { at: typeof at === "string" ? at : "an unknown day", by: typeof by === "string" ? by : "somebody" };
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
