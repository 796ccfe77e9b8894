/** The system's own time, for tests with real processes. */
import type { Clock } from "../../src/base/clock.js";
import { SplashdownError } from "../../src/base/errors.js";

export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (durationMs, signal) =>
    new Promise((resolve, reject) => {
      const cancelled = () => {
        clearTimeout(timer);
        reject(new SplashdownError("CANCELLED", "a sleep was cancelled", { cause: signal?.reason }));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", cancelled);
        resolve();
      }, durationMs);
      if (signal?.aborted === true) cancelled();
      else signal?.addEventListener("abort", cancelled, { once: true });
    }),
  schedule: (durationMs, callback) => {
    const timer = setTimeout(callback, durationMs);
    return () => clearTimeout(timer);
  },
  every: (intervalMs, callback) => {
    const timer = setInterval(callback, intervalMs).unref();
    return () => clearInterval(timer);
  },
};

/** The processor's time that work costs this process, whatever others do meanwhile. Unit: ms. */
export async function processorMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Looks again and again until the answer is true; fails after `limitMs` with the text. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>, limitMs = 90_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await realClock.sleep(5);
  }
}
