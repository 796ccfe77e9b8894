/**
 * The attempts that run in this process: starts them, ends them, and hands on what they came to.
 *
 * Owns: the table of running attempts. Whether a step may start is decided before; what its outcome means is decided
 * after. Every attempt ends in exactly one outcome, unless the run ends first.
 */
import { errorCodeOf } from "../../base/errors.js";
import type { StepId } from "../../base/ids.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { EventOf } from "../model/events.js";
import { findStepDefinition } from "../model/lookup.js";
import type { Performer, StepOutcome } from "../model/ports.js";
import type { TaskState } from "../model/state.js";
import type { Activity } from "./activity.js";
import { Attempt, type AttemptDeps, type CloseReason } from "./attempt.js";
import { describeThrown, judgeOutcome } from "./outcome.js";
import type { LargeValues } from "./values.js";
import { assembleWork } from "./work.js";

export interface AttemptsDeps extends AttemptDeps {
  readonly state: TaskState;
  readonly performer: Performer;
  readonly values: LargeValues;
  readonly activity: Activity;
  /** Ends the run with an error. */
  readonly abandon: (error: unknown) => void;
}

export class Attempts {
  readonly #deps: AttemptsDeps;
  readonly #running = new Map<string, { readonly attempt: Attempt; readonly settled: Promise<void> }>();

  constructor(deps: AttemptsDeps) {
    this.#deps = deps;
  }

  /** Acts on an intent that is durable, unless the step has gone on without it meanwhile. */
  start(event: EventOf<"step_intended">): void {
    const { state } = this.#deps;
    const step = state.steps.get(event.step);
    if (step === undefined || step.status !== "open" || step.attempt !== event.attempt) return;
    const definition = findStepDefinition(state, step);
    const attempt = new Attempt(step, definition, this.#deps);
    this.#running.set(keyOf(event.step, event.attempt), { attempt, settled: this.#run(attempt, definition) });
  }

  /** Ends one attempt, if it runs here. */
  cancel(event: EventOf<"step_cancelled"> | EventOf<"step_failed">): void {
    this.#running.get(keyOf(event.step, event.attempt))?.attempt.close("cancelled");
  }

  closeAll(reason: CloseReason): void {
    for (const { attempt } of this.#running.values()) attempt.close(reason);
  }

  /** Resolves when every performer has come back. */
  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.settled));
  }

  async #run(attempt: Attempt, definition: StepDefinition): Promise<void> {
    const { activity, abandon } = this.#deps;
    const end = activity.begin();
    try {
      await this.#conclude(attempt, await this.#perform(attempt, definition));
    } catch (error) {
      abandon(error);
    } finally {
      this.#running.delete(keyOf(attempt.step.id, attempt.step.attempt));
      end();
    }
  }

  async #perform(attempt: Attempt, definition: StepDefinition): Promise<StepOutcome> {
    const { state, values, performer } = this.#deps;
    const { step, sink, signal } = attempt;
    try {
      const work = await assembleWork({ state, values }, step, definition);
      if (signal.aborted) return { status: "cancelled", acted: false };
      return await performer.perform(work, sink, signal);
    } catch (error) {
      if (isEndOfRun(error)) throw error;
      return attempt.closed === undefined
        ? { status: "failed", error: describeThrown(error) }
        : { status: "cancelled" };
    }
  }

  async #conclude(attempt: Attempt, outcome: StepOutcome): Promise<void> {
    const { sanitiser, store, submit } = this.#deps;
    const { closed, circumstances, step } = attempt;
    attempt.close("finished");
    const judged = judgeOutcome(outcome, closed, sanitiser);
    const output = judged.status === "completed" ? { output: await store(judged.output) } : {};
    await submit({
      kind: "outcome",
      step: step.id,
      attempt: step.attempt,
      outcome: judged,
      ...output,
      ...circumstances,
    });
  }
}

/** Errors that are no failure of the step: the store, the ownership or the program itself. */
function isEndOfRun(error: unknown): boolean {
  const code = errorCodeOf(error);
  return (
    code === "OWNER_SUPERSEDED" || code === "INTERNAL" || code === "SEGMENT_DEAD" || code?.startsWith("STORE_") === true
  );
}

function keyOf(step: StepId, attempt: number): string {
  return `${step}/${attempt}`;
}
