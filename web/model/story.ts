/** What happened to a task, in a few lines: what it waits for, what failed, what runs, what it brought. */
import type { StepView, TaskView } from "../../src/runtime/contract.js";
import { formatAgo, formatCount, formatDuration } from "./figures.js";

/** An entry of `TaskView.phases`. */
export interface Phase {
  readonly name: string;
  readonly number: number;
  readonly status: string;
  readonly iteration: number;
  readonly confidence: number | null;
  readonly spawned: number;
}

export interface Finding {
  readonly status: string;
  readonly text: string;
  /** The step it is about. */
  readonly step?: string;
}

const LINES_MAX = 6;

/** Shape: what needs a person first; at most six. */
export function listFindings(view: TaskView, nowMs: number): Finding[] {
  const last = lastByPath(view.steps);
  return [
    ...tellState(view, nowMs),
    ...last
      .filter(({ status }) => status === "failed")
      .slice(-2)
      .map(tellFailure),
    ...tellRunning(last, nowMs),
    ...view.damage.map((text) => ({ status: "partial", text })),
    ...view.unread.map((text) => ({ status: "partial", text })),
    ...tellFallbacks(last),
  ].slice(0, LINES_MAX);
}

function lastByPath(steps: readonly StepView[]): StepView[] {
  return [...new Map(steps.map((step) => [step.path, step])).values()];
}

function tellState(view: TaskView, nowMs: number): Finding[] {
  const { status, started_at, resume_at } = view;
  const began = started_at === undefined ? "" : `, began ${formatAgo(Date.parse(started_at), nowMs)}`;
  const told = (text: string): Finding[] => [{ status, text }];
  if (resume_at !== undefined) return told(`goes on ${formatAgo(Date.parse(resume_at), nowMs)}, at ${resume_at}`);
  const asked = view.questions.filter((question) => question.status === "open");
  if (asked[0] !== undefined) {
    const since = formatAgo(Date.parse(asked[0].opened_at), nowMs);
    return told(`${formatCount(asked.length, "question")} to answer, asked ${since}`);
  }
  if (status === "waiting" && view.next !== undefined)
    return [{ status: "paused", text: "it was answered, and nobody runs the task" }];
  if (status === "crashed") return told(`its process died; nothing that was done is lost${began}`);
  if (status === "running") return told(`${formatCount(view.steps_done ?? 0, "step")} done${began}`);
  return told(tellEnd(view));
}

function tellEnd({ status, reason = status, started_at, last_event_at }: TaskView): string {
  if (!ENDS.has(status) || started_at === undefined || last_event_at === undefined) return reason;
  const seconds = (Date.parse(last_event_at) - Date.parse(started_at)) / 1000;
  return `${reason}, ${formatDuration(seconds)} from beginning to end`;
}

const ENDS: ReadonlySet<string> = new Set(["done", "partial", "failed", "stopped"]);

function tellFailure({ step, path, error }: StepView): Finding {
  const message = error?.["message"];
  return { status: "failed", step, text: `${path}: ${typeof message === "string" ? message : "failed"}` };
}

function tellRunning(steps: readonly StepView[], nowMs: number): Finding[] {
  const open = steps.filter(({ status }) => status === "open");
  const [first] = open;
  if (first === undefined) return [];
  const others = open.length > 1 ? ` and ${formatCount(open.length - 1, "more step")}` : "";
  const message = first.progress?.["message"];
  const said = typeof message === "string" ? `: ${message}` : "";
  return [
    {
      status: "open",
      step: first.step,
      text: `${first.path} since ${formatAgo(Date.parse(first.started_at), nowMs).replace(" ago", "")}${said}${others}`,
    },
  ];
}

function tellFallbacks(steps: readonly StepView[]): Finding[] {
  return steps.flatMap(({ path, step, fallback }) =>
    fallback === undefined
      ? []
      : [
          {
            status: "partial",
            step,
            text: `${path}: ${fallback.answered} answered instead of ${fallback.asked}: ${fallback.why}`,
          },
        ],
  );
}
