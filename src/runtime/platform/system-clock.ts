/** The real clock and the real randomness: the only home of timers, wall time and the system's random source. */
import { randomFillSync } from "node:crypto";
import { uptime } from "node:os";
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import type { RandomSource } from "../../base/random.js";

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  elapsedMs: createElapsed(),
  sleep: (durationMs, signal) =>
    new Promise((resolve, reject) => {
      const cancelled = (): SplashdownError => new SplashdownError("CANCELLED", "a wait was cancelled");
      if (signal?.aborted === true) return reject(cancelled());
      const stop = (): void => {
        cancel();
        reject(cancelled());
      };
      const cancel = callAfter(durationMs, () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
      signal?.addEventListener("abort", stop, { once: true });
    }),
  schedule: callAfter,
  every: (intervalMs, callback) => {
    const timer = setInterval(callback, intervalMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Less is the coarseness of the system's answer. */
const SLEEP_MS_MIN = 2_000;
/** Asked no more often. */
const LOOK_MS = 1_000;

/** The monotonic clock stands while the machine sleeps; the time since its boot does not. */
function createElapsed(): () => number {
  let [uptimeMs, lookedMs, sleptMs] = [uptime() * 1_000, performance.now(), 0];
  return () => {
    const nowMs = performance.now();
    const awakeMs = nowMs - lookedMs;
    if (awakeMs >= LOOK_MS) {
      const passedMs = uptime() * 1_000 - uptimeMs;
      if (passedMs - awakeMs >= SLEEP_MS_MIN) sleptMs += passedMs - awakeMs;
      [uptimeMs, lookedMs] = [uptimeMs + passedMs, nowMs];
    }
    return nowMs + sleptMs;
  };
}

export const systemRandom: RandomSource = {
  bytes: (count) => randomFillSync(new Uint8Array(count)),
};

/**
 * Node looks at its timers before it reads: where this process was held up, every time would be over before what children
 * and the network sent meanwhile is seen. So the callback comes after one look at what is there to be read.
 */
function callAfter(durationMs: number, callback: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(callback);
  }, durationMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}
