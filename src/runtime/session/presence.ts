/**
 * Says that this process owns the task while it does: a socket, facts, and a counter that moves; and says who owns it
 * when this process does not any more.
 */
import type { Clock } from "../../base/clock.js";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { ProcessIdentity } from "../../process/contract.js";
import { describeOwner } from "../../recovery/liveness.js";
import type { OwnerFacts, TaskStore } from "../../store/contract/contract.js";
import { formatTime } from "../views/views.js";

export interface PresenceDeps {
  readonly task: TaskStore;
  readonly clock: Clock;
  readonly self: ProcessIdentity;
}

export interface Presence {
  /** From the moment of the claim on, so that nobody takes the new owner for gone; a second call does nothing. */
  show(epoch: number): Promise<void>;
}

/**
 * Owns a task while `act` runs: presence, once shown, ends with it.
 *
 * Errors: those of `act`; OWNER_SUPERSEDED names the successor where it shows itself.
 */
export async function whileOwning<T>(deps: PresenceDeps, act: (presence: Presence) => Promise<T>): Promise<T> {
  const { task, clock } = deps;
  let hide: (() => Promise<void>) | undefined;
  const show = async (epoch: number): Promise<void> => {
    // Who was superseded already does not hide the new owner behind a record of its own.
    if (hide !== undefined || !(await task.confirm(epoch))) return;
    const handle = await task.announce(describeSelf(deps, epoch));
    if (!(await task.confirm(epoch))) return handle.close();
    const stop = clock.every(LIMITS.ownerBeatMs, () => void handle.beat());
    hide = async () => {
      stop();
      await handle.close();
    };
  };
  try {
    return await act({ show });
  } catch (error) {
    // Hidden first: the successor is looked for where this process showed itself.
    await hide?.();
    hide = undefined;
    throw isErrorCode(error, "OWNER_SUPERSEDED") ? await nameSuccessor(deps, error) : error;
  } finally {
    await hide?.();
  }
}

/** A new owner shows itself right after its claim; this long it is waited for. */
const SUCCESSOR_WITHIN_MS = LIMITS.claimantShowsMs;
const POLL_MS = 50;

async function nameSuccessor({ task, clock }: PresenceDeps, cause: unknown): Promise<unknown> {
  const endMs = clock.monotonicMs() + SUCCESSOR_WITHIN_MS;
  while (clock.monotonicMs() < endMs) {
    const { state, owner } = await task.ownerState();
    if (state === "alive" && owner !== undefined) {
      return new SplashdownError("OWNER_SUPERSEDED", `task ${task.name} is owned by ${describeOwner(owner)} by now`, {
        details: { task: task.name, owner },
        cause,
      });
    }
    await clock.sleep(POLL_MS);
  }
  return cause;
}

/** What this process says of itself. */
export function describeSelf({ self, clock }: Pick<PresenceDeps, "self" | "clock">, epoch: number): OwnerFacts {
  return {
    pid: self.pid,
    host: self.host,
    machineId: self.machineId,
    bootId: self.bootId,
    namespace: self.namespace,
    processStartedAt: String(self.startTicks),
    since: formatTime(clock.nowMs()),
    epoch,
  };
}
