/** Whether an answer is one that its question takes; the same check for every way an answer comes. */
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import { findNearest } from "../../definition/faults/nearest.js";
import { findAnswerFault } from "../../engine/rules/questions/questions.js";
import type { QuestionEntry } from "../../engine/model/state.js";

/** Errors: ANSWER_INVALID with what the question takes. */
export function requireOption(
  task: string,
  question: QuestionEntry,
  given: { readonly answer: string; readonly value?: JsonValue },
): void {
  const fault = findAnswerFault(question, given);
  if (fault === undefined) return;
  const options = question.options.map((option) => option.value);
  const nearest = options.includes(given.answer) ? undefined : findNearest(given.answer, options);
  const help = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  const isBare = options.includes(given.answer) && given.value === undefined;
  throw new SplashdownError(
    "ANSWER_INVALID",
    `the answer to ${question.id} cannot be taken: ${fault}${isBare ? "; give it with --output JSON" : ""}${help}`,
    { details: { task, question: question.id, options } },
  );
}
