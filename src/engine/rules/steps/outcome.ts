/**
 * Turns what a performer reported into events: completions with their route and deliverables, failures with what is done
 * about them, cancellations.
 *
 * A report for an attempt that is not the open one is late: it is refused, and noted when it claims a result.
 */
import { isJsonObject, type JsonValue } from "../../../base/json.js";
import { createDecision, loadValue, type Choice } from "../../model/choice.js";
import { roundShare } from "../../model/confidence.js";
import type { Decision } from "../../model/decision.js";
import { listDeliverables, nameByItem } from "../../render/deliverables.js";
import type {
  ConfidenceParts,
  ConfidenceReport,
  EndOfWorkflow,
  EngineEvent,
  EventOf,
  StepError,
  Usage,
} from "../../model/events.js";
import type { ValueRef, SavedFile } from "../../model/value-ref.js";
import { resolveAdded } from "./added-steps.js";
import { disposeFailure, type FailedAttempt } from "./failure.js";
import type { EngineInput } from "../../model/input.js";
import { SKIP } from "../../fold/evolve-steps.js";
import { findStepDefinition } from "../../model/lookup.js";
import type { StepOutcome } from "../../model/ports.js";
import { chooseRoute, END, isInMachine, type ChosenRoute } from "./routes.js";
import type { StepEntry, TaskState } from "../../model/state.js";
import type { DeferredEffects } from "../../model/deferred-effects.js";

type OutcomeInput = Extract<EngineInput, { kind: "outcome" }>;

/** A claimed confidence over 1 is a mistake that is easily made. */
const CONFIDENCE_MAX = 1;

export function decideOutcome(choice: Choice, input: OutcomeInput): readonly EngineEvent[] {
  const step = findCurrent(choice.state, input);
  if (step === undefined)
    return choice.state.steps.get(input.step)?.dueAtMs !== undefined ? [] : refuseLate(choice, input);
  const { outcome } = input;
  if (outcome.status === "cancelled") return decideCancelled(choice, step, outcome.acted);
  if (outcome.status === "failed")
    return failAttempt(choice, step, { error: outcome.error, durationMs: input.durationMs, usage: outcome.usage });
  const invalid = findConfidenceFault(outcome.confidence);
  if (invalid !== undefined)
    return failAttempt(choice, step, { error: invalid, durationMs: input.durationMs, usage: outcome.usage });
  const wishes = settleWishes(choice, step, input.wishes);
  if ("error" in wishes)
    return failAttempt(choice, step, { error: wishes.error, durationMs: input.durationMs, usage: outcome.usage });
  return completeAttempt(choice, step, {
    output: input.output ?? { inline: outcome.output },
    durationMs: input.durationMs,
    outcome,
    ...wishes,
  });
}

/** What is added is settled with the completion: which steps there are already, and what they are like. */
function settleWishes(
  choice: Choice,
  step: StepEntry,
  wishes: DeferredEffects | undefined,
): { readonly wishes?: DeferredEffects } | { readonly error: StepError } {
  if (wishes?.add === undefined) return wishes === undefined ? {} : { wishes };
  const added = resolveAdded(choice, step, wishes.add);
  return "error" in added ? added : { wishes: { ...wishes, add: added.steps } };
}

/** The step that an outcome is about; `undefined` for an attempt that is not the open one. */
export function findCurrent(state: TaskState, { step: id, attempt }: OutcomeInput): StepEntry | undefined {
  const step = state.steps.get(id);
  return step?.attempt === attempt && state.open.has(id) ? step : undefined;
}

function refuseLate(choice: Choice, input: OutcomeInput): readonly EngineEvent[] {
  if (input.outcome.status !== "completed") return [];
  const text = `late result of ${input.step} attempt ${input.attempt} refused`;
  return [{ type: "noted", atMs: choice.nowMs, text, facts: { step: input.step, attempt: input.attempt } }];
}

/** What did nothing, or may be done twice, runs again; what may have acted stays open and is unknown to the next owner. */
function decideCancelled(choice: Choice, step: StepEntry, acted: boolean | undefined): readonly EngineEvent[] {
  if (acted !== false && step.effects === "external") return [];
  return [
    {
      type: "step_cancelled",
      atMs: choice.nowMs,
      step: step.id,
      attempt: step.attempt,
      reason: acted === false ? "never_started" : "cancelled",
    },
  ];
}

export interface Completion {
  readonly output: ValueRef;
  readonly durationMs: number;
  readonly outcome?: Extract<StepOutcome, { status: "completed" }>;
  readonly wishes?: DeferredEffects;
  readonly by?: "answer" | "probe" | "skip";
  /** Where control goes, whatever the routes say; counts in a machine only. */
  readonly goTo?: string;
  /** The step ends its workflow. */
  readonly ends?: EndOfWorkflow;
}

export function completeAttempt(choice: Choice, step: StepEntry, completion: Completion): readonly EngineEvent[] {
  const { by, outcome, wishes } = completion;
  const ends = completion.ends ?? endOf(choice, step, completion);
  const { saved, route } = followUp(choice, step, completion);
  const event: EventOf<"step_completed"> = {
    type: "step_completed",
    atMs: choice.nowMs,
    step: step.id,
    attempt: step.attempt,
    output: completion.output,
    durationMs: completion.durationMs,
    ...reportedBy(outcome),
    ...(saved.length === 0 ? {} : { saved }),
    ...(route.next === undefined ? {} : { next: route.next }),
    ...(route.routeOutput === undefined ? {} : { routeOutput: route.routeOutput }),
    ...(wishes === undefined ? {} : { wishes }),
    ...(by === undefined ? {} : { by }),
    ...(ends === undefined ? {} : { ends }),
  };
  return [route.reason === undefined ? event : { ...event, decision: stuckAt(choice, step.path, route.reason) }];
}

