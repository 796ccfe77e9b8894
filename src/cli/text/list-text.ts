/** `list` as a person reads it: a row per task, below it what it needs, below all what is wrong, each sentence once. Pure. */
import type { CommandWriter } from "../../base/command-text.js";
import { formatCount } from "../../base/plain-text.js";
import { nameQuestion } from "../../base/step-name.js";
import { describeShared, shareProblems } from "../../base/shared-problems.js";
import type { TaskSummaryView } from "../../runtime/contract.js";
import { formatAgo, formatMoment, formatUntil } from "../terminal/local-time.js";
import { cleanForTerminal, formatSize, formatTable } from "../terminal/output.js";
import { formatMoneyCell, formatTokensCell } from "../terminal/spent.js";

export interface ListFrame {
  readonly write: CommandWriter;
  readonly nowMs: number;
  /** There are tasks, and none of them is wanted. */
  readonly isFiltered: boolean;
}

const HEAD = ["TASK", "STATUS", "WORKFLOW", "STEPS", "TOKENS", "COST", "LAST EVENT", "SIZE"];
/** Columns that stand only where a task has something in them. */
const OPTIONAL: ReadonlySet<string> = new Set(["TOKENS", "COST"]);

export function formatList(tasks: readonly TaskSummaryView[], frame: ListFrame): string {
  if (tasks.length === 0)
    return frame.isFiltered
      ? "no task matches"
      : `no tasks yet; start one with: ${frame.write("run", [{ blank: "FILE" }])}`;
  const rows = tasks.map((task) => rowOf(task, frame.nowMs));
  const columns = HEAD.map((_title, column) => column).filter(
    (column) => !OPTIONAL.has(HEAD[column] ?? "") || rows.some((row) => row[column] !== ""),
  );
  const pick = (row: readonly string[]): string[] => columns.map((column) => row[column] ?? "");
  const [head = "", ...lines] = formatTable(pick(HEAD), rows.map(pick)).split("\n");
  return [
    head,
    ...lines.flatMap((line, index) => [line, ...noteOf(tasks[index], frame)]),
    ...formatProblems(tasks),
  ].join("\n");
}

function rowOf(task: TaskSummaryView, nowMs: number): string[] {
  const { spent } = task;
  return [
    task.task,
    task.status,
    task.workflow ?? "",
    task.steps_done === undefined ? "" : String(task.steps_done),
    spent === undefined ? "" : formatTokensCell(spent),
    spent === undefined ? "" : formatMoneyCell(spent),
    task.last_event_at === undefined ? "" : formatAgo(task.last_event_at, nowMs),
    formatSize(task.size),
  ];
}

/** Below its row: what a task needs, or why it cannot be read where the status does not say it. */
function noteOf(task: TaskSummaryView | undefined, frame: ListFrame): string[] {
  if (task === undefined) return [];
  const { problem, status } = task;
  const reason = problem === undefined || problem.code.toLowerCase() === status ? "" : problem.code.toLowerCase();
  const note = problem === undefined ? describeNote(task, frame) : reason;
  return note === "" ? [] : [`  └ ${note}`];
}

/** Each sentence once, with what to do. */
function formatProblems(tasks: readonly TaskSummaryView[]): string[] {
  const problems = tasks.flatMap(({ task, problem }) => (problem === undefined ? [] : [{ task, ...problem }]));
  return shareProblems(problems).flatMap((shared) => [
    "",
    cleanForTerminal(describeShared(shared)),
    `  → ${cleanForTerminal(shared.hint)}`,
  ]);
}

/** What it needs, and that its journal is damaged where that costs nothing. */
function describeNote(task: TaskSummaryView, frame: ListFrame): string {
  const damage =
    task.damaged === undefined ? [] : [`damaged, nothing is lost: ${frame.write("doctor", [], { "--tasks": true })}`];
  return [describeNeed(task, frame), ...damage].filter((text) => text !== "").join("; ");
}

function describeNeed(task: TaskSummaryView, { write, nowMs }: ListFrame): string {
  if (task.residence !== undefined) return cleanForTerminal(task.residence);
  const { open_questions: open = 0 } = task;
  const program = isOver(task) ? "" : (task.by_program ?? "");
  if (open > 0) return [describeOpen(open, task.waits_for), ...(program === "" ? [] : [`then ${program}`])].join("; ");
  if (task.status === "waiting") return `answered; ${program || write("resume", [task.task])}`;
  if (program !== "" && task.resume_at === undefined) return program;
  if (task.resume_at === undefined) return "";
  return `continues ${formatUntil(task.resume_at, nowMs)}, at ${formatMoment(task.resume_at)}`;
}

/** Nobody need go on with it, or somebody does. */
function isOver({ status }: TaskSummaryView): boolean {
  return status === "done" || status === "partial" || status === "running";
}

const ASKED_CHARS = 60;

function describeOpen(count: number, oldest: TaskSummaryView["waits_for"]): string {
  const many = formatCount(count, "open question");
  if (oldest === undefined) return many;
  const text = cleanForTerminal(oldest.text).replaceAll(/\s+/g, " ").trim();
  return `${many}, ${nameQuestion(oldest.question)}: ${text.length > ASKED_CHARS ? `${text.slice(0, ASKED_CHARS)}…` : text}`;
}
