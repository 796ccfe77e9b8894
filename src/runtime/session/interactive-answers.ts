/**
 * Answers questions as they open in this process: what was answered before, then what flags say, then what the person in
 * the terminal says.
 *
 * An answer goes the same way as one from outside, by exclusive creation; when somebody was faster, theirs counts, and a
 * prompt that still asks is taken down.
 */
import { isErrorCode, messageOf } from "../../base/errors.js";
import type { QuestionId } from "../../base/ids.js";
import type { EventOf } from "../../engine/model/events.js";
import type { QuestionEntry, TaskState } from "../../engine/model/state.js";
import { askedOf, listOutdatedAnswers, type ControlDeps, type FolderInbox } from "../mailbox/control.js";
import type { Answer } from "../mailbox/message-body.js";
import { findUnknownAnswer, type UnknownAnswer } from "./answer-flags.js";
import { submitAnswer } from "../tasks/submit-answer.js";
import { askUntilAnswered } from "./person.js";
import { answerFromPresets, type Presets } from "./preset-answers.js";
import type { AskPerson } from "../services/ask-person.js";

export interface AnswerDeskDeps {
  readonly control: ControlDeps;
  readonly inbox: FolderInbox;
  readonly unknown: Readonly<Record<string, UnknownAnswer>>;
  readonly presets: Presets;
  readonly ask: AskPerson | undefined;
  readonly by: string;
  readonly holdOpen: (until: Promise<unknown>) => void;
}

const ABOUT_OUTCOMES: ReadonlySet<string> = new Set(["unknown_outcome", "parked_step", "repeat_step"]);

/** What is being asked in the terminal. */
interface Prompt {
  readonly question: QuestionId;
  /** Moves of a wizard that it knows of. */
  readonly moves: number;
  readonly controller: AbortController;
}

export class AnswerCoordinator {
  readonly #deps: AnswerDeskDeps;
  #asking: Promise<void> = Promise.resolve();
  #prompt: Prompt | undefined;

  constructor(deps: AnswerDeskDeps) {
    this.#deps = deps;
  }

  opened(event: EventOf<"question_opened">, state: TaskState): void {
    const question = state.questions.get(event.question.id);
    if (question === undefined || question.status !== "open") return;
    this.#deps.holdOpen(this.#answer(question, state).catch((error: unknown) => this.#missed(question, error)));
  }

  /** Somebody answered, or moved a wizard on: what stands in the terminal is out of date. */
  answered(event: EventOf<"question_answered"> | EventOf<"question_moved">): void {
    const { question, moves, controller } = this.#prompt ?? {};
    if (controller === undefined || question !== event.question) return;
    if (event.type === "question_moved" && event.move <= (moves ?? 0)) return;
    controller.abort();
  }

  /** Each way in turn, as long as the question stands open. */
  async #answer(question: QuestionEntry, state: TaskState): Promise<void> {
    const { control, inbox, presets, by, ask } = this.#deps;
    if (await inbox.retake(askedOf(question))) return;
    await this.#tellOutdated(question);
    const unknown = this.#findUnknown(question, state);
    const onAnswer = (answer: Answer): void => inbox.push({ kind: "answer", ...answer });
    const standing =
      unknown === undefined
        ? await answerFromPresets({ control, presets, state, by, onAnswer }, question)
        : await this.#give(question, unknown);
    if (ask === undefined || presets.skipGates || standing.status !== "open") return;
    this.#asking = this.#asking.then(() => this.#askInTerminal(ask, standing, state));
    await this.#asking;
  }

  /** A person who has answered is told why the question stands there again. */
  async #tellOutdated(question: QuestionEntry): Promise<void> {
    const { control } = this.#deps;
    for (const { by, answer, move } of await listOutdatedAnswers(control, question))
      if ((move ?? 1) === 1)
        control.log.warn(
          `${by} answered ${question.id} with ${answer} as it was asked before; what is asked has changed since, so that does not count and it is asked again`,
        );
  }

  #findUnknown(question: QuestionEntry, state: TaskState): UnknownAnswer | undefined {
    const step = question.step === undefined ? undefined : state.steps.get(question.step);
    if (step === undefined || !ABOUT_OUTCOMES.has(question.kind)) return undefined;
    return findUnknownAnswer(this.#deps.unknown, step);
  }

  async #askInTerminal(ask: AskPerson, question: QuestionEntry, state: TaskState): Promise<void> {
    const { control, inbox, by } = this.#deps;
    // It may have been answered while another prompt stood.
    const now = state.questions.get(question.id);
    if (now?.status !== "open") return;
    const signalFor = ({ id, wizard }: QuestionEntry): AbortSignal => {
      const controller = new AbortController();
      this.#prompt = { question: id, moves: wizard?.moves ?? 0, controller };
      return controller.signal;
    };
    try {
      await askUntilAnswered(
        { control, ask, by, signalFor, onAnswer: (answer) => inbox.push({ kind: "answer", ...answer }) },
        now,
      );
    } finally {
      this.#prompt = undefined;
      // Whoever was faster counts.
      await inbox.retake(askedOf(question));
    }
  }

  async #give(question: QuestionEntry, given: UnknownAnswer): Promise<QuestionEntry> {
    const { control, inbox, by } = this.#deps;
    const { answer, question: standing } = await submitAnswer(control, question, { by, ...given });
    inbox.push({ kind: "answer", ...answer });
    return standing;
  }

  /** Whoever was faster counts. */
  async #missed(question: QuestionEntry, error: unknown): Promise<void> {
    this.#deps.control.log.warn(`the answer was not recorded: ${messageOf(error)}`);
    if (isErrorCode(error, "QUESTION_CLOSED")) await this.#deps.inbox.retake(askedOf(question));
  }
}
