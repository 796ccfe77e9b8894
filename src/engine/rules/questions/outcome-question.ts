/** What a person is asked about a step that may have acted, or that crashes its process. */
import type { JsonValue } from "../../../base/json.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent, StepError } from "../../model/events.js";
import type { ProcessPlace } from "../../model/input.js";
import type { QuestionOption } from "../../model/question-option.js";
import { openQuestion } from "./questions.js";
import type { OpenTool } from "../../model/lookup.js";
import type { QuestionEntry, StepEntry } from "../../model/state.js";

export const OUTCOME_OPTIONS: readonly QuestionOption[] = [
  { value: "rerun", label: "run it again, with the same idempotency key" },
  { value: "done", label: "it has acted; give its output as JSON", takesValue: true },
  { value: "skip", label: "continue without it" },
  { value: "fail", label: "treat it as failed" },
];

const TOOL_OPTIONS: readonly QuestionOption[] = [
  { value: "rerun", label: "call the tool again, with the same idempotency key" },
  { value: "done", label: "it has acted; give its result as JSON", takesValue: true },
  { value: "skip", label: "continue without its result" },
  { value: "fail", label: "treat the step as failed" },
];

const REPEAT_OPTIONS: readonly QuestionOption[] = OUTCOME_OPTIONS.map((option) =>
  option.value === "rerun" ? { ...option, label: "run it once more, with an idempotency key of its own" } : option,
);

/** What identifies the attempt that is asked about. */
export type AskedStep = Pick<StepEntry, "id" | "path" | "kind" | "attempt" | "idempotencyKey">;

export interface OutcomeDoubt {
  /** A result found outside the history. */
  readonly offered?: JsonValue;
  /** The tool it was calling: the question is about that call alone. */
  readonly tool?: OpenTool;
  /** May still act for it, where we can neither see nor end it. */
  readonly survivor?: ProcessPlace | undefined;
  /** No intent of it is known, but records are missing. */
  readonly isLost?: boolean;
  /** How it ended, though it has acted or may have. */
  readonly failed?: StepError | undefined;
}

export function askOutcome(choice: Choice, step: AskedStep, doubt: OutcomeDoubt): EngineEvent {
  const text = `${describeDoubt(step, doubt)}${describeSurvivor(doubt.survivor)}`;
  return openQuestion(choice, {
    kind: "unknown_outcome",
    subject: step.id,
    step: step.id,
    text: doubt.offered === undefined ? text : `${text}${FOUND}`,
    options: doubt.tool === undefined ? OUTCOME_OPTIONS : TOOL_OPTIONS,
    offered: doubt.offered,
    ...(doubt.tool === undefined ? {} : { about: { kind: "call", call: doubt.tool.call, tool: doubt.tool.name } }),
    facts: {
      ...factsOf(step),
      ...(doubt.survivor === undefined ? {} : { may_still_run: { ...doubt.survivor } }),
    },
  });
}

function describeDoubt({ path }: AskedStep, { tool, isLost, failed }: OutcomeDoubt): string {
  if (failed !== undefined)
    return `${path} ${failed.details?.["acted"] === "yes" ? "has acted" : "may or may not have acted"}: ${failed.message}`;
  if (isLost === true) return `records of this task are lost: ${path} may have been run before`;
  if (tool !== undefined)
    return `${path} was calling the tool ${tool.name} and its result was not recorded: the tool may or may not have acted`;
  return `${path} was started and its end was not recorded: it may or may not have acted`;
}

function describeSurvivor(survivor: ProcessPlace | undefined): string {
  if (survivor === undefined) return "";
  return `, and process ${survivor.pid} of host ${survivor.host} may still run: look there before you answer`;
}

const FOUND = "; a result of it was found outside the history and is offered as the answer to done";

/** The same question once more, with a result that came to light after it was asked. */
export function offerLater(
  choice: Choice,
  { status: _open, ...asked }: QuestionEntry,
  offered: JsonValue,
): EngineEvent {
  return {
    type: "question_opened",
    atMs: choice.nowMs,
    question: { ...asked, text: `${asked.text}${FOUND}`, offered },
  };
}

/** After a roll-back: the step was done before, what it did to the world was not undone. */
export function askRepeat(choice: Choice, step: AskedStep, earlier: StepEntry): EngineEvent {
  const offered = earlier.output !== undefined && "inline" in earlier.output ? { offered: earlier.output.inline } : {};
  return openQuestion(choice, {
    kind: "repeat_step",
    subject: step.id,
    step: step.id,
    text: `${step.path} ${describeEarlier(earlier)}, before the task went back; run it again, or keep what it did?`,
    options: REPEAT_OPTIONS,
    ...offered,
    facts: { ...factsOf(step), earlier: earlier.id },
  });
}

function describeEarlier({ status, round }: StepEntry): string {
  return status === "completed" ? `was done in round ${round}` : `was started in round ${round} and may have acted`;
}

export function askParked(choice: Choice, step: AskedStep, crashes: number): EngineEvent {
  return openQuestion(choice, {
    kind: "parked_step",
    subject: step.id,
    step: step.id,
    text: `${step.path} was running in ${crashes} crashed processes in a row without progress and is parked`,
    options: OUTCOME_OPTIONS,
    facts: { ...factsOf(step), crashes },
  });
}

function factsOf(step: AskedStep) {
  return { path: step.path, kind: step.kind, attempt: step.attempt, idempotency_key: step.idempotencyKey };
}
