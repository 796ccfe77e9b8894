/** Filters, order and counts of the list of tasks, and what the page opens at. Pure; the address holds the choice. */
import type { TaskSummaryView } from "../../src/runtime/contract.js";

export interface TaskChoice {
  /** A status; empty: all. */
  readonly status: string;
  /** Words that name, workflow, status or open question must hold, all of them. */
  readonly text: string;
  /** A column; with `-` before it the largest first. */
  readonly sort: string;
}

type Column = "task" | "status" | "last" | "started" | "steps" | "cost" | "tokens" | "size";

const VALUES: Readonly<Record<Column, (task: TaskSummaryView) => string | number>> = {
  task: (task) => task.task,
  status: (task) => URGENCY.indexOf(task.status),
  last: (task) => task.last_event_at ?? "",
  started: (task) => task.started_at ?? "",
  steps: (task) => task.steps_done ?? -1,
  cost: (task) => task.spent?.cost_usd ?? -1,
  tokens: (task) => task.spent?.tokens ?? -1,
  size: (task) => task.size,
};

/** What needs a person first. */
const URGENCY = ["waiting", "crashed", "failed", "unclear", "partial", "running", "paused", "stopped", "done"];

export function selectTasks(tasks: readonly TaskSummaryView[], { status, text, sort }: TaskChoice): TaskSummaryView[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = tasks.filter(
    (task) => (status === "" || statusOf(task) === status) && words.every((word) => hayOf(task).includes(word)),
  );
  const column = sort.replace(/^-/, "");
  const valueOf = (Object.hasOwn(VALUES, column) ? VALUES[column as Column] : undefined) ?? VALUES.last;
  const turn = sort.startsWith("-") ? -1 : 1;
  return chosen.sort((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)];
    return left === right ? compareText(a.task, b.task) : left < right ? -turn : turn;
  });
}

/** A task that no key opens here, or that cannot be read, has a status of its own. */
export function statusOf(task: TaskSummaryView): string {
  if (task.problem === undefined) return task.status;
  return task.problem.code.startsWith("KEY_") ? "locked" : task.status;
}

export function countByStatus(tasks: readonly TaskSummaryView[]): [status: string, count: number][] {
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(statusOf(task), (counts.get(statusOf(task)) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => rankOf(a) - rankOf(b));
}

function rankOf(status: string): number {
  const rank = URGENCY.indexOf(status);
  return rank < 0 ? URGENCY.length : rank;
}

function hayOf(task: TaskSummaryView): string {
  return `${task.task} ${task.workflow ?? ""} ${statusOf(task)} ${task.waits_for?.text ?? ""}`.toLowerCase();
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What the page opens at: the one task that asks, else the newest failure, else the newest that runs; else the list. */
export function chooseOpening(tasks: readonly TaskSummaryView[]): {
  readonly place: "inbox" | "tasks";
  readonly task?: string;
} {
  if (tasks.some((task) => (task.open_questions ?? 0) > 0)) return { place: "inbox" };
  const newest = selectTasks(tasks, { status: "", text: "", sort: "-last" });
  const found =
    newest.find((task) => task.status === "failed" || task.status === "crashed") ??
    newest.find((task) => task.status === "running");
  return found === undefined ? { place: "tasks" } : { place: "tasks", task: found.task };
}

/** What there is to say of a task in half a line; the most urgent that is known of it. */
export function tellNow(task: TaskSummaryView): string {
  const { problem, waits_for, resume_at, residence, by_program } = task;
  const goesOn = resume_at === undefined ? undefined : `goes on at ${resume_at}`;
  const words = problem?.message ?? waits_for?.text ?? goesOn ?? residence ?? by_program ?? tellPlace(task);
  return words.replaceAll("\n", " ");
}

function tellPlace({ new_here, status, phase = 0 }: TaskSummaryView): string {
  if (new_here === true) return "new on this machine";
  return status === "running" && phase > 0 ? `phase ${phase}` : "";
}
