/** The questions that a client knows of: a wait ends at once for one that it does not, and for no other. */
import { LIMITS } from "../base/limits.js";
import type { TaskSummaryView } from "../runtime/contract.js";

export class SeenQuestions {
  readonly #told = new Set<string>();

  /** The row is on its way to the client. */
  tell(row: TaskSummaryView): void {
    const question = questionOf(row);
    if (question === undefined) return;
    this.#told.add(question);
    const [oldest] = this.#told;
    if (this.#told.size > LIMITS.mcpQuestionsToldMax && oldest !== undefined) this.#told.delete(oldest);
  }

  /** The task asks something that the client was not told of. */
  isNews(row: TaskSummaryView): boolean {
    const question = questionOf(row);
    return question !== undefined && !this.#told.has(question);
  }
}

function questionOf({ task, waits_for: asked }: TaskSummaryView): string | undefined {
  return asked === undefined ? undefined : JSON.stringify([task, asked.question]);
}
