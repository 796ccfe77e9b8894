/**
 * What `recover` takes up, what it leaves, and why: a plan made from a scan, as data.
 *
 * R13: only a task whose owner is gone, or whose time has come, is taken up unasked; whoever claims it first has it, so
 *      two supervisors at once are harmless. Nothing is taken up because it looks old.
 */
import { unreachable } from "../base/errors.js";
import type { ScannedTask } from "./scan.js";

export interface RecoveryPlan {
  readonly take: readonly { readonly name: string; readonly why: "crashed" | "due" }[];
  readonly leave: readonly { readonly name: string; readonly why: string }[];
  /** When the next of `leave` falls due; undefined when none does. */
  readonly nextDueAtMs: number | undefined;
}

/** Units: `nowMs` wall time, as `resumeAtMs` in the journal. */
export function planRecovery(tasks: readonly ScannedTask[], nowMs: number): RecoveryPlan {
  const take: { name: string; why: "crashed" | "due" }[] = [];
  const leave: { name: string; why: string }[] = [];
  const dueTimes: number[] = [];
  for (const task of tasks) {
    const choice = choose(task, nowMs);
    if (choice === "crashed" || choice === "due") take.push({ name: task.name, why: choice });
    else leave.push({ name: task.name, why: choice.why });
    const dueAtMs = task.closed?.resumeAtMs;
    if (task.status === "paused" && dueAtMs !== undefined && dueAtMs > nowMs) dueTimes.push(dueAtMs);
  }
  return { take, leave, nextDueAtMs: dueTimes.length === 0 ? undefined : Math.min(...dueTimes) };
}

function choose(task: ScannedTask, nowMs: number): "crashed" | "due" | { readonly why: string } {
  const { status } = task;
  switch (status) {
    case "crashed":
      return task.records === 0 ? { why: "it never started" } : "crashed";
    case "paused":
      return choosePaused(task, nowMs);
    case "running":
      return { why: `its owner, process ${task.owner?.pid ?? "?"}, is alive` };
    case "unclear":
      return { why: "it cannot be told whether its owner lives" };
    case "waiting":
      return { why: "it waits for a person" };
    case "damaged":
    case "key_missing":
      return { why: task.problem?.message ?? "it cannot be read" };
    case "failed":
      return { why: "it failed and needs a person" };
    case "stopped":
      return { why: "a person stopped it" };
    case "partial":
    case "done":
      return { why: "it has ended" };
    default:
      return unreachable(status);
  }
}

function choosePaused({ closed }: ScannedTask, nowMs: number): "due" | { readonly why: string } {
  const dueAtMs = closed?.resumeAtMs;
  if (dueAtMs === undefined) return { why: "it was paused on request" };
  return dueAtMs <= nowMs ? "due" : { why: `its time comes at ${new Date(dueAtMs).toISOString()}` };
}
