/** `splashdown questions`: what people are asked, over all tasks, each with the command that answers it. */
import { quoteArgument } from "../../base/shell-text.js";
import type { Command } from "commander";
import type { OpenQuestionView, QuestionsView } from "../../runtime/contract.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";
import type { CliDeps } from "../terminal/deps.js";
import { formatAgo } from "../terminal/local-time.js";
import { cleanForTerminal, coloursOf, type Colours } from "../terminal/output.js";
import { formatQuestion } from "../text/run-text.js";

export function registerQuestions(program: Command, deps: CliDeps): void {
  program
    .command("questions")
    .description("what waits for an answer, in all tasks or one: the oldest question first")
    .argument("[task]", "task name, id or workflow name; without it all tasks")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "listed; also where nothing waits for an answer"],
        [10, "no such task"],
        [12, "key missing or wrong"],
      ]),
    )
    .action(async (task: string | undefined, _flags: object, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const colours = coloursOf(deps.streams);
        print(await splashdown.questions(task), (view) =>
          formatQuestions(view, { colours, nowMs: systemClock.nowMs() }),
        );
      });
    });
}

interface Frame {
  readonly colours: Colours;
  readonly nowMs: number;
}

function formatQuestions({ questions, passed_over: passedOver }: QuestionsView, frame: Frame): string {
  const asked = questions.map((each) => formatOne(each, frame).join("\n"));
  const unread = passedOver.map(({ task, why }) =>
    cleanForTerminal(`${quoteArgument(task)} could not be read: ${why}`),
  );
  const blocks = asked.length === 0 ? ["nothing waits for an answer"] : asked;
  return [...blocks, ...(unread.length === 0 ? [] : [unread.join("\n")])].join("\n\n");
}

function formatOne({ task, workflow, question }: OpenQuestionView, { colours, nowMs }: Frame): string[] {
  const of = workflow === undefined ? "" : `  workflow ${cleanForTerminal(workflow)}`;
  const where = question.step === undefined ? "" : `, ${cleanForTerminal(question.step)}`;
  return [
    `${colours.bold(cleanForTerminal(task))}${of}${where}  asked ${formatAgo(question.opened_at, nowMs)}`,
    ...formatQuestion(question),
  ];
}
