/**
 * `splashdown attach`: watches a task that another process runs, and answers its questions on a terminal.
 *
 * It reads what is durable, as `logs --follow` does, and owns nothing: leaving it, by Ctrl+C too, ends the watching alone.
 */
import type { Command } from "commander";
import { isErrorCode, messageOf } from "../../base/errors.js";
import { formatCount, formatDuration } from "../../base/plain-text.js";
import type { EventView, QuestionView, Splashdown, TaskView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { askOn } from "../terminal/ask.js";
import { cleanForTerminal, colourStatus, coloursOf } from "../terminal/output.js";
import { formatSpent, spentOf } from "../terminal/spent.js";
import { LogText, readLogEntry } from "../text/log-text.js";
import { formatGoingOn, formatQuestions } from "../text/run-text.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

const EXAMPLES = `
It shows what the task does from now on, asks its questions where there is a terminal, and ends when the task ends or
waits. Ctrl+C leaves it running.

  splashdown run w.yaml --detach      start it in the background
  splashdown attach TASK              watch it
  splashdown attach TASK --all        from its beginning
`;

export function registerAttach(program: Command, deps: CliDeps): void {
  program
    .command("attach")
    .description("watch a task that another process runs, and answer its questions; Ctrl+C leaves it running")
    .argument("<task>", "task name, id or workflow name")
    .option("--all", "show what has happened so far, too")
    .addHelpText("after", EXAMPLES)
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action((task: string, { all }: { all?: boolean }, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const before = await splashdown.show(task);
        const watch = new Watch(splashdown, deps, before.task);
        if (before.status === "running") await watch.follow(all === true ? 1 : await countEvents(splashdown, before));
        if (deps.signal.aborted) {
          deps.streams.error(`left ${before.task}; it keeps running\n`);
          return;
        }
        print(await splashdown.show(before.task), (view) => formatEnd(view, deps));
      }),
    );
}

/** The number of the event that comes next. */
async function countEvents(splashdown: Splashdown, { task }: TaskView): Promise<number> {
  let last = 0;
  for await (const { n } of splashdown.events(task)) last = n;
  return last + 1;
}

class Watch {
  readonly #text: LogText;
  readonly #asked = new Map<string, AbortController>();

  constructor(
    private readonly splashdown: Splashdown,
    private readonly deps: CliDeps,
    private readonly task: string,
  ) {
    this.#text = new LogText(coloursOf(deps.streams));
  }

  /** Until its owner leaves or the person does. */
  async follow(from: number): Promise<void> {
    const { streams, signal } = this.deps;
    await this.#askOpen();
    for await (const event of this.splashdown.events(this.task, { from, follow: true, signal })) {
      const entry = readLogEntry(event);
      if (entry !== undefined) streams.error(`${this.#text.format(entry)}\n`);
      await this.#mindQuestions(event);
    }
    for (const asked of this.#asked.values()) asked.abort();
  }

  async #mindQuestions({ type, event }: EventView): Promise<void> {
    if (type === "question_opened") await this.#askOpen();
    const { question } = event;
    if (type === "question_answered" && typeof question === "string") this.#asked.get(question)?.abort();
  }

  /** Those that nobody was asked here yet; the events go on meanwhile. */
  async #askOpen(): Promise<void> {
    if (!this.deps.streams.interactive) return;
    const { questions } = await this.splashdown.show(this.task);
    for (const question of questions) {
      if (question.status !== "open" || this.#asked.has(question.id)) continue;
      const asked = new AbortController();
      this.#asked.set(question.id, asked);
      void this.#ask(question, AbortSignal.any([asked.signal, this.deps.signal]));
    }
  }

  async #ask(question: QuestionView, signal: AbortSignal): Promise<void> {
    const given = await askOn(this.deps.streams)(question, signal).catch(() => undefined);
    if (given === undefined) return;
    const { answer, value, more } = given;
    const extra = { ...(value === undefined ? {} : { value }), ...(more === undefined ? {} : { more }) };
    await this.splashdown
      .answer({ task: this.task, question: question.id, answer, ...extra })
      .catch((error: unknown) => {
        // Somebody else was faster.
        const isTold = isErrorCode(error, "QUESTION_CLOSED");
        if (!isTold) this.deps.streams.error(`${cleanForTerminal(messageOf(error))}\n`);
      });
  }
}

function formatEnd(view: TaskView, { streams }: CliDeps): string {
  const colours = coloursOf(streams);
  const why = view.reason === undefined ? "" : `: ${cleanForTerminal(view.reason)}`;
  return [
    `${colourStatus(colours, view.status)}  ${colours.bold(cleanForTerminal(view.task))}${why}`,
    `  ${formatCount(view.steps_done ?? 0, "step")} done, ${formatDuration(view.metrics.elapsed_time)}, ${formatSpent(spentOf(view.metrics))}`,
    ...formatQuestions(view.questions.filter(({ status }) => status === "open")),
    ...(view.next === undefined ? [] : [`  ${formatGoingOn(view.next)}`]),
  ].join("\n");
}
