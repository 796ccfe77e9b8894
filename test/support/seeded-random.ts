/** Reproducible randomness: equal seeds give equal bytes. */
import { createHash } from "node:crypto";
import type { RandomSource } from "../../src/base/random.js";

/** A random source whose bytes are SHA-256 of seed and block number. Never two equal blocks, so ids do not collide. */
export function createSeededRandom(seed: number | string): RandomSource {
  let block = 0;
  let rest = Buffer.alloc(0);
  return {
    bytes(count: number): Uint8Array {
      while (rest.length < count) {
        const next = createHash("sha256").update(`${seed}/${block}`).digest();
        block += 1;
        rest = Buffer.concat([rest, next]);
      }
      const taken = new Uint8Array(rest.subarray(0, count));
      rest = rest.subarray(count);
      return taken;
    },
  };
}

/** Reproducible plain numbers: `next(n)` is a whole number in [0, n). */
export interface SeededNumbers {
  next(bound: number): number;
}

/** Numbers for generators and schedules. Fast, not secret. */
export function createSeededNumbers(seed: number): SeededNumbers {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return {
    next(bound: number): number {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
    },
  };
}
