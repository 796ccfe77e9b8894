/** Chooses: state and input to events. */
import type { DecideContext, Decided, EngineInput } from "./input.js";
import type { TaskState } from "./state.js";

/** Chooses what follows from an input; reads the state and changes nothing. */
export function decide(_state: TaskState, _input: EngineInput, _context: DecideContext): Decided {
  return { events: [] };
}
