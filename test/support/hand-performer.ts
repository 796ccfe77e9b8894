/** A performer whose attempts end when the test says so, or by a rule. */
import type { JsonValue } from "../../src/base/json.js";
import type { Performer, StepOutcome, StepSink, StepWork } from "../../src/engine/model/ports.js";

export interface HandAttempt {
  readonly name: string;
  readonly work: StepWork;
  readonly sink: StepSink;
  readonly signal: AbortSignal;
  readonly end: (outcome: StepOutcome) => void;
  readonly fail: (error: unknown) => void;
}

export type PerformRule = (attempt: HandAttempt) => Promise<StepOutcome> | undefined;
export type ProbeRule = (
  work: StepWork,
  signal: AbortSignal,
) => Promise<{ done: boolean; output?: JsonValue } | undefined>;

export class HandPerformer implements Performer {
  /** Every attempt ever started, in order. */
  readonly attempts: HandAttempt[] = [];
  /** Names of steps whose probe was asked. */
  readonly probed: string[] = [];
  rule: PerformRule = () => undefined;
  probeRule: ProbeRule = () => Promise.resolve(undefined);
  readonly #trace: (line: string) => void;

  constructor(trace: (line: string) => void) {
    this.#trace = trace;
  }

  /** The latest attempt of a step. */
  of(name: string): HandAttempt {
    const found = this.attempts.findLast((attempt) => attempt.name === name);
    if (found === undefined) throw new Error(`${name} was not started`);
    return found;
  }

  get names(): readonly string[] {
    return this.attempts.map((attempt) => attempt.name);
  }

  perform(work: StepWork, sink: StepSink, signal: AbortSignal): Promise<StepOutcome> {
    const { name } = work.step;
    this.#trace(`perform ${name}`);
    return new Promise((resolve, reject) => {
      const attempt = { name, work, sink, signal, end: resolve, fail: reject };
      this.attempts.push(attempt);
      void this.rule(attempt)?.then(resolve, reject);
    });
  }

  probe(work: StepWork, signal: AbortSignal): Promise<{ done: boolean; output?: JsonValue } | undefined> {
    this.probed.push(work.step.name);
    return this.probeRule(work, signal);
  }
}
