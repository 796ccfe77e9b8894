/**
 * A cache that costs at most a bounded wait: what it has not said by then counts as not there.
 *
 * After a failure or a silence it is left alone for a while, so a dead server costs its wait once in that time. What is
 * written goes on behind, a few at a time; more than those are not written at all.
 */
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { CachePort } from "./cache-port.js";

export interface BestEffortCacheParts {
  readonly cache: CachePort;
  readonly clock: Clock;
  /** Told each time the cache is left alone for a while. */
  readonly onTrouble: (reason: string) => void;
}

export class BestEffortCache {
  readonly #parts: BestEffortCacheParts;
  readonly #writing = new Set<Promise<unknown>>();
  #restUntilMs = -Infinity;

  constructor(parts: BestEffortCacheParts) {
    this.#parts = parts;
  }

  /** Errors: none. */
  async get(name: string): Promise<Uint8Array | undefined> {
    return this.#isResting() ? undefined : this.#bounded(() => this.#parts.cache.get(name));
  }

  /** Returns at once. */
  set(name: string, bytes: Uint8Array): void {
    if (this.#isResting() || this.#writing.size >= LIMITS.cacheWritesMax) return;
    const writing = this.#bounded(() => this.#parts.cache.set(name, bytes));
    this.#writing.add(writing);
    void writing.finally(() => this.#writing.delete(writing));
  }

  /** What is being written has its bounded time. */
  async close(): Promise<void> {
    await Promise.all(this.#writing);
    await this.#parts.cache.close().catch(() => undefined);
  }

  #isResting(): boolean {
    return this.#parts.clock.monotonicMs() < this.#restUntilMs;
  }

  /** Never rejects; `undefined` for a failure and for silence. */
  async #bounded<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { clock } = this.#parts;
    let cancel: () => void = () => undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      const giveUp = () => reject(new Error(`no answer within ${LIMITS.cacheWaitMs} ms`));
      cancel = clock.schedule(LIMITS.cacheWaitMs, giveUp);
    });
    try {
      return await Promise.race([work(), silence]);
    } catch (error) {
      if (!this.#isResting()) this.#parts.onTrouble(messageOf(error));
      this.#restUntilMs = clock.monotonicMs() + LIMITS.cacheRestMs;
      return undefined;
    } finally {
      cancel();
    }
  }
}
