/**
 * Paces the progress of one attempt: a program may report thousands of times a second, an event costs a durable record.
 *
 * Owns: the reports that wait. Of fraction and message the latest counts: at most one report of them per pace, the first
 * at once, the last always, because `flush` is called before whatever else the attempt says and at its end. Anything else
 * (partial output, confidence, a blocker) is handed on at once, after what waits, so that the order is kept.
 */
import type { Clock } from "../../base/clock.js";
import type { JsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import type { StepSink } from "../model/ports.js";

export type ProgressReport = Parameters<StepSink["progress"]>[0];

export class ProgressThrottle {
  readonly #clock: Clock;
  readonly #post: (report: JsonObject) => void;
  #waiting: JsonObject | undefined;
  #postedAtMs = -Infinity;
  #cancel: (() => void) | undefined;

  /** `post` must not throw. */
  constructor(clock: Clock, post: (report: JsonObject) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  take(report: ProgressReport): void {
    const told = JSON.parse(JSON.stringify(report)) as JsonObject;
    const { fraction: _fraction, message: _message, ...others } = told;
    if (Object.keys(others).length > 0) {
      this.flush();
      this.#post(told);
      return;
    }
    this.#waiting = { ...this.#waiting, ...told };
    if (this.#cancel !== undefined) return;
    const leftMs = this.#postedAtMs + LIMITS.progressPaceMs - this.#clock.monotonicMs();
    if (leftMs <= 0) this.flush();
    else this.#cancel = this.#clock.schedule(leftMs, () => this.flush());
  }

  /** Hands on what waits. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#postedAtMs = this.#clock.monotonicMs();
    this.#post(waiting);
  }
}

/** The fields that are what they should be; others are left out, a program may report anything. */
export function readProgress({ fraction, message, partial, confidence, blocker }: JsonObject) {
  return {
    ...(typeof fraction === "number" ? { fraction } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(partial === undefined ? {} : { partial: { inline: partial } }),
    ...(typeof confidence === "number" && confidence >= 0 && confidence <= 1 ? { confidence } : {}),
    ...(typeof blocker === "string" ? { blocker } : {}),
  };
}
