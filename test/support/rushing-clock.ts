/** A clock on which every sleep is over at once: time moves by what was slept. For simulations, where nobody advances. */
import type { Clock } from "../../src/base/clock.js";
import { SplashdownError } from "../../src/base/errors.js";
import { FAKE_START_MS } from "./fake-clock.js";

export class RushingClock implements Clock {
  /** All that was slept so far. */
  sleptMs = 0;

  nowMs(): number {
    return FAKE_START_MS + this.sleptMs;
  }

  monotonicMs(): number {
    return this.sleptMs;
  }

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) {
      throw new SplashdownError("CANCELLED", "a sleep was cancelled", { cause: signal.reason });
    }
    this.sleptMs += Math.max(0, durationMs);
  }

  /** Timers never fire: what waits for one must be ended by something else. */
  schedule(): () => void {
    return () => undefined;
  }

  every: Clock["every"] = () => () => undefined;
}
