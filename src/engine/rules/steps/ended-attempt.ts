/**
 * What a performer came to, with one case before all others: an attempt that failed after it acted, or may have acted.
 *
 * A command that ended well and wrote no JSON, an answer that broke off, a request that went out and got no answer, a step
 * that was ended by its timeout: each is no failure that a further attempt mends, as that would act twice. An external
 * step asks a person instead, or does what `on_unknown` says. A retry policy that names `timeout` agrees to another
 * attempt after one.
 */
import type { StepDefinition } from "../../../definition/model/step.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent, StepError } from "../../model/events.js";
import type { EngineInput } from "../../model/input.js";
import { findStepDefinition } from "../../model/lookup.js";
import { askOutcome } from "../questions/outcome-question.js";
import type { StepEntry } from "../../model/state.js";
import { isTimeout, mayHaveActed } from "./failure.js";
import { completeWith, decideOutcome, failAttempt, findCurrent, findConfidenceFault, type Failure } from "./outcome.js";

type OutcomeInput = Extract<EngineInput, { kind: "outcome" }>;

export function decideEnded(choice: Choice, input: OutcomeInput): readonly EngineEvent[] {
  const step = findCurrent(choice.state, input);
  const failure = failureOf(input);
  if (step?.effects !== "external" || failure === undefined || !mayHaveActed(failure.error))
    return decideOutcome(choice, input);
  const node = findStepDefinition(choice.state, step);
  return agreesToRepeat(node, failure.error) ? decideOutcome(choice, input) : followActed(choice, step, failure);
}

/** A completion that is no legal one was one to the performer. */
function failureOf({ outcome, durationMs }: OutcomeInput): Failure | undefined {
  if (outcome.status === "cancelled") return undefined;
  const error = outcome.status === "failed" ? outcome.error : findConfidenceFault(outcome.confidence);
  if (error === undefined) return undefined;
  return { error, durationMs, ...(outcome.usage === undefined ? {} : { usage: outcome.usage }) };
}

function agreesToRepeat({ retry }: StepDefinition, error: StepError): boolean {
  return retry.on?.includes("timeout") === true && isTimeout(error);
}

function followActed(choice: Choice, step: StepEntry, failure: Failure): readonly EngineEvent[] {
  const policy = choice.state.task?.onUnknown ?? step.onUnknown;
  if (policy === "rerun") return failAttempt(choice, step, failure);
  if (policy === "skip") return completeWith(choice, step, { value: null, by: "skip" });
  if (policy === "fail")
    return failAttempt(choice, step, { ...failure, error: { ...failure.error, retryable: false } });
  const { error, durationMs, usage } = failure;
  return [
    {
      type: "step_failed",
      atMs: choice.nowMs,
      step: step.id,
      attempt: step.attempt,
      error,
      durationMs,
      ...(usage === undefined ? {} : { usage }),
      disposition: { action: "ask" },
    },
    askOutcome(choice, step, { failed: error }),
  ];
}
