/**
 * Answers questions as they open in this process: first from flags, then by asking the person in the terminal.
 *
 * An answer goes the same way as one from outside, by exclusive creation; when somebody was faster, theirs counts.
 */
import { isErrorCode, messageOf } from "../base/errors.js";
import type { JsonValue } from "../base/json.js";
import type { EventOf } from "../engine/events.js";
import type { TaskState } from "../engine/state.js";
import type { QuestionView } from "./contract.js";
import { loadAnswer, recordAnswer, type ControlDeps, type FolderInbox } from "./control.js";
import { findUnknownAnswer, type UnknownAnswer } from "./given-answers.js";
import { viewQuestion } from "./views.js";

export type AskPerson = (
  question: QuestionView,
) => Promise<{ readonly answer: string; readonly value?: JsonValue } | undefined>;

export interface AnswerDeskDeps {
  readonly control: ControlDeps;
  readonly inbox: FolderInbox;
  readonly unknown: Readonly<Record<string, UnknownAnswer>>;
  readonly ask: AskPerson | undefined;
  readonly by: string;
  readonly holdOpen: (until: Promise<unknown>) => void;
}

/** A gate about a step asks whether it shall act once more, after going back. */
const ABOUT_OUTCOMES: ReadonlySet<string> = new Set(["unknown_outcome", "parked_step", "gate"]);

export class AnswerDesk {
  readonly #deps: AnswerDeskDeps;
  #asking: Promise<void> = Promise.resolve();

  constructor(deps: AnswerDeskDeps) {
    this.#deps = deps;
  }

  opened(event: EventOf<"question_opened">, state: TaskState): void {
    const question = state.questions.get(event.question.id);
    if (question === undefined || question.status !== "open") return;
    const ahead = this.#findGiven(event, state);
    if (ahead !== undefined) {
      this.#deps.holdOpen(this.#record(event, ahead));
      return;
    }
    const { ask } = this.#deps;
    if (ask === undefined) return;
    const view = viewQuestion(this.#deps.control.task.name, question);
    this.#asking = this.#asking.then(async () => {
      const given = await ask(view);
      if (given !== undefined) await this.#record(event, given);
    });
    this.#deps.holdOpen(this.#asking);
  }

  #findGiven({ question }: EventOf<"question_opened">, state: TaskState): UnknownAnswer | undefined {
    const step = question.step === undefined ? undefined : state.steps.get(question.step);
    const isUnknown = ABOUT_OUTCOMES.has(question.kind);
    return step !== undefined && isUnknown ? findUnknownAnswer(this.#deps.unknown, step) : undefined;
  }

  async #record({ question }: EventOf<"question_opened">, given: { answer: string; value?: JsonValue }): Promise<void> {
    const { control, inbox, by } = this.#deps;
    try {
      const answer = await recordAnswer(control, { question: question.id, by, ...given });
      inbox.push({ kind: "answer", ...answer });
    } catch (error) {
      control.log.warn(`the answer was not recorded: ${messageOf(error)}`);
      if (!isErrorCode(error, "QUESTION_CLOSED")) return;
      const theirs = await loadAnswer(control, question.id);
      if (theirs !== undefined) inbox.push({ kind: "answer", ...theirs });
    }
  }
}
