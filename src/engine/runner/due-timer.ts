/**
 * Wakes the task when something falls due: retries, waits, expiring questions, limits in time, the interval.
 *
 * Wall time may jump and timers have an upper bound, so it is looked at again at least once a minute. What was told and
 * changed nothing is told again only then; it hides nothing that falls due later.
 */
import type { Clock } from "../../base/clock.js";
import { nextDueAtMs, type ToldInVain } from "../rules/steps/due.js";
import type { TaskState } from "../model/state.js";

const LOOK_MS = 60_000;

export interface DueTimerDeps {
  readonly clock: Clock;
  readonly state: TaskState;
  readonly onDue: () => void;
}

export class DueTimer {
  readonly #deps: DueTimerDeps;
  #dueAtMs: number | undefined;
  #wokeAtMs = -Infinity;
  #told: ToldInVain | undefined;
  #cancel: (() => void) | undefined;

  constructor(deps: DueTimerDeps) {
    this.#deps = deps;
  }

  /** True while it will wake the task. */
  get isSet(): boolean {
    return this.#cancel !== undefined;
  }

  /** Sets itself to the state's next due time. `isTold`: what is due by now was told, and nothing came of it. */
  set(isTold: boolean): void {
    if (isTold) this.#told = { atMs: this.#wokeAtMs, againAtMs: this.#wokeAtMs + LOOK_MS };
    const dueAtMs = nextDueAtMs(this.#deps.state, this.#told);
    if (dueAtMs === this.#dueAtMs) return;
    this.stop();
    if (dueAtMs === undefined) return;
    this.#dueAtMs = dueAtMs;
    this.#sleepUntil(dueAtMs);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#dueAtMs = undefined;
  }

  #sleepUntil(atMs: number): void {
    const leftMs = Math.max(0, atMs - this.#deps.clock.nowMs());
    this.#cancel = this.#deps.clock.schedule(Math.min(leftMs, LOOK_MS), () => {
      if (this.#deps.clock.nowMs() < atMs) return this.#sleepUntil(atMs);
      this.stop();
      this.#wokeAtMs = this.#deps.clock.nowMs();
      this.#deps.onDue();
    });
  }
}
