/**
 * Whether a person lets a model have a tool called.
 *
 *   a call that needs it → the attempt ends, its question is open → answered → the step goes on at the same call
 * The question is the record: which call it was about and what was answered stands there for as long as the task, so a
 * call is asked about once, whatever crashes. An answer to a tool that is asked about once holds for the whole task.
 */
import { isJsonObject, type JsonValue } from "../../../base/json.js";
import type { StepId } from "../../../base/ids.js";
import type { Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { EngineInput } from "../../model/input.js";
import type { QuestionOption } from "../../model/question-option.js";
import { openQuestion } from "./questions.js";
import type { QuestionEntry, TaskState } from "../../model/state.js";
import type { Approval, ApprovalWish } from "../../model/approval-wish.js";

const GIVEN = "approve";
const REASON = "reason";
const INPUT_CHARS_MAX = 2_000;

/** What the question takes. */
export const APPROVAL_CHOICES = [{ value: GIVEN }, { value: "deny", promptFor: REASON }] as const;

function optionsOf({ label, isForAll }: ApprovalWish): readonly QuestionOption[] {
  const [given, denied] = APPROVAL_CHOICES;
  return [
    { ...given, label: isForAll ? `let ${label} be called, now and later in this task` : "let this call be made" },
    { ...denied, label: "do not make this call; the model is told" },
  ];
}

/** What was answered about a call; `undefined` when nothing yet. */
export function findApproval(state: TaskState, step: StepId, wish: ApprovalWish): Approval | undefined {
  for (const question of state.questions.values()) {
    if (question.kind !== "tool_approval" || question.answer === undefined) continue;
    const { about } = question;
    if (about?.kind !== "call" || about.identity !== wish.tool) continue;
    const isThis = question.step === step && about.call === wish.call;
    const isEarlierYes = wish.isForAll && about.isForAll === true && question.answer === GIVEN;
    if (isThis || isEarlierYes) return readApproval(question);
  }
  return undefined;
}

function readApproval({ answer, value }: QuestionEntry): Approval {
  if (answer === GIVEN) return { isGiven: true };
  const reason = isJsonObject(value) ? value[REASON] : value;
  return { isGiven: false, ...(typeof reason === "string" && reason !== "" ? { reason } : {}) };
}

/** Ends the attempt and asks; nothing where an answer has come meanwhile. */
export function decideApproval(
  choice: Choice,
  input: Extract<EngineInput, { kind: "approval_wanted" }>,
): readonly EngineEvent[] {
  const { step: id, attempt, wish } = input;
  const step = choice.state.steps.get(id);
  if (step?.attempt !== attempt || !choice.state.open.has(id)) return [];
  if (findApproval(choice.state, id, wish) !== undefined) return [];
  const { call, tool, label, isForAll } = wish;
  return [
    { type: "step_cancelled", atMs: choice.nowMs, step: id, attempt, reason: "approval" },
    openQuestion(choice, {
      kind: "tool_approval",
      subject: id,
      step: id,
      text: `${step.path} wants to call the tool ${label} with ${formatInput(input.input)}`,
      options: optionsOf(wish),
      about: { kind: "call", call, tool: label, identity: tool, isForAll },
      facts: { path: step.path },
    }),
  ];
}

function formatInput(input: JsonValue): string {
  const text = JSON.stringify(input);
  return text.length <= INPUT_CHARS_MAX ? text : `${text.slice(0, INPUT_CHARS_MAX)}… (${text.length} characters)`;
}
