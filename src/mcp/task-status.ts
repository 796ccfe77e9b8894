/** How a task stands, in a row and a sentence: what every call about a running task ends with. */
import { isErrorCode } from "../base/errors.js";
import type { TaskSummaryView } from "../runtime/contract.js";
import type { ToolContext, ToolAnswer } from "./tool.js";

/** Of a task that is not there yet. */
export const STARTING = "it is being started: wait_for_task tells how it continues";

/** Shape: `undefined` of one that is being started. Errors: TASK_NOT_FOUND; why its start failed. */
export async function readStatus(
  { splashdown, starts }: ToolContext,
  task: string,
): Promise<TaskSummaryView | undefined> {
  try {
    const [standing] = await splashdown.list(task);
    return standing?.workflow_id === undefined && starts.isPending(task) ? undefined : standing;
  } catch (error) {
    if (!isErrorCode(error, "TASK_NOT_FOUND")) throw error;
    if (starts.isPending(task)) return undefined;
    throw starts.failureOf(task) ?? error;
  }
}

/** The row of a task, and what to do about it. */
export async function reportStatus(context: ToolContext, task: string): Promise<ToolAnswer> {
  const standing = await readStatus(context, task);
  if (standing === undefined) return { result: { task }, next: STARTING };
  context.told.tell(standing);
  return { result: standing, next: describeNext(standing, context) };
}

const GO_ON = "nobody runs it: resume_task continues where it stopped";
const ANSWERED = "it was answered and nobody runs it: resume_task";
const GOES_ON: ReadonlySet<string> = new Set([GO_ON, ANSWERED]);
const ENDED = "it has ended: task_result";

/** By status, where no question stands open. */
const NEXT: Readonly<Record<string, string>> = {
  running: "it is running: wait_for_task waits for news",
  unclear: "it is not clear whether it is running: wait_for_task looks again",
  waiting: ANSWERED,
  paused: GO_ON,
  stopped: GO_ON,
  crashed: GO_ON,
  done: ENDED,
  partial: ENDED,
  failed: ENDED,
};

export function describeNext(
  standing: Pick<TaskSummaryView, "status" | "open_questions" | "problem" | "by_program">,
  { mayAnswer }: Pick<ToolContext, "mayAnswer">,
): string {
  const { status, open_questions: open = 0, problem, by_program: program } = standing;
  const ask = mayAnswer ? "list_questions, then answer_question" : "list_questions tells what a person is to answer";
  if (open > 0 && status === "running") return `it is running, and waits for an answer meanwhile: ${ask}`;
  if (open > 0 && status === "waiting") return `it waits for an answer: ${ask}`;
  const next = NEXT[status] ?? problem?.hint ?? "show_task tells more";
  return program !== undefined && GOES_ON.has(next)
    ? `nobody runs it, and its functions are in a program: tell a person to ${program}`
    : next;
}

/** Somebody works on it, as far as can be told. */
export function isUnderWay({ status }: TaskSummaryView): boolean {
  return status === "running" || status === "unclear";
}
