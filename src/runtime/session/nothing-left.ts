/**
 * A task in a process in which nothing is left to wait for: what it runs can never come to an end, and Node would end the
 * process in the midst of it, with a status of its own and without a word.
 *
 * The guard of functions fails those that hang (agents/function-guard); so a turn goes by before the rest is interrupted.
 */
import type { TaskState } from "../../engine/model/state.js";

/** Calls back once, with the steps that are under way, when Node tells twice that nothing is left and nothing was recorded between. */
export function watchForNothingLeft(
  state: Pick<TaskState, "open" | "position">,
  interrupt: (steps: readonly string[]) => void,
): () => void {
  let seenAt: number | undefined;
  const look = (): void => {
    if (state.open.size === 0) return;
    if (seenAt === state.position) {
      stop();
      interrupt([...state.open]);
      return;
    }
    seenAt = state.position;
    // Keeps the process for a turn, after which Node tells again.
    setImmediate(() => undefined);
  };
  const stop = (): void => void process.off("beforeExit", look);
  process.on("beforeExit", look);
  return stop;
}
