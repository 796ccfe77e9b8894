/**
 * What stands against several tasks, said once: the same sentence, but for the name of each task.
 *
 * Pure. Fingerprints that differ from task to task, as those of passphrases do, are left out of what is said of many.
 */
import { formatCount } from "./plain-text.js";

export interface TaskProblem {
  readonly task: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface SharedProblem {
  readonly code: string;
  /** Of one task as it is; of several with TASK where the name of each stands. */
  readonly sentence: string;
  readonly tasks: readonly string[];
  /** Of the first of them. */
  readonly hint: string;
}

/** Shape: in the order of the first task of each. */
export function shareProblems(problems: readonly TaskProblem[]): SharedProblem[] {
  const groups = new Map<string, TaskProblem[]>();
  for (const problem of problems) {
    const key = `${problem.code} ${withoutFingerprints(withoutName(problem))}`;
    groups.set(key, [...(groups.get(key) ?? []), problem]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { code, hint } = first;
    return [{ code, hint, sentence: chooseSentence(group), tasks: group.map(({ task }) => task) }];
  });
}

function chooseSentence(group: readonly TaskProblem[]): string {
  const [first = "", ...others] = new Set(group.map(withoutName));
  if (group.length === 1) return withoutPrefix(group[0] as TaskProblem);
  return others.length === 0 ? first : withoutFingerprints(first);
}

function withoutPrefix({ task, message }: TaskProblem): string {
  const prefix = `task ${task}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

function withoutName(problem: TaskProblem): string {
  const parts = withoutPrefix(problem).split(problem.task);
  // A name that is part of a word is none.
  return parts.reduce((text, part) => {
    const isWord = !/[\w-]$/.test(text) && !/^[\w-]/.test(part);
    return `${text}${isWord ? "TASK" : problem.task}${part}`;
  });
}

function withoutFingerprints(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{8,64}\b/g, "…");
}

const NAMED_MAX = 5;

/** `a, b and 3 more`. */
export function nameTasks(tasks: readonly string[]): string {
  const named = tasks.slice(0, NAMED_MAX).join(", ");
  return tasks.length > NAMED_MAX ? `${named} and ${tasks.length - NAMED_MAX} more` : named;
}

/** `key_wrong, 3 tasks (a, b, c): …`. */
export function describeShared({ code, sentence, tasks }: SharedProblem): string {
  const many = tasks.length === 1 ? nameTasks(tasks) : `${formatCount(tasks.length, "task")} (${nameTasks(tasks)})`;
  return `${code.toLowerCase()}, ${many}: ${sentence}`;
}
