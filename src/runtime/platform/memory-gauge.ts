/**
 * How much of its memory this process uses: the larger of heap use and the control group's use.
 *
 * Reading costs tens of microseconds, so a reading is kept for a while.
 */
import { readFileSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import type { Clock } from "../../base/clock.js";
import type { MemoryGauge } from "../../engine/model/ports.js";

const READING_KEPT_MS = 1_000;

/** Source: DESIGN section 7, memory_pressure_high. */
export function createMemoryGauge(clock: Clock): MemoryGauge {
  let readAtMs = -Infinity;
  let reading = { fraction: 0, residentBytes: 0 };
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - readAtMs >= READING_KEPT_MS) {
      readAtMs = nowMs;
      reading = readMemory();
    }
    return reading;
  };
}

function readMemory(): { fraction: number; residentBytes: number } {
  const heap = getHeapStatistics();
  const residentBytes = process.memoryUsage.rss();
  const limit = readNumber("/sys/fs/cgroup/memory.max");
  const used = readNumber("/sys/fs/cgroup/memory.current");
  const ofGroup = limit === undefined || used === undefined ? 0 : used / limit;
  return { fraction: Math.max(heap.used_heap_size / heap.heap_size_limit, ofGroup), residentBytes };
}

function readNumber(path: string): number | undefined {
  try {
    const value = Number(readFileSync(path, "utf8").trim());
    return Number.isFinite(value) && value > 0 ? value : undefined;
  } catch {
    return undefined;
  }
}
