/**
 * Answers questions as they open in this process: first from presets (flags), then by asking the person in the terminal.
 *
 * An answer goes the same way as one from outside, by exclusive creation; when somebody was faster, theirs counts.
 */
import { isErrorCode, messageOf } from "../base/errors.js";
import type { JsonValue } from "../base/json.js";
import type { EventOf } from "../engine/events.js";
import type { TaskState } from "../engine/state.js";
import type { QuestionView } from "./contract.js";
import { loadAnswer, recordAnswer, type ControlDeps, type FolderInbox } from "./control.js";
import { viewQuestion } from "./views.js";

export type AskPerson = (
  question: QuestionView,
) => Promise<{ readonly answer: string; readonly value?: JsonValue } | undefined>;

/** Answers given ahead. Keys: step identity, path or name for unknown outcomes; question kind for the rest. */
export interface PresetAnswers {
  readonly unknown: Readonly<Record<string, string>>;
  readonly byKind: Readonly<Record<string, string>>;
}

export interface AnswerDeskDeps {
  readonly control: ControlDeps;
  readonly inbox: FolderInbox;
  readonly presets: PresetAnswers;
  readonly ask: AskPerson | undefined;
  readonly by: string;
  readonly holdOpen: (until: Promise<unknown>) => void;
}

export class AnswerDesk {
  readonly #deps: AnswerDeskDeps;
  #asking: Promise<void> = Promise.resolve();

  constructor(deps: AnswerDeskDeps) {
    this.#deps = deps;
  }

  opened(event: EventOf<"question_opened">, state: TaskState): void {
    const question = state.questions.get(event.question.id);
    if (question === undefined || question.status !== "open") return;
    const preset = this.#findPreset(event, state);
    if (preset !== undefined) {
      this.#deps.holdOpen(this.#record(event, parsePreset(preset)));
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

  #findPreset({ question }: EventOf<"question_opened">, state: TaskState): string | undefined {
    const { unknown, byKind } = this.#deps.presets;
    const step = question.step === undefined ? undefined : state.steps.get(question.step);
    if (step !== undefined && (question.kind === "unknown_outcome" || question.kind === "parked_step")) {
      const preset = unknown[step.id] ?? unknown[step.path] ?? unknown[step.name];
      if (preset !== undefined) return preset;
    }
    return byKind[question.kind];
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

/** `done:{"ok":true}` carries a value, other words are the answer. */
function parsePreset(text: string): { answer: string; value?: JsonValue } {
  const at = text.indexOf(":");
  if (at <= 0) return { answer: text };
  try {
    return { answer: text.slice(0, at), value: JSON.parse(text.slice(at + 1)) as JsonValue };
  } catch {
    return { answer: text };
  }
}
