/**
 * Completions that a superseded owner wrote too late: off the chain, so never part of the history, but told.
 *
 * Owns: finding the one that is offered as the answer about its step, and the decision that says by name who completed
 * what and what became of it. One decision per step, made once however often the task is taken up.
 */
import type { StepId } from "../../../base/ids.js";
import type { JsonValue } from "../../../base/json.js";
import { recordDecisionOnce, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import { parseStepId } from "../../model/identity.js";
import type { StepEntry } from "../../model/state.js";
import type { OrphanCompletion } from "../../model/input.js";

/** The result that may answer what became of an open step; the newest one. */
export function findOffered(orphans: readonly OrphanCompletion[], step: StepId): JsonValue | undefined {
  return orphans.findLast((one) => one.step === step && one.output !== undefined)?.output;
}

/**
 * Says of every orphan who wrote it and what became of it.
 *
 * Shape: `chosen` is what was decided about the open steps before, in the same breath.
 */
export function tellOrphans(
  choice: Choice,
  orphans: readonly OrphanCompletion[],
  chosen: readonly EngineEvent[],
): readonly EngineEvent[] {
  const steps = new Set(orphans.map(({ step }) => step));
  return [...steps].flatMap((step) => {
    const own = orphans.filter((one) => one.step === step);
    const attempt = Math.max(...own.map((one) => one.attempt));
    const fate = describeFate(choice.state.steps.get(step), {
      attempt,
      isOffered: isOffered(choice, step, chosen),
      chosen,
    });
    return recordDecisionOnce(choice, {
      agent: "engine",
      type: "orphan_completion",
      description: `${parseStepId(step).path} was completed too late by ${own.map(describeWriter).join(" and ")}; ${fate}`,
      rationale: "a later owner had claimed the task by then, so what was written is no part of its history",
      subject: step,
      facts: { completions: own.map(({ epoch, n, attempt: of }) => ({ epoch, n, attempt: of })) },
    });
  });
}

function describeWriter({ epoch, attempt }: OrphanCompletion): string {
  return `the owner of epoch ${epoch} (attempt ${attempt})`;
}

function isOffered({ state }: Choice, step: StepId, chosen: readonly EngineEvent[]): boolean {
  const isAsked = chosen.some(
    (event) => event.type === "question_opened" && event.question.step === step && event.question.offered !== undefined,
  );
  const question = state.steps.get(step)?.questionId;
  return isAsked || (question !== undefined && state.questions.get(question)?.offered !== undefined);
}

interface AttemptFate {
  /** The last one that came too late. */
  readonly attempt: number;
  readonly isOffered: boolean;
  readonly chosen: readonly EngineEvent[];
}

function describeFate(step: StepEntry | undefined, { attempt, isOffered: isKept, chosen }: AttemptFate): string {
  if (isKept) return "it is kept, and offered as the answer to the question about it";
  if (step === undefined) return "it is not used: the history knows no such step";
  if (step.status === "completed") return "it is not used: the history has the step done";
  if (step.attempt > attempt) return `it is not used: attempt ${step.attempt} began after it`;
  if (step.attempt < attempt) return `it is not used: the history knows no attempt ${attempt}`;
  const runsAgain = chosen.some((event) => event.type === "step_cancelled" && event.step === step.id);
  return runsAgain ? "it is not used: the step runs again" : "it is not used: the step was settled otherwise";
}
