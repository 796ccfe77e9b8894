/**
 * A journal that lives in memory: what is appended becomes durable at once, when told, or only up to a crash.
 *
 * `durableEvents` is what a crash leaves. A log that was crashed answers nobody any more, as a process that is gone.
 */
import type { EngineEvent } from "../../src/engine/model/events.js";
import type { EventLog } from "../../src/engine/model/ports.js";
import { SplashdownError } from "../../src/base/errors.js";

interface Waiter {
  readonly n: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class HandLog implements EventLog {
  readonly appended: EngineEvent[];
  /** Syncs asked for one by one, with `sync()`, instead of at once. */
  isByHand = false;
  isSuperseded = false;
  /** Records from here on never become durable. */
  crashAt = Infinity;
  /** At the crash what became durable last is told nobody any more. */
  isCrashSilent = false;
  confirms = 0;
  readonly #trace: (line: string) => void;
  #durable: number;
  #failure: SplashdownError | undefined;
  #waiters: Waiter[] = [];

  constructor(history: readonly EngineEvent[], trace: (line: string) => void) {
    this.appended = [...history];
    this.#durable = history.length;
    this.#trace = trace;
  }

  get durableEvents(): readonly EngineEvent[] {
    return this.appended.slice(0, this.#durable);
  }

  get isCrashed(): boolean {
    return this.appended.length > this.crashAt || (this.isCrashSilent && this.appended.length === this.crashAt);
  }

  append(events: readonly EngineEvent[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.appended.push(...events);
    for (const event of events) this.#trace(`append ${event.type}`);
  }

  durable(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const n = this.appended.length;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ n, resolve, reject });
      if (!this.isByHand) queueMicrotask(() => this.sync());
    });
  }

  async confirm(): Promise<void> {
    this.confirms += 1;
    this.#trace("look");
    await Promise.resolve();
    if (this.isSuperseded) throw new SplashdownError("OWNER_SUPERSEDED", "another process claimed the task");
  }

  /** Makes everything appended so far durable. */
  sync(): void {
    const upTo = Math.min(this.appended.length, this.crashAt);
    if (this.#failure !== undefined) return;
    if (upTo <= this.#durable) return this.isCrashed ? undefined : this.#settle();
    this.#durable = upTo;
    this.#trace("durable");
    if (!this.isCrashSilent || upTo < this.crashAt) this.#settle();
  }

  /** The disk is gone: nothing appended from now, or not yet durable, ever is. */
  fail(code: "STORE_FULL" | "STORE_FAILED"): void {
    this.#failure = new SplashdownError(code, "the journal cannot be written");
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(this.#failure);
  }

  #settle(): void {
    const done = this.#waiters.filter((waiter) => waiter.n <= this.#durable);
    this.#waiters = this.#waiters.filter((waiter) => waiter.n > this.#durable);
    for (const waiter of done) waiter.resolve();
  }
}
