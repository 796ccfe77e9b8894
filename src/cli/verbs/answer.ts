/** `splashdown answer` and the requests `checkpoint`, `pause` and `stop`: how people reach a task from outside. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { AnswerView, RequestView } from "../../runtime/contract.js";
import { textOf } from "../terminal/output.js";
import type { CliDeps } from "../terminal/deps.js";
import { parseJsonFlag } from "../command/flags.js";
import { formatGoingOn, formatQuestion } from "../text/run-text.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerAnswer(program: Command, deps: CliDeps): void {
  program
    .command("answer")
    .description("answer a question of a task, running or not; the first answer wins")
    .argument("<task>", "task name, id or workflow name")
    .argument(
      "<words...>",
      "[question] value [text]: the question, by id or step, may be left out when only one is open; the text goes with the value, e.g. extend max_iterations=10",
    )
    .option("--output <json>", "the value that goes with the answer, e.g. the output of a step that is done")
    .option("--by <name>", "who answers (default: the user's name)")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "recorded"],
        [2, "not an open question, not one of its options, or answered by somebody else before"],
        [10, "no such task or question"],
        [12, "key missing or wrong"],
      ]),
    )
    .action((...[task, words, flags, command]: [string, string[], { output?: string; by?: string }, Command]) =>
      runAnswer({ task, words, ...flags }, { command, deps }),
    );
}

interface AnswerRequest {
  readonly task: string;
  readonly words: readonly string[];
  readonly output?: string;
  readonly by?: string;
}

async function runAnswer(
  request: AnswerRequest,
  { command, deps }: { command: Command; deps: CliDeps },
): Promise<void> {
  const { task, words, output, by } = request;
  const [first, second, more] = words;
  if (first === undefined || words.length > 3)
    throw new SplashdownError("USAGE_INVALID", "expected: answer <task> [question] <value> [text]");
  await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
    const view = await splashdown.answer({
      task,
      ...(second === undefined ? { answer: first } : { question: first, answer: second }),
      ...(more === undefined ? {} : { more }),
      ...(output === undefined ? {} : { value: parseJsonFlag("--output", output) }),
      ...(by === undefined ? {} : { by }),
    });
    print(view, formatAnswer);
  });
}

function formatAnswer(view: AnswerView): string {
  if (view.question_open !== undefined)
    return [`took ${view.answer} for ${view.question}; it asks on:`, ...formatQuestion(view.question_open)].join("\n");
  const next = view.owner_alive
    ? "the running task takes it up"
    : `nobody runs the task; ${formatGoingOn(view.command ?? "")}`;
  return `answered ${view.question} with ${view.answer}; ${next}`;
}

const REQUESTS = [
  ["checkpoint", "ask a running task to save a checkpoint now"],
  ["pause", "ask a running task to finish the steps under way, save, and leave"],
  ["stop", "ask a running task to end the steps under way, save, and leave"],
] as const;

export function registerRequests(program: Command, deps: CliDeps): void {
  for (const [request, description] of REQUESTS) {
    program
      .command(request)
      .description(description)
      .argument("<task>", "task name, id or workflow name")
      .option("--note <text>", "why; kept with the checkpoint")
      .addHelpText(
        "after",
        describeStatuses([
          [0, "taken by the task"],
          [2, "the task is not running"],
          [10, "no such task"],
          [12, "key missing or wrong"],
        ]),
      )
      .action(async (task: string, flags: { note?: string }, command: Command) => {
        await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
          print(await splashdown.request(task, request, flags), formatRequest);
        });
      });
  }
}

function formatRequest(view: RequestView): string {
  const saved = view.checkpoint_id === undefined ? "" : `: checkpoint ${view.checkpoint_id}`;
  return `${view.request} taken by process ${textOf(view.owner["pid"])} for ${view.task}${saved}`;
}
