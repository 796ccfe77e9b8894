/** Steps that were intended and may not begin yet: until the fencing check allows them nothing shows them as begun. */
import type { StepId } from "../../base/ids.js";
import type { EngineEvent } from "../../engine/model/events.js";
import type { EventLog } from "../../engine/model/ports.js";

export class HeldBack {
  readonly #steps = new Set<StepId>();

  /** The same log; what is intended is held back from now on. */
  watch(events: EventLog): EventLog {
    return {
      append: (batch) => {
        for (const event of batch) if (event.type === "step_intended") this.#steps.add(event.step);
        events.append(batch);
      },
      durable: () => events.durable(),
      confirm: () => events.confirm(),
    };
  }

  /** Takes note of an event that may be acted on. */
  allow(event: EngineEvent): void {
    if (event.type === "step_intended") this.#steps.delete(event.step);
  }

  has(step: StepId): boolean {
    return this.#steps.has(step);
  }
}
