/** How a question reaches the person at the terminal, and what comes back. */
import type { QuestionView } from "../views/task-views.js";
import type { JsonValue } from "../../base/json.js";

/** Shape: `undefined` when the person leaves it, or the signal says that it was answered elsewhere; see `Given`. */
export type AskPerson = (question: QuestionView, signal: AbortSignal) => Promise<Omit<AnswerInput, "by"> | undefined>;

export interface AnswerInput {
  /** An option, a move, or the answer to what a wizard asks now. */
  readonly answer: string;
  readonly value?: JsonValue;
  /** The text that goes with a choice, or the answer to the question that `answer` names. */
  readonly more?: string;
  readonly by: string;
}
