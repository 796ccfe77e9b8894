/** Waiting for a task: until it ends, asks something, or the time or the client is over. */
import { LIMITS } from "../base/limits.js";
import { isUnderWay, readStanding } from "./standing.js";
import type { Bench, ToolCall } from "./tool.js";

export interface Wait {
  readonly task: string;
  readonly limitMs: number;
  readonly call: Pick<ToolCall, "signal" | "tell">;
}

/** Errors: TASK_NOT_FOUND; why its start failed. That the time is over is no error. */
export async function waitForTask(bench: Bench, { task, limitMs, call }: Wait): Promise<void> {
  const endMs = bench.clock.monotonicMs() + limitMs;
  await bench.starts.settle(task, limitMs);
  const standing = await readStanding(bench, task);
  const leftMs = endMs - bench.clock.monotonicMs();
  if (standing === undefined || !isUnderWay(standing) || leftMs <= 0) return;
  const over = new AbortController();
  const cancel = bench.clock.schedule(leftMs, () => over.abort());
  try {
    await follow(bench, { task: standing.task, signal: AbortSignal.any([call.signal, over.signal]), tell: call.tell });
  } finally {
    cancel();
  }
}

interface Following {
  readonly task: string;
  readonly signal: AbortSignal;
  readonly tell: ToolCall["tell"];
}

/** Until a question opens that was not there before, or nobody runs it any more. */
async function follow({ splashdown, clock }: Bench, { task, signal, tell }: Following): Promise<void> {
  let seen = 0;
  for await (const event of splashdown.events(task)) seen = event.n;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  for await (const event of splashdown.events(task, { from: seen + 1, follow: true, signal })) {
    if (signal.aborted) return;
    if (tell !== undefined && clock.monotonicMs() - toldAtMs >= LIMITS.progressPaceMs) {
      toldAtMs = clock.monotonicMs();
      tell(event.n - seen, event.text);
    }
    if (event.type === "question_opened") return;
  }
}
