/** What templates of a node see. */
import type { JsonObject } from "../base/json.js";
import type { TaskState } from "./state.js";

/** The names visible at `path`, outputs in full. Units: confidences 0..1. */
export function describeScope(_state: TaskState, _path: string): JsonObject {
  return {};
}
