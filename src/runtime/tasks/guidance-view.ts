/** What people said to a task, as views show it. */
import type { TaskState } from "../../engine/model/state.js";
import type { GuidanceView } from "../views/task-views.js";
import { formatTime } from "../views/views.js";
import type { GuidanceMessage } from "../mailbox/message-body.js";
import { findListeners } from "../../engine/model/told-guidance.js";

/** What was taken, in its order; then what waits for the next owner. */
export function viewGuidance(state: TaskState, waiting: readonly GuidanceMessage[]): GuidanceView[] {
  const { guidance } = state;
  const listeners = findListeners(state);
  const known = new Set(guidance.map(({ id }) => id));
  const left = waiting.filter(({ id }) => !known.has(id));
  return [
    ...guidance.map((one, at) => ({
      ...viewOne({ ...one, at: formatTime(one.atMs) }, true),
      told: listeners[at] ?? [],
    })),
    ...left.map((one) => ({ ...viewOne(one, false), told: [] })),
  ];
}

interface Said {
  readonly text: string;
  readonly by: string;
  readonly at: string;
  readonly path?: string;
}

function viewOne({ text, by, at, path }: Said, taken: boolean): Omit<GuidanceView, "told"> {
  return { text, by, at, ...(path === undefined ? {} : { step: path }), taken };
}
