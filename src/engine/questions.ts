/**
 * Questions: one mechanism for everything that waits for a person.
 *
 * A question is open, then answered, then consumed by what its answer permits: an intent, a completion, a failure or a
 * decision that names it. A second attempt asks anew, under the next ordinal.
 */
import type { JsonObject, JsonValue } from "../base/json.js";
import type { StepId } from "../base/ids.js";
import { decideThat, type Choice } from "./choice.js";
import type { EngineEvent, Question, QuestionKind, QuestionOption } from "./events.js";
import { questionIdOf } from "./identity.js";
import type { QuestionEntry, TaskState } from "./state.js";

export interface QuestionRequest {
  readonly kind: QuestionKind;
  /** Step, phase or `task`. */
  readonly subject: string;
  readonly text: string;
  readonly options: readonly QuestionOption[];
  readonly step?: StepId;
  readonly phase?: string;
  readonly offered?: JsonValue;
  readonly facts?: JsonObject;
  readonly expiresAtMs?: number;
  readonly onExpire?: string;
}

/** A question with the next free ordinal of its kind and subject. */
export function openQuestion(choice: Choice, request: QuestionRequest): EngineEvent {
  const { kind, subject, ...rest } = request;
  let ordinal = 1;
  while (choice.state.questions.has(questionIdOf(kind, subject, ordinal))) ordinal += 1;
  const question: Question = {
    id: questionIdOf(kind, subject, ordinal),
    kind,
    openedAtMs: choice.nowMs,
    ...definedOf(rest),
  };
  return { type: "question_opened", atMs: choice.nowMs, question };
}

function definedOf<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

export interface Answer {
  readonly question: string;
  readonly answer: string;
  readonly value?: JsonValue;
  readonly by: string;
}

/** Takes an answer, or notes why it is refused; an answer to a question that is not open changes nothing. */
export function decideAnswer(choice: Choice, answer: Answer): readonly EngineEvent[] {
  const question = choice.state.questions.get(answer.question as never);
  const fault = findAnswerFault(question, answer);
  if (fault !== undefined || question === undefined) {
    return [
      {
        type: "noted",
        atMs: choice.nowMs,
        text: `answer of ${answer.by} refused: ${fault ?? ""}`,
        facts: { question: answer.question },
      },
    ];
  }
  return [
    {
      type: "question_answered",
      atMs: choice.nowMs,
      question: question.id,
      answer: answer.answer,
      ...(answer.value === undefined ? {} : { value: answer.value }),
      by: answer.by,
    },
    decideThat(choice, {
      agent: `person:${answer.by}`,
      type: "answer",
      description: `${answer.answer}: ${question.text}`,
      rationale: `answered by ${answer.by}`,
      alternatives: question.options.map((option) => option.value).filter((value) => value !== answer.answer),
      subject: question.step ?? question.phase,
      facts: {
        question: question.id,
        ...(question.kind === "limit" && answer.answer === "stop" ? { request: "stop", limit: true } : {}),
      },
    }),
  ];
}

/** Why an answer cannot be taken; `undefined` when it can. Also for those who check before they write it down. */
export function findAnswerFault(
  question: QuestionEntry | undefined,
  answer: Pick<Answer, "answer" | "value">,
): string | undefined {
  if (question === undefined) return "there is no such question";
  if (question.status !== "open")
    return `it was answered with ${question.answer ?? "?"} by ${question.answeredBy ?? "?"}`;
  const option = question.options.find((candidate) => candidate.value === answer.answer);
  if (option === undefined)
    return `${answer.answer} is not one of ${question.options.map((candidate) => candidate.value).join(", ")}`;
  if (option.takesValue === true && answer.value === undefined && question.offered === undefined)
    return `${answer.answer} needs a value`;
  return undefined;
}

/** Questions whose time is over answer themselves. */
export function decideExpiries(choice: Choice): readonly EngineEvent[] {
  const events: EngineEvent[] = [];
  for (const question of openQuestions(choice.state)) {
    if (question.expiresAtMs === undefined || question.onExpire === undefined || question.expiresAtMs > choice.nowMs)
      continue;
    events.push({
      type: "question_answered",
      atMs: choice.nowMs,
      question: question.id,
      answer: question.onExpire,
      by: "timeout",
    });
  }
  return events;
}

/** The questions nobody has answered yet, oldest first. */
export function openQuestions(state: TaskState): readonly QuestionEntry[] {
  return unsettledQuestions(state, "open");
}

/** The questions with an answer that nothing has acted on yet. */
export function answeredQuestions(state: TaskState): readonly QuestionEntry[] {
  return unsettledQuestions(state, "answered");
}

function unsettledQuestions(state: TaskState, status: QuestionEntry["status"]): readonly QuestionEntry[] {
  const found: QuestionEntry[] = [];
  for (const id of state.unsettled) {
    const question = state.questions.get(id);
    if (question?.status === status) found.push(question);
  }
  return found;
}
