/** Folds what happens to questions: opened, moved on, reminded of, answered. */
import type { EventOf } from "../model/events.js";
import { askAboutStep, consumeQuestion } from "./evolve-steps.js";
import { replaceData } from "./evolve-scopes.js";
import { requireTask } from "../model/lookup.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import type { Question } from "../model/question.js";
import type { TaskState } from "../model/state.js";
import { applyChange, createWizard } from "../model/wizard.js";

export function openQuestion(state: TaskState, event: EventOf<"question_opened">): void {
  const { question } = event;
  const { items, allow } = question;
  const wizard = items === undefined || allow === undefined ? {} : { wizard: createWizard(items, allow) };
  state.questions.set(question.id, Object.freeze({ ...question, status: "open", ...wizard }));
  state.unsettled.add(question.id);
  askAboutStep(state, question);
}

export function answerQuestion(state: TaskState, event: EventOf<"question_answered">): void {
  const question = state.questions.get(event.question);
  if (question === undefined) return;
  state.questions.set(
    question.id,
    Object.freeze({
      ...question,
      status: "answered",
      answer: event.answer,
      ...(event.value === undefined ? {} : { value: event.value }),
      answeredBy: event.by,
      answeredAtMs: event.atMs,
    }),
  );
  if (question.kind === "limit") extendLimits(state, question, event);
}

/** `extend` with numbers by name of the limit: added to what was added before, in the workflow whose limit it is. */
function extendLimits(state: TaskState, question: Question, event: EventOf<"question_answered">): void {
  consumeQuestion(state, event.question);
  const { value } = event;
  if (event.answer !== "extend" || !isJsonObject(value)) return;
  const task = requireTask(state);
  const path = question.about?.kind === "limit" ? question.about.scope : undefined;
  if (path === undefined) {
    state.task = Object.freeze({ ...task, extended: addAmounts(task.extended, value) });
    return;
  }
  const scope = state.scopes.get(path);
  if (scope?.data.scope === "workflow")
    replaceData(state, scope, { ...scope.data, extended: addAmounts(scope.data.extended ?? {}, value) });
}

function addAmounts(before: Readonly<Record<string, number>>, amounts: JsonObject): Readonly<Record<string, number>> {
  const extended: Record<string, number> = { ...before };
  for (const [name, amount] of Object.entries(amounts)) {
    if (typeof amount === "number") extended[name] = (extended[name] ?? 0) + amount;
  }
  return Object.freeze(extended);
}

/** The last move of a wizard is its answer. */
export function moveInQuestion(state: TaskState, event: EventOf<"question_moved">): void {
  const question = state.questions.get(event.question);
  if (question?.wizard === undefined) return;
  const { outcome, by, atMs } = event;
  const answered =
    outcome === undefined ? {} : ({ status: "answered", answer: outcome, answeredBy: by, answeredAtMs: atMs } as const);
  const wizard = Object.freeze(applyChange(question.wizard, event));
  state.questions.set(question.id, Object.freeze({ ...question, ...answered, wizard }));
}

export function remindOfQuestion(state: TaskState, event: EventOf<"question_reminded">): void {
  const question = state.questions.get(event.question);
  if (question !== undefined)
    state.questions.set(question.id, Object.freeze({ ...question, remindedAtMs: event.atMs }));
}
