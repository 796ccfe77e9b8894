/**
 * A clock that moves only when told.
 *
 * Timers fire in order of their due time, equal ones in order of registration. Between two due times all pending
 * promise reactions run to their end, so a chain of sleeps behaves as it would on a real clock.
 */
import type { Clock } from "../../src/base/clock.js";
import { SplashdownError } from "../../src/base/errors.js";

interface Timer {
  dueMs: number;
  readonly order: number;
  readonly intervalMs?: number;
  readonly fire: () => void;
}

/** Where fake wall time starts unless told otherwise: 2024-01-02T14:35:22.123Z. */
export const FAKE_START_MS = Date.UTC(2024, 0, 2, 14, 35, 22, 123);

export class FakeClock implements Clock {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #sleptMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs: number = FAKE_START_MS) {
    this.#wallOffsetMs = startMs;
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  elapsedMs(): number {
    return this.#elapsedMs + this.#sleptMs;
  }

  /** The machine sleeps: time passes, on the wall too, and timers stand. */
  sleepMachine(durationMs: number): void {
    this.#sleptMs += durationMs;
    this.#wallOffsetMs += durationMs;
  }

  /** Timers and sleeps not yet due; intervals count as one. */
  get pendingCount(): number {
    return this.#timers.size;
  }

  /** Moves wall time only, as a person or NTP does; timers do not notice. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelled = () =>
        reject(new SplashdownError("CANCELLED", "a sleep was cancelled", { cause: signal?.reason }));
      if (signal?.aborted === true) {
        cancelled();
        return;
      }
      const abort = () => {
        cancel();
        cancelled();
      };
      const cancel = this.schedule(durationMs, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  schedule(durationMs: number, callback: () => void): () => void {
    return this.#add({ dueMs: this.#elapsedMs + Math.max(0, durationMs), order: (this.#order += 1), fire: callback });
  }

  every(intervalMs: number, callback: () => void): () => void {
    const stepMs = Math.max(1, intervalMs);
    return this.#add({
      dueMs: this.#elapsedMs + stepMs,
      order: (this.#order += 1),
      intervalMs: stepMs,
      fire: callback,
    });
  }

  /** Moves time on, firing what falls due on the way; resolves when everything that followed from it has run. */
  async advance(durationMs: number): Promise<void> {
    const targetMs = this.#elapsedMs + durationMs;
    await flushReactions();
    for (let timer = this.#nextDue(targetMs); timer !== undefined; timer = this.#nextDue(targetMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      if (timer.intervalMs === undefined) this.#timers.delete(timer);
      else timer.dueMs += timer.intervalMs;
      timer.fire();
      await flushReactions();
    }
    this.#elapsedMs = targetMs;
    await flushReactions();
  }

  /** Advances to the next timer that is due, if there is one; false when nothing waits. */
  async advanceToNext(): Promise<boolean> {
    await flushReactions();
    const timer = this.#nextDue(Infinity);
    if (timer === undefined) return false;
    await this.advance(timer.dueMs - this.#elapsedMs);
    return true;
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  #nextDue(targetMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > targetMs) continue;
      if (next === undefined || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order))
        next = timer;
    }
    return next;
  }
}

/** Lets every promise reaction that is ready run, and those that follow from it. */
export function flushReactions(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
