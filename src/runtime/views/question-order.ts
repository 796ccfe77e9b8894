/** The order in which questions of several tasks are shown. */
import type { OpenQuestionView } from "./face-views.js";

/** The oldest first; of one moment by the names of their tasks. */
export function sortQuestions(questions: readonly OpenQuestionView[]): OpenQuestionView[] {
  return questions.toSorted(
    (a, b) => Date.parse(a.question.opened_at) - Date.parse(b.question.opened_at) || (a.task < b.task ? -1 : 1),
  );
}
