/**
 * Tells the text of an answer while it comes: its end as a message, often, and all of it when it has grown by a quarter.
 *
 * So what is told of one answer in all stays in line with its length, and a cut loses little.
 */
import type { Clock } from "../../base/clock.js";
import type { StepSink } from "../../engine/model/ports.js";

const MESSAGE_PACE_MS = 500;
const MESSAGE_CHARS = 120;
const PARTIAL_PACE_MS = 1_000;
const GROWTH = 1.25;

export interface PartialThrottle {
  /** Takes the text so far. */
  readonly take: (text: string) => void;
}

export function createPartialThrottle(clock: Clock, sink: Pick<StepSink, "progress" | "alive">): PartialThrottle {
  let messageAtMs = -Infinity;
  let partialAtMs = -Infinity;
  let told = 0;
  return {
    take: (text) => {
      const nowMs = clock.monotonicMs();
      const isPartialDue = nowMs - partialAtMs >= PARTIAL_PACE_MS && text.length >= told * GROWTH;
      if (nowMs - messageAtMs < MESSAGE_PACE_MS && !isPartialDue) {
        sink.alive();
        return;
      }
      messageAtMs = nowMs;
      const message = text.slice(-MESSAGE_CHARS).replace(/\s+/g, " ").trim();
      if (!isPartialDue) {
        sink.progress({ message });
        return;
      }
      partialAtMs = nowMs;
      told = text.length;
      sink.progress({ message, partial: { text } });
    },
  };
}
