/** Waiting for a task: until it ends, asks something new, or the time or the client is over. */
import { LIMITS } from "../base/limits.js";
import { isUnderWay, readStatus } from "./task-status.js";
import type { ToolContext, ToolCall } from "./tool.js";

export interface Wait {
  readonly task: string;
  readonly limitMs: number;
  readonly call: Pick<ToolCall, "signal" | "tell">;
}

/** Errors: TASK_NOT_FOUND; why its start failed. That the time is over is no error. */
export async function waitForTask(context: ToolContext, { task, limitMs, call }: Wait): Promise<void> {
  const { clock, starts } = context;
  const endMs = clock.monotonicMs() + limitMs;
  await starts.settle(task, limitMs);
  const name = await findToFollow(context, task);
  if (name === undefined) return;
  let seen = 0;
  for await (const event of context.splashdown.events(name)) seen = event.n;
  // What was asked while they were read is among them, and none of those that follow.
  const leftMs = endMs - clock.monotonicMs();
  if (leftMs <= 0 || (await findToFollow(context, name)) === undefined) return;
  const over = new AbortController();
  const cancel = clock.schedule(leftMs, () => over.abort());
  try {
    const signal = AbortSignal.any([call.signal, over.signal]);
    await follow(context, { task: name, after: seen, signal, tell: call.tell });
  } finally {
    cancel();
  }
}

/**
 * The task's name, while there may be something to wait for: of one that has ended its process to leave, which saves the
 * last checkpoint.
 */
async function findToFollow(context: ToolContext, task: string): Promise<string | undefined> {
  const standing = await readStatus(context, task);
  if (standing?.workflow_id === undefined || standing.problem !== undefined) return undefined;
  return isUnderWay(standing) && context.told.isNews(standing) ? undefined : standing.task;
}

interface Following {
  readonly task: string;
  /** Number of the last event before. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly tell: ToolCall["tell"];
}

/** Until a question opens, or nobody runs it any more. */
async function follow({ splashdown, clock }: ToolContext, { task, after, signal, tell }: Following): Promise<void> {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  for await (const event of splashdown.events(task, { from: after + 1, follow: true, signal })) {
    if (signal.aborted) return;
    if (tell !== undefined && clock.monotonicMs() - toldAtMs >= LIMITS.progressPaceMs) {
      toldAtMs = clock.monotonicMs();
      tell(event.n - after, event.text);
    }
    if (event.type === "question_opened") return;
  }
}
