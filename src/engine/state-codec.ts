/** The state as JSON: captured at once by reference, encoded later in pieces. */
import type { TaskState } from "./state.js";

/** References to the entries of a state at one position; unaffected by later events. */
export interface CapturedState {
  readonly position: number;
}

/** Copies the containers, not the entries. */
export function captureState(state: TaskState): CapturedState {
  return { position: state.position };
}

/** The captured state as JSON text in small pieces, so that a caller may stop between two. */
export function* encodeCaptured(captured: CapturedState): Iterable<string> {
  yield JSON.stringify(captured);
}

/** The reverse. Errors: CHECKPOINT_CORRUPT when the text is not a state, FORMAT_VERSION when it is newer. */
export function decodeState(_json: string): TaskState {
  throw new Error("not built yet");
}

/** Hex digest of the state in canonical form: equal for equal states. */
export function hashState(_state: TaskState): string {
  return "";
}
