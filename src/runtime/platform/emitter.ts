/** Typed events of the library. A listener that throws is reported and never fails a run. */
import { messageOf } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { SplashdownEvents } from "../views/verb-views.js";

type Listeners = { [E in keyof SplashdownEvents]: Set<SplashdownEvents[E]> };

export class Emitter {
  readonly #log: Log;
  readonly #listeners: Listeners = {
    event: new Set(),
    checkpoint_saved: new Set(),
    checkpoint_failed: new Set(),
    step_started: new Set(),
    step_finished: new Set(),
    decision_made: new Set(),
    question_opened: new Set(),
    progress: new Set(),
    notice: new Set(),
  };

  constructor(log: Log) {
    this.#log = log;
  }

  on<E extends keyof SplashdownEvents>(name: E, listener: SplashdownEvents[E]): () => void {
    this.#listeners[name].add(listener);
    return () => this.#listeners[name].delete(listener);
  }

  has(name: keyof SplashdownEvents): boolean {
    return this.#listeners[name].size > 0;
  }

  emit<E extends keyof SplashdownEvents>(name: E, payload: Parameters<SplashdownEvents[E]>[0]): void {
    for (const listener of this.#listeners[name]) {
      try {
        (listener as (payload: Parameters<SplashdownEvents[E]>[0]) => void)(payload);
      } catch (error) {
        this.#log.warn(`a listener of ${name} failed: ${messageOf(error)}`);
      }
    }
  }
}

/** A log whose lines for people are events of the library, too. */
export function tellNotices(log: Log, emitter: Emitter): Log {
  const tell = (level: "info" | "warn") => (message: string) => {
    log[level](message);
    emitter.emit("notice", { level, message });
  };
  return { debug: (message) => log.debug(message), info: tell("info"), warn: tell("warn") };
}