/** An answer with `$end` outside of a machine ends the workflow that the step is part of. */
function endOf(choice: Choice, { path, name }: StepEntry, { goTo, output }: Completion): EndOfWorkflow | undefined {
  if (goTo !== END || isInMachine(choice, path)) return undefined;
  const value = loadValue(choice, output);
  const said = isJsonObject(value) ? (value["selected"] ?? value["outcome"]) : undefined;
  const reason = `${name} was answered ${typeof said === "string" ? said : "so"}`;
  return { status: "success", reason, replacesOutput: false };
}

interface FollowUp {
  readonly saved: readonly SavedFile[];
  readonly route: ChosenRoute;
}

/** Deliverables and the next target, as the completion leaves the channel; the value is loaded only when one needs it. */
function followUp(before: Choice, step: StepEntry, completion: Completion): FollowUp {
  const choice: Choice = { ...before, channelChanges: completion.wishes?.channel };
  const node = findStepDefinition(choice.state, step);
  const saveAs = completion.by === "skip" ? {} : node.saveAs;
  const isAgain = completion.wishes?.again === true;
  const { goTo } = completion;
  const isRouted = node.routes.length > 0 && !isAgain && goTo === undefined;
  const needsValue = Object.keys(saveAs).length > 0 || isRouted;
  const value = needsValue ? loadValue(choice, completion.output) : null;
  return {
    saved: listDeliverables(value, nameByItem(saveAs, step.path), step.phase),
    route: isAgain ? {} : chooseWay(choice, { path: step.path, node }, { goTo, output: value }),
  };
}

function chooseWay(
  choice: Choice,
  from: Parameters<typeof chooseRoute>[1],
  { goTo, output }: { readonly goTo: string | undefined; readonly output: JsonValue },
): ChosenRoute {
  if (goTo === undefined) return chooseRoute(choice, from, output);
  return isInMachine(choice, from.path) || goTo === SKIP ? { next: goTo } : {};
}

/** The machine cannot go on from here; the reason is told, and a resume tries the routes again. */
function stuckAt(choice: Choice, path: string, reason: string): Decision {
  return createDecision(choice, {
    agent: "engine",
    type: "no_route",
    description: `stopped after ${path}: there is nowhere to go`,
    rationale: reason,
    subject: path,
  });
}

function reportedBy(outcome: Completion["outcome"]): Partial<EventOf<"step_completed">> {
  if (outcome === undefined) return {};
  const confidence = readConfidence(outcome);
  return {
    ...(confidence === undefined ? {} : { confidence }),
    ...(outcome.blockers === undefined ? {} : { blockers: outcome.blockers }),
    ...(outcome.assumptions === undefined ? {} : { assumptions: outcome.assumptions }),
    ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
    ...(outcome.stderr === undefined ? {} : { stderr: outcome.stderr }),
  };
}

/** One number, or the mean of the four parts. Units: 0..1. Source: DESIGN section 5. */
function readConfidence(outcome: NonNullable<Completion["outcome"]>): ConfidenceReport | undefined {
  const { confidence, factors = [], uncertainties = [] } = outcome;
  if (confidence === undefined) return uncertainties.length === 0 ? undefined : { factors, uncertainties };
  if (typeof confidence === "number") return { value: confidence, factors, uncertainties };
  return { value: meanOf(confidence), parts: confidence, factors, uncertainties };
}

function meanOf(parts: ConfidenceParts): number {
  return roundShare((parts.knowledge + parts.information + parts.implementation + parts.validation) / 4);
}

export function findConfidenceFault(confidence: number | ConfidenceParts | undefined): StepError | undefined {
  if (confidence === undefined) return undefined;
  const values = typeof confidence === "number" ? [confidence] : Object.values(confidence);
  const wrong = values.find((value) => !(value >= 0 && value <= CONFIDENCE_MAX));
  if (wrong === undefined) return undefined;
  const advice = wrong > CONFIDENCE_MAX && wrong <= 100 ? `, did you mean ${wrong / 100}` : "";
  const message = `a confidence is 0 to 1, not ${wrong}${advice}`;
  return { code: "STEP_OUTPUT_INVALID", message, retryable: false, details: { acted: "yes" } };
}

export interface Failure {
  readonly error: StepError;
  readonly durationMs: number;
  readonly usage?: Usage;
}

export function failAttempt(
  choice: Choice,
  step: FailedAttempt & Pick<StepEntry, "id" | "attempt">,
  failure: Failure,
): readonly EngineEvent[] {
  return [
    {
      type: "step_failed",
      atMs: choice.nowMs,
      step: step.id,
      attempt: step.attempt,
      error: failure.error,
      durationMs: failure.durationMs,
      ...(failure.usage === undefined ? {} : { usage: failure.usage }),
      disposition: disposeFailure(choice, step, failure.error),
    },
  ];
}

/** A completion without a performer: by an answer, a probe, a skip, or because a wait is over. */
export function completeWith(
  choice: Choice,
  step: StepEntry,
  completion: { readonly value: JsonValue; readonly by?: Completion["by"] },
): readonly EngineEvent[] {
  const { value, by } = completion;
  return completeAttempt(choice, step, {
    output: { inline: value },
    durationMs: 0,
    ...(by === undefined ? {} : { by }),
  });
}
