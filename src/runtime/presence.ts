/** Says that this process owns the task while it does: a socket, facts, and a counter that moves. */
import type { Clock } from "../base/clock.js";
import { LIMITS } from "../base/limits.js";
import type { ProcessIdentity } from "../process/contract.js";
import type { OwnerFacts, TaskStore } from "../store/contract.js";
import type { Environment } from "./environment.js";
import { readProcessNamespace } from "./environment.js";
import { formatTime } from "./views.js";

export interface PresenceDeps {
  readonly task: TaskStore;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly self: ProcessIdentity;
}

/** Begins to show presence; the answer ends it. */
export async function showPresence(deps: PresenceDeps): Promise<() => Promise<void>> {
  const handle = await deps.task.announce(describeOwner(deps));
  const stop = deps.clock.every(LIMITS.ownerBeatMs, () => void handle.beat());
  return async () => {
    stop();
    await handle.close();
  };
}

function describeOwner({ self, environment, clock }: PresenceDeps): OwnerFacts {
  return {
    pid: self.pid,
    host: environment.host,
    bootId: self.bootId,
    processStartedAt: String(self.startTicks),
    processNamespace: readProcessNamespace(),
    since: formatTime(clock.nowMs()),
  };
}
