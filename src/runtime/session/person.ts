/** Asks the person at the terminal until a question is answered, or is left for later. */
import { isErrorCode, messageOf } from "../../base/errors.js";
import type { QuestionEntry } from "../../engine/model/state.js";
import type { ControlDeps } from "../mailbox/control.js";
import type { Answer } from "../mailbox/message-body.js";
import { submitAnswer, loadQuestion } from "../tasks/submit-answer.js";
import { viewQuestion } from "../views/views.js";
import type { AskPerson, AnswerInput } from "../services/ask-person.js";

export interface Asking {
  readonly control: ControlDeps;
  readonly ask: AskPerson;
  readonly by: string;
  /** Told each answer that counts. */
  readonly onAnswer?: (answer: Answer) => void;
  /** Made anew for every prompt; the answer of somebody else ends it. */
  readonly signalFor?: (question: QuestionEntry) => AbortSignal;
}

const NEVER = new AbortController().signal;

export async function askUntilAnswered(asking: Asking, question: QuestionEntry): Promise<void> {
  const { control, ask, by, onAnswer, signalFor } = asking;
  for (let standing = await loadQuestion(control, question); standing.status === "open";) {
    const signal = signalFor?.(standing) ?? NEVER;
    const given = await ask(viewQuestion(control.task.name, standing), signal);
    if (given === undefined && !signal.aborted) return;
    const answered = given === undefined ? undefined : await give(asking, standing, { ...given, by });
    if (typeof answered === "object") onAnswer?.(answered);
    // What cannot be taken is asked once more.
    if (standing.wizard === undefined && answered !== "invalid") return;
    standing = await loadQuestion(control, standing);
  }
}

/** What cannot be taken is said; the question is asked again, or was answered by another. */
async function give(
  { control }: Asking,
  question: QuestionEntry,
  given: AnswerInput,
): Promise<Answer | "invalid" | undefined> {
  try {
    return (await submitAnswer(control, question, given)).answer;
  } catch (error) {
    if (!isErrorCode(error, "QUESTION_CLOSED", "ANSWER_INVALID")) throw error;
    control.log.warn(messageOf(error));
    return isErrorCode(error, "ANSWER_INVALID") ? "invalid" : undefined;
  }
}
