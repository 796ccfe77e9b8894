/** Folds events into the state. */
import type { EngineEvent } from "./events.js";
import type { TaskState } from "./state.js";

/** Folds one event: `position` rises by one. Never decides anything. */
export function evolve(state: TaskState, event: EngineEvent): void {
  state.position += 1;
  state.atMs = event.atMs;
}
