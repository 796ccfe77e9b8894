/**
 * What the page knows, as the server told it last. Nothing is folded here: every view comes whole or as changed rows.
 */
import { computed, signal } from "@preact/signals";
import type { QuestionsView, TaskSummaryView, TaskView } from "../../src/runtime/contract.js";

export interface SessionView {
  readonly version: string;
  readonly store: string;
  readonly user: string;
  readonly read_only: boolean;
  readonly now: string;
}

export interface TasksChange {
  readonly changed: readonly TaskSummaryView[];
  readonly removed: readonly string[];
}

export interface TaskPicture {
  readonly task: string;
  readonly view: TaskView;
}

/** Why the task that is watched cannot be read any more. */
export interface TaskTrouble {
  readonly task: string;
  readonly error: { readonly code: string; readonly message: string };
}

export const session = signal<SessionView | undefined>(undefined);
/** By name; `undefined` until the server told it. */
export const tasks = signal<ReadonlyMap<string, TaskSummaryView> | undefined>(undefined);
export const questions = signal<QuestionsView | undefined>(undefined);
/** The last picture of the task that is watched. */
export const picture = signal<TaskPicture | undefined>(undefined);

export const trouble = signal<TaskTrouble | undefined>(undefined);

/** When the server was heard last, in milliseconds of this machine's clock; 0: never. */
export const heardAt = signal(0);
/** Ticks once a second, for texts like `12 s ago`. */
export const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 1000);

const SILENCE_MS = 15_000;
export const connection = computed<"opening" | "live" | "lost">(() => {
  if (heardAt.value === 0) return "opening";
  return now.value - heardAt.value > SILENCE_MS ? "lost" : "live";
});

export const openCount = computed(() => questions.value?.questions.length ?? 0);

export function takeTasks(list: readonly TaskSummaryView[]): void {
  tasks.value = new Map(list.map((task) => [task.task, task]));
}

export function takeChange({ changed, removed }: TasksChange): void {
  const next = new Map(tasks.value);
  for (const task of changed) next.set(task.task, task);
  for (const name of removed) next.delete(name);
  tasks.value = next;
}
