/** The system's own time, for tests with real processes. */
import type { Clock } from "../../src/base/clock.js";
import { systemClock } from "../../src/runtime/platform/system-clock.js";

export const realClock: Clock = systemClock;

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
