/**
 * Questions: one mechanism for everything that waits for a person.
 *
 * A question is open, then answered, then consumed by what its answer permits: an intent, a completion, a failure or a
 * decision that names it. A second attempt asks anew, under the next ordinal.
 */
import type { JsonObject, JsonValue } from "../../../base/json.js";
import type { StepId } from "../../../base/ids.js";
import { createDecision, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { Question, QuestionKind } from "../../model/question.js";
import type { QuestionOption } from "../../model/question-option.js";
import { questionIdOf } from "../../model/identity.js";
import { findAmountFault } from "./limit-amounts.js";
import type { QuestionEntry, TaskState } from "../../model/state.js";
import { digestQuestion } from "./asked.js";
import { judgeMove, type Wizard } from "../../model/wizard.js";

export interface QuestionRequest {
  readonly kind: QuestionKind;
  /** Step, phase or `task`. */
  readonly subject: string;
  readonly text: string;
  readonly options: readonly QuestionOption[];
  readonly step?: StepId;
  readonly phase?: string;
  readonly offered?: JsonValue;
  readonly about?: Question["about"];
  readonly facts?: JsonObject;
  readonly expiresAtMs?: number;
  readonly onExpire?: string;
  readonly items?: Question["items"];
  readonly allow?: Question["allow"];
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
  /** Digest of what was asked (asked.ts). */
  readonly asked?: string;
  /** Of a wizard: which move it is, from 1. */
  readonly move?: number;
}

/** Who answers when nobody did in time. */
export const BY_TIMEOUT = "timeout";

/** Takes an answer, or notes why it is refused; an answer to a question that is not open changes nothing. */
export function decideAnswer(choice: Choice, answer: Answer): readonly EngineEvent[] {
  const question = choice.state.questions.get(answer.question as never);
  if (question !== undefined && isTaken(question, answer)) return [];
  if (question !== undefined && isOfAnother(question, answer)) return refuse(choice, answer, ASKED_ANEW);
  if (question?.wizard !== undefined && question.status === "open" && answer.move !== undefined)
    return moveWizard(choice, { question, wizard: question.wizard, answer });
  const fault = findAnswerFault(question, answer);
  if (fault !== undefined || question === undefined) return refuse(choice, answer, fault ?? "");
  return applyAnswer(choice, question, answer);
}

/** To a wizard an answer is a move; any other question ends with it. */
function applyAnswer(choice: Choice, question: QuestionEntry, answer: Answer): readonly EngineEvent[] {
  return question.wizard === undefined
    ? takeAnswer(choice, question, answer)
    : moveWizard(choice, { question, wizard: question.wizard, answer });
}

const ASKED_ANEW = "what is asked has changed since it was given, so it is asked again";

/** Given to what stood there before: another text, other options, another place of the history. */
function isOfAnother(question: QuestionEntry, { asked }: Answer): boolean {
  return asked !== undefined && asked !== digestQuestion(question);
}

function refuse({ nowMs }: Choice, { by, question }: Answer, why: string): readonly EngineEvent[] {
  return [{ type: "noted", atMs: nowMs, text: `answer of ${by} refused: ${why}`, facts: { question } }];
}

function takeAnswer(choice: Choice, question: QuestionEntry, given: Answer): readonly EngineEvent[] {
  const { answer, value, by } = given;
  const isStop = question.kind === "limit" && answer === "stop";
  return [
    {
      type: "question_answered",
      atMs: choice.nowMs,
      question: question.id,
      answer,
      ...(value === undefined ? {} : { value }),
      by,
      decision: createDecision(choice, {
        ...describeAnswerer(by),
        type: "answer",
        description: `${answer}: ${question.text}`,
        alternatives: question.options.map((option) => option.value).filter((other) => other !== answer),
        subject: question.step ?? question.phase,
        ...(isStop ? { effect: { kind: "stop", atLimit: true } as const } : {}),
        facts: { question: question.id },
      }),
    },
  ];
}

/** The same answer once more: every owner reads the files of all answers. */
function isTaken({ status, wizard, answer, answeredBy }: QuestionEntry, given: Answer): boolean {
  if (wizard !== undefined) return (given.move ?? wizard.moves + 1) <= wizard.moves;
  return status !== "open" && answer === given.answer && answeredBy === given.by;
}

interface Moving {
  readonly question: QuestionEntry;
  readonly wizard: Wizard;
  readonly answer: Answer;
}

function moveWizard(choice: Choice, { question, wizard, answer }: Moving): readonly EngineEvent[] {
  if (answer.move !== undefined && answer.move !== wizard.moves + 1) return [];
  const judged = judgeMove(wizard, answer);
  // A move that says nothing counts all the same: the next one is made after it.
  const change = "fault" in judged ? { set: {}, unset: [], cursor: wizard.cursor } : judged.change;
  const { answer: action, by } = answer;
  const moved: EngineEvent = {
    type: "question_moved",
    atMs: choice.nowMs,
    question: question.id,
    move: wizard.moves + 1,
    action,
    by,
    ...change,
  };
  if (change.outcome === undefined) return [moved];
  const decision = createDecision(choice, {
    ...describeAnswerer(by),
    type: "answer",
    description: `${change.outcome}: ${question.text}`,
    subject: question.step,
    facts: { question: question.id },
  });
  return [{ ...moved, decision }];
}

function describeAnswerer(by: string) {
  return by === BY_TIMEOUT
    ? ({ agent: "engine", rationale: "nobody answered in time" } as const)
    : { agent: `person:${by}` as const, rationale: `answered by ${by}` };
}

/** Why an answer cannot be taken; `undefined` when it can. Also for those who check before they write it down. */
export function findAnswerFault(
  question: QuestionEntry | undefined,
  answer: Pick<Answer, "answer" | "value">,
): string | undefined {
  if (question === undefined) return "there is no such question";
  if (question.status !== "open")
    return `it was answered with ${question.answer ?? "?"} by ${question.answeredBy ?? "?"}`;
  if (question.wizard !== undefined) {
    const judged = judgeMove(question.wizard, answer);
    return "fault" in judged ? judged.fault : undefined;
  }
  return findOptionFault(question, answer);
}

function findOptionFault(question: QuestionEntry, answer: Pick<Answer, "answer" | "value">): string | undefined {
  const option = question.options.find((candidate) => candidate.value === answer.answer);
  if (option === undefined)
    return `${answer.answer} is not one of ${question.options.map((candidate) => candidate.value).join(", ")}`;
  if (option.takesValue === true && answer.value === undefined && question.offered === undefined)
    return `${answer.answer} needs a value`;
  return question.kind === "limit" && answer.answer === "extend" ? findAmountFault(answer.value) : undefined;
}

/** Questions whose time is over; the answer they give themselves is recorded like any other. */
export function listExpired(state: TaskState, nowMs: number): readonly QuestionEntry[] {
  return openQuestions(state).filter(
    ({ expiresAtMs, onExpire }) => expiresAtMs !== undefined && onExpire !== undefined && expiresAtMs <= nowMs,
  );
}

/** When it is said that nobody has answered yet: at half of the time; `undefined` when it was said or need not be. */
export function remindAtMs(question: QuestionEntry): number | undefined {
  const { openedAtMs, expiresAtMs, onExpire, remindedAtMs, status } = question;
  if (status !== "open" || expiresAtMs === undefined || onExpire === undefined || remindedAtMs !== undefined)
    return undefined;
  return openedAtMs + (expiresAtMs - openedAtMs) / 2;
}

export function decideReminders(choice: Choice): readonly EngineEvent[] {
  return openQuestions(choice.state).flatMap((question): readonly EngineEvent[] => {
    const atMs = remindAtMs(question);
    return atMs === undefined || atMs > choice.nowMs
      ? []
      : [{ type: "question_reminded", atMs: choice.nowMs, question: question.id }];
  });
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
