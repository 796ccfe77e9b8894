/** Asks the person at the terminal until a question is answered, or is left for later. */
import { isErrorCode, messageOf } from "../base/errors.js";
import type { JsonValue } from "../base/json.js";
import type { QuestionEntry } from "../engine/state.js";
import type { QuestionView } from "./contract.js";
import type { Answer, ControlDeps } from "./control.js";
import { giveAnswer, loadStanding } from "./giving.js";
import { viewQuestion } from "./views.js";

/** Shape: `undefined` when the person leaves it, or the signal says that it was answered elsewhere. */
export type AskPerson = (
  question: QuestionView,
  signal: AbortSignal,
) => Promise<{ readonly answer: string; readonly value?: JsonValue } | undefined>;

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
  for (let standing = await loadStanding(control, question); standing.status === "open";) {
    const signal = signalFor?.(standing) ?? NEVER;
    const given = await ask(viewQuestion(control.task.name, standing), signal);
    if (given === undefined && !signal.aborted) return;
    if (given !== undefined) {
      const answered = await give(asking, standing, { ...given, by });
      if (answered !== undefined) onAnswer?.(answered);
    }
    if (standing.wizard === undefined) return;
    standing = await loadStanding(control, standing);
  }
}

/** What cannot be taken is said, and the question is asked again or was answered by another. */
async function give(
  { control }: Asking,
  question: QuestionEntry,
  given: Parameters<typeof giveAnswer>[2],
): Promise<Answer | undefined> {
  try {
    return (await giveAnswer(control, question, given)).answer;
  } catch (error) {
    if (!isErrorCode(error, "QUESTION_CLOSED", "ANSWER_INVALID")) throw error;
    control.log.warn(messageOf(error));
    return undefined;
  }
}
