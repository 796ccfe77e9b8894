/**
 * Ends one call of a model: when its step is over, when it takes too long, when it is silent.
 *
 * Silence is counted on content: what only keeps a connection alive is no sign of life. Whoever waits through `race` is
 * told at once, whatever SDK and network are still doing.
 */
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { ModelOptions } from "../outcome/contract.js";

type Ending = "cancelled" | "timeout" | "idle";

export class CallWatch {
  ended: Ending | undefined;
  readonly #controller = new AbortController();
  readonly #totalMs: number;
  readonly #idleMs: number;
  #lastSignMs: number;
  #reject: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;
  readonly #cancelTotal: () => void;
  readonly #stopListening: () => void;

  constructor(
    private readonly clock: Clock,
    options: Pick<ModelOptions, "timeoutMs" | "idleTimeoutMs">,
    outer: AbortSignal,
  ) {
    this.#totalMs = options.timeoutMs ?? LIMITS.modelCallTimeoutMs;
    this.#idleMs = options.idleTimeoutMs ?? LIMITS.modelIdleTimeoutMs;
    this.#lastSignMs = clock.monotonicMs();
    this.#cancelTotal = clock.schedule(this.#totalMs, () => this.#end("timeout"));
    this.#watchSilence();
    const cancel = (): void => this.#end("cancelled");
    outer.addEventListener("abort", cancel, { once: true });
    this.#stopListening = () => outer.removeEventListener("abort", cancel);
    if (outer.aborted) cancel();
  }

  /** Aborts with an AbortError, which the SDK takes for an end and not for a failure. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  touch(): void {
    this.#lastSignMs = this.clock.monotonicMs();
  }

  async race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    const ending = new Promise<never>((_resolve, reject) => {
      this.#reject = () => reject(new Error("the call was ended"));
    });
    if (this.ended !== undefined) this.#reject?.();
    return Promise.race([ending, work]);
  }

  /** Why the call was ended. */
  describe(name: string, partial: string): SplashdownError {
    if (this.ended === "cancelled") return new SplashdownError("CANCELLED", `the call of ${name} was cancelled`);
    const what =
      this.ended === "idle"
        ? `was silent for ${this.#idleMs / 1_000} seconds and was ended`
        : `took longer than ${this.#totalMs / 1_000} seconds and was ended`;
    return new SplashdownError("MODEL_FAILED", `${name} ${what}`, {
      details: { retryable: true, called: true, reason: this.ended ?? "", ...(partial === "" ? {} : { partial }) },
    });
  }

  close(): void {
    this.#cancelTotal();
    this.#cancelIdle?.();
    this.#stopListening();
    this.#controller.abort();
  }

  #end(ending: Ending): void {
    this.ended ??= ending;
    this.#reject?.();
    this.#controller.abort();
  }

  #watchSilence(): void {
    const leftMs = this.#lastSignMs + this.#idleMs - this.clock.monotonicMs();
    this.#cancelIdle = this.clock.schedule(leftMs, () => {
      if (this.#lastSignMs + this.#idleMs > this.clock.monotonicMs()) this.#watchSilence();
      else this.#end("idle");
    });
  }
}
