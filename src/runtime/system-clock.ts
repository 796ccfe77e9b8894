/** The real clock and the real randomness: the only home of timers, wall time and the system's random source. */
import { randomFillSync } from "node:crypto";
import type { Clock } from "../base/clock.js";
import { SplashdownError } from "../base/errors.js";
import type { RandomSource } from "../base/random.js";

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve, reject) => {
      const cancelled = (): SplashdownError => new SplashdownError("CANCELLED", "a wait was cancelled");
      if (signal?.aborted === true) return reject(cancelled());
      const stop = (): void => {
        clearTimeout(timer);
        reject(cancelled());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", stop);
        resolve();
      }, durationMs);
      signal?.addEventListener("abort", stop, { once: true });
    }),
  schedule: (durationMs, callback) => {
    const timer = setTimeout(callback, durationMs);
    return () => clearTimeout(timer);
  },
  every: (intervalMs, callback) => {
    const timer = setInterval(callback, intervalMs);
    timer.unref();
    return () => clearInterval(timer);
  },
};

export const systemRandom: RandomSource = {
  bytes: (count) => randomFillSync(new Uint8Array(count)),
};
