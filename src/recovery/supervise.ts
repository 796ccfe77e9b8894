/**
 * What `recover` takes up, what it leaves, and why: a plan made from a scan, as data.
 *
 * R13: only a task whose owner is gone, or whose time has come, is taken up unasked; whoever claims it first has it, so
 *      two supervisors at once are harmless. Nothing is taken up because it looks old.
 */
import { hasTimeCome } from "../engine/rules/steps/due.js";
import type { ScannedTask, TaskStatus } from "./scan.js";

/** Its owner is gone, its time has come, or its question was answered. */
export type ResumeReason = "crashed" | "due" | "answered";

export interface RecoveryPlan {
  readonly take: readonly { readonly name: string; readonly why: ResumeReason }[];
  readonly leave: readonly { readonly name: string; readonly why: string }[];
  /** When the next of `leave` falls due; undefined when none does. */
  readonly nextDueAtMs: number | undefined;
}

/**
 * Shape: `answered` names the waiting tasks that may go on, which the scan does not see.
 * Units: `nowMs` wall time, as `resumeAtMs` in the journal.
 */
export function planRecovery(
  tasks: readonly ScannedTask[],
  nowMs: number,
  answered: ReadonlySet<string> = new Set(),
): RecoveryPlan {
  const take: { name: string; why: ResumeReason }[] = [];
  const leave: { name: string; why: string }[] = [];
  const dueTimes: number[] = [];
  for (const task of tasks) {
    const choice = answered.has(task.name) ? "answered" : CHOICES[task.status](task, nowMs);
    if (typeof choice === "string") take.push({ name: task.name, why: choice });
    else leave.push({ name: task.name, why: choice.why });
    const dueAtMs = task.closed?.resumeAtMs;
    if ((task.status === "paused" || task.status === "waiting") && dueAtMs !== undefined && dueAtMs > nowMs)
      dueTimes.push(dueAtMs);
  }
  return { take, leave, nextDueAtMs: dueTimes.length === 0 ? undefined : Math.min(...dueTimes) };
}

type Choice = ResumeReason | { readonly why: string };

/** Why a task of that status is left, or what more must be looked at. */
const CHOICES: Readonly<Record<TaskStatus, (task: ScannedTask, nowMs: number) => Choice>> = {
  crashed: (task) => (task.records === 0 ? { why: "it never started" } : "crashed"),
  paused: choosePaused,
  running: (task) => ({ why: `its owner, process ${task.owner?.pid ?? "?"}, is alive` }),
  unclear: () => ({ why: "it is unclear whether its owner lives" }),
  waiting: () => ({ why: "it waits for a person" }),
  damaged: chooseUnreadable,
  key_missing: chooseUnreadable,
  key_wrong: chooseUnreadable,
  key_source_invalid: chooseUnreadable,
  key_not_created: chooseUnreadable,
  key_not_tried: chooseUnreadable,
  folder_not_trusted: chooseUnreadable,
  failed: () => ({ why: "it failed and needs a person" }),
  stopped: () => ({ why: "a person stopped it" }),
  partial: () => ({ why: "it has ended" }),
  done: () => ({ why: "it has ended" }),
};

function chooseUnreadable({ problem }: ScannedTask): Choice {
  return { why: problem?.message ?? "it cannot be read" };
}

function choosePaused({ closed }: ScannedTask, nowMs: number): Choice {
  const dueAtMs = closed?.resumeAtMs;
  if (closed === undefined || dueAtMs === undefined) return { why: "it was paused on request" };
  const setAtMs = closed.wallAtMs ?? closed.atMs;
  return hasTimeCome({ resumeAtMs: dueAtMs, setAtMs }, nowMs)
    ? "due"
    : { why: `its time comes at ${new Date(dueAtMs).toISOString()}` };
}
