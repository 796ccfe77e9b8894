/**
 * Watches over the snapshots of a running task: what must be waited for, and when too many have failed.
 *
 * Owns: the count of failures in a row. Writing, recording and saying them aloud is the checkpoint manager's.
 */
import { errorCodeOf, messageOf } from "../../base/errors.js";
import type { EventOf } from "../model/events.js";
import type { CheckpointHook } from "../model/ports.js";
import type { TaskState } from "../model/state.js";

/** Failed snapshots in a row after which no further step starts. */
const FAILURES_MAX = 2;

export interface SnapshotWatchDeps {
  readonly state: TaskState;
  readonly checkpoints: CheckpointHook;
  /** No further step may start. */
  readonly onTooMany: (error: unknown) => void;
  readonly abandon: (error: unknown) => void;
}

export class SnapshotWatch {
  readonly #deps: SnapshotWatchDeps;
  #failuresInARow = 0;

  constructor(deps: SnapshotWatchDeps) {
    this.#deps = deps;
  }

  /** Captures the state as it is now. The answer, when there is one, must be waited for; it never rejects. */
  capture(event: EventOf<"checkpoint_recorded">): Promise<void> | undefined {
    const { state, checkpoints } = this.#deps;
    const { required, written } = checkpoints.captured(state, event);
    const watched = written.then(
      () => {
        this.#failuresInARow = 0;
      },
      (error: unknown) => this.#failed(event, error),
    );
    return required ? watched : undefined;
  }

  #failed(event: EventOf<"checkpoint_recorded">, error: unknown): void {
    const { onTooMany, abandon } = this.#deps;
    if (errorCodeOf(error) === "OWNER_SUPERSEDED") return abandon(error);
    this.#failuresInARow += 1;
    if (event.trigger === "before_risky_operation" || this.#failuresInARow >= FAILURES_MAX) onTooMany(error);
  }
}

/** The failure behind a failed save. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error && errorCodeOf(error.cause) !== undefined ? error.cause : error;
}

/** The same with its code: that is what a person can act on. */
export function describeCause(error: unknown): string {
  const cause = causeOf(error);
  const code = errorCodeOf(cause);
  return code === undefined ? messageOf(cause) : `${code}: ${messageOf(cause)}`;
}
