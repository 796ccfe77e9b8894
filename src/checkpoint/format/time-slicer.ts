/**
 * Keeps long work from blocking the loop: whoever does it asks between small pieces whether it is time to let others in.
 *
 * C6: a slice is at most LIMITS.snapshotSliceMs plus one piece of work.
 */
import type { Clock } from "../../base/clock.js";
import { LIMITS } from "../../base/limits.js";

/** Lets everything else that is ready run, then goes on. The real one is a turn of the event loop. */
export type YieldToLoop = () => Promise<void>;

/** Bytes handled in one go between two looks at the clock. */
export const PIECE_BYTES = 96 * 1024;

export interface TimeSlicer {
  /** True when the slice is used up and `rest` should be awaited. */
  readonly isDue: boolean;
  rest(): Promise<void>;
  /** Waits for something done elsewhere (another thread, the disk); the slice ends and a new one begins. */
  wait<T>(outside: Promise<T>): Promise<T>;
  /** Milliseconds worked so far, waiting left out, and the longest slice. */
  readonly figures: { readonly workMs: number; readonly longestSliceMs: number };
}

class ClockedSlicer implements TimeSlicer {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #breathe: YieldToLoop;
  readonly #figures = { workMs: 0, longestSliceMs: 0 };
  #sliceStartMs: number;

  constructor(clock: Pick<Clock, "monotonicMs">, breathe: YieldToLoop) {
    this.#clock = clock;
    this.#breathe = breathe;
    this.#sliceStartMs = clock.monotonicMs();
  }

  get isDue(): boolean {
    return this.#clock.monotonicMs() - this.#sliceStartMs >= LIMITS.snapshotSliceMs;
  }

  get figures(): TimeSlicer["figures"] {
    this.#endSlice();
    return { ...this.#figures };
  }

  rest(): Promise<void> {
    this.#endSlice();
    return this.wait(this.#breathe());
  }

  async wait<T>(outside: Promise<T>): Promise<T> {
    this.#endSlice();
    try {
      return await outside;
    } finally {
      this.#sliceStartMs = this.#clock.monotonicMs();
    }
  }

  #endSlice(): void {
    const nowMs = this.#clock.monotonicMs();
    const sliceMs = nowMs - this.#sliceStartMs;
    this.#sliceStartMs = nowMs;
    this.#figures.workMs += sliceMs;
    this.#figures.longestSliceMs = Math.max(this.#figures.longestSliceMs, sliceMs);
  }
}

/** A pace that rests by `breathe` after each slice of `LIMITS.snapshotSliceMs`. */
export function createTimeSlicer(clock: Pick<Clock, "monotonicMs">, breathe: YieldToLoop): TimeSlicer {
  return new ClockedSlicer(clock, breathe);
}

/** For readers with nothing beside them that could be delayed: never rests. */
export const WITHOUT_PAUSES: TimeSlicer = {
  isDue: false,
  rest: () => Promise.resolve(),
  wait: (outside) => outside,
  figures: { workMs: 0, longestSliceMs: 0 },
};

/** Calls back with consecutive pieces of the bytes, resting between them when it is time. */
export async function eachPiece(
  bytes: Uint8Array,
  pace: TimeSlicer,
  use: (piece: Uint8Array, offset: number) => void,
): Promise<void> {
  for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES) {
    use(bytes.subarray(offset, offset + PIECE_BYTES), offset);
    if (pace.isDue) await pace.rest();
  }
}
