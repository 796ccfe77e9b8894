/**
 * One limit of a provider holds back everybody who would run into it.
 *
 * After a refusal no call of the same model is made until its time has come: whoever comes earlier is told the time, and
 * waits durably as a step does. Then one goes ahead; the others follow when its answer begins, or are told the next time.
 * So ten parallel specialists cost one refused call and not ten.
 */
import type { Clock } from "../../base/clock.js";
import { errorCodeOf, SplashdownError } from "../../base/errors.js";
import type { RandomSource } from "../../base/random.js";

interface Hold {
  readonly untilMs: number;
  /** Refusals in a row. */
  readonly count: number;
  /** Settles when the one that went ahead knows. */
  ahead?: Promise<void> | undefined;
}

const DELAY_MS = 1_000;
const DELAY_MS_MAX = 60_000;
const JITTER = 0.2;

export class CallLimiter {
  readonly #holds = new Map<string, Hold>();

  constructor(private readonly deps: { readonly clock: Clock; readonly random: RandomSource }) {}

  /**
   * Makes the call, unless it is held back; `accepted` is to be called when the answer begins.
   *
   * Errors: MODEL_RATE_LIMITED with a time, whether the provider said one or not; CANCELLED; those of the call.
   */
  async run<T>(key: string, signal: AbortSignal, call: (accepted: () => void) => Promise<T>): Promise<T> {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((settle) => {
      resolve = settle;
    });
    const hold = await this.#admit(key, signal, promise);
    const accepted = (): void => {
      if (this.#holds.get(key) === hold) this.#holds.delete(key);
      resolve();
    };
    try {
      const result = await call(accepted);
      accepted();
      return result;
    } catch (error) {
      throw errorCodeOf(error) === "MODEL_RATE_LIMITED" ? this.#hold(key, error as SplashdownError) : error;
    } finally {
      if (hold?.ahead === promise) hold.ahead = undefined;
      resolve();
    }
  }

  /** The hold that the caller goes ahead of, with what it promises the others. */
  async #admit(key: string, signal: AbortSignal, ahead: Promise<void>): Promise<Hold | undefined> {
    for (let hold = this.#holds.get(key); hold !== undefined; hold = this.#holds.get(key)) {
      if (this.deps.clock.nowMs() < hold.untilMs) {
        throw new SplashdownError("MODEL_RATE_LIMITED", `calls of ${key} are held back after a refusal`, {
          details: { retry_at_ms: hold.untilMs, held_back: true },
        });
      }
      if (hold.ahead === undefined) {
        hold.ahead = ahead;
        return hold;
      }
      await orAborted(hold.ahead, signal);
    }
    return undefined;
  }

  #hold(key: string, error: SplashdownError): SplashdownError {
    const before = this.#holds.get(key);
    const told = error.details["retry_at_ms"];
    const untilMs = typeof told === "number" ? told : this.deps.clock.nowMs() + this.#delayMs(before?.count ?? 0);
    this.#holds.set(key, { untilMs: Math.max(untilMs, before?.untilMs ?? 0), count: (before?.count ?? 0) + 1 });
    return new SplashdownError("MODEL_RATE_LIMITED", error.message, {
      details: { ...error.details, retry_at_ms: untilMs },
      cause: error,
    });
  }

  /** Where the provider names no time. */
  #delayMs(count: number): number {
    const fraction = (this.deps.random.bytes(1)[0] ?? 0) / 256;
    return Math.round(Math.min(DELAY_MS * 2 ** count, DELAY_MS_MAX) * (1 - JITTER * fraction));
  }
}

function orAborted(waiting: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void =>
      reject(new SplashdownError("CANCELLED", "a model call was cancelled", { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void waiting.then(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
  });
}
