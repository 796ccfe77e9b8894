/** The text of a run's end and of a resume plan. */
import type { CommandWriter } from "../../base/command-text.js";
import { formatCount, formatDuration } from "../../base/plain-text.js";
import { quoteArgument } from "../../base/shell-text.js";
import { nameStep } from "../../base/step-name.js";
import type { FailureView, PlanView, QuestionView, RunView } from "../../runtime/contract.js";
import type { Streams } from "../terminal/deps.js";
import { formatMoment } from "../terminal/local-time.js";
import { formatSpent, spentOf } from "../terminal/spent.js";
import { cleanForTerminal, colourStatus, coloursOf, formatSize, textOf } from "../terminal/output.js";

const HOW: Readonly<Record<RunView["how"], string>> = {
  started: "",
  taken_up: " (resumed after a crash)",
  resumed: " (resumed)",
  finished_before: " (nothing ran)",
};

/** The reason of an end that needs no other. */
const ALL_DONE = "all steps are done";

export function formatRun(view: RunView, streams: Streams, write: CommandWriter): string {
  const colours = coloursOf(streams);
  const { steps, metrics } = view;
  const figures = `${formatCount(steps.done, "step")} done${countOf(steps.failed, "failed")}${countOf(steps.skipped, "skipped")}${countOf(steps.open, "open")} in ${formatDuration(metrics.elapsed_time)}`;
  const why = cleanForTerminal(view.reason);
  const isPlain = view.status === "done" && why === ALL_DONE;
  const lines = [
    `${colourStatus(colours, view.status)}  ${colours.bold(cleanForTerminal(view.task))}${HOW[view.how]}: ${isPlain ? figures : why}`,
    ...(isPlain ? [] : [`  ${figures}`]),
    ...formatFailures(view.failures ?? [], { why, streams }),
    ...formatCost(view),
    ...formatOutput(view, write),
    ...view.deliverables.map((file) => `  ${view.folder}/${file.file}  ${formatSize(file.size)}, not encrypted`),
    ...formatQuestions(view.questions),
    ...view.notices.map((notice) => `  ${cleanForTerminal(notice)}`),
    ...formatNext(view),
  ];
  return lines.join("\n");
}

function formatNext({ next, resume_at: until }: RunView): string[] {
  if (next === undefined) return [];
  return [until === undefined ? `  ${formatGoingOn(next)}` : `  paused until ${formatMoment(until)}; then: ${next}`];
}

/** A command, or what to do where none is enough. */
export function formatGoingOn(next: string): string {
  return next.startsWith("splashdown ") ? `continue with: ${next}` : `to continue, ${next}`;
}

/** Each failed step with its error, unless the reason says it already, and below it what its program said. */
function formatFailures(
  failures: readonly FailureView[],
  { why, streams }: { readonly why: string; readonly streams: Streams },
): string[] {
  const colours = coloursOf(streams);
  return failures.flatMap(({ step, message, stderr }) => {
    const isSaid = why.startsWith(`${nameStep(step)} failed: ${cleanForTerminal(message).split("\n")[0] ?? ""}`);
    const text = cleanForTerminal(`${nameStep(step)}: ${message}`).replaceAll("\n", "\n    ");
    return [
      ...(isSaid ? [] : [`  ${colours.red("✗")} ${text}`]),
      ...formatStderr(stderr).map((line) => colours.dim(`    ${line}`)),
    ];
  });
}

/** The stderr of a failed program, indented. */
export function formatStderr(stderr: unknown): string[] {
  return typeof stderr === "string"
    ? cleanForTerminal(stderr)
        .split("\n")
        .map((line) => `| ${line}`)
    : [];
}

function countOf(count: number, what: string): string {
  return count === 0 ? "" : `, ${count} ${what}`;
}

function formatCost({ metrics }: RunView): string[] {
  return metrics.api_calls === 0 ? [] : [`  ${formatSpent(spentOf(metrics))}`];
}

function formatOutput(view: RunView, write: CommandWriter): string[] {
  if (view.output === undefined || view.output === null) return [];
  const text = typeof view.output === "string" ? view.output : JSON.stringify(view.output, undefined, 2);
  const clean = cleanForTerminal(text);
  const whole = write("show", [view.task], { "--json": true });
  const cut = clean.length > 2000 ? `${clean.slice(0, 2000)}\n… (${whole} has all of it)` : clean;
  return cut.split("\n").map((line) => `  ${line}`);
}

/** The open questions with their options and the command that answers each; a single question needs no id. */
export function formatQuestions(questions: readonly QuestionView[]): string[] {
  const [only, second] = questions;
  if (only === undefined || second !== undefined || only.items !== undefined) return questions.flatMap(formatQuestion);
  // An amount stands after its answer, and then the question is named.
  if (only.kind === "limit") return formatQuestion(only);
  return formatQuestion({ ...only, command: only.command.replace(` ${quoteArgument(only.id)} `, " ") });
}

export function formatQuestion(question: QuestionView): string[] {
  const until =
    question.expires_at === undefined || question.on_expire === undefined
      ? []
      : [
          `    until ${formatMoment(question.expires_at)}; then it answers itself: ${cleanForTerminal(question.on_expire)}`,
        ];
  return [
    `  ? ${cleanForTerminal(question.text).replaceAll("\n", "\n    ")}`,
    ...(question.items === undefined ? question.options.map(formatOption) : formatItems(question)),
    ...until,
    `    answer with: ${question.command}`,
  ];
}

function formatOption({ value, label, takes_value: takesValue, prompt_for: promptFor }: Option): string {
  const more = promptFor === undefined ? (takesValue ? " --output JSON" : "") : ` [${promptFor}]`;
  return `      ${cleanForTerminal(value)}${cleanForTerminal(more)}: ${cleanForTerminal(label)}`;
}

type Option = QuestionView["options"][number];

/** The items of a wizard with what was said so far, then the other moves. */
function formatItems({ items = [], at, options }: QuestionView): string[] {
  const moves = options.map(({ value }) => value).filter((value) => value !== "answer");
  return [
    ...items.map((item) => {
      const said =
        item.status === "answered" ? `: ${textOf(item.answer)}` : item.status === "skipped" ? ": skipped" : "";
      const choices = item.choices.length === 0 ? "" : ` (${item.choices.join(" | ")})`;
      const mark = item.id === at ? ">" : " ";
      return `    ${mark} ${cleanForTerminal(`${item.id} ${item.text}${choices}${said}`).replaceAll("\n", " ")}`;
    }),
    ...(moves.length === 0
      ? []
      : [`      or ${moves.join(", ")}, or all at once: ${quoteArgument(`{${JSON.stringify(at ?? "q1")}: "…"}`)}`]),
  ];
}

export function formatPlan(view: PlanView): string {
  const list = (title: string, items: readonly string[]): string[] =>
    items.length === 0
      ? []
      : [
          `${title} (${items.length}):`,
          ...items.slice(0, 20).map((item) => `  ${cleanForTerminal(item)}`),
          ...(items.length > 20 ? [`  … ${items.length - 20} more`] : []),
        ];
  return [
    `plan for ${view.task}${view.back_to === undefined ? "" : `, going back to checkpoint ${view.back_to.seq} of phase ${view.back_to.phase}`}`,
    ...list("external steps done since, asked about before they run again", view.acted_since ?? []),
    ...list("done, stays", view.done.map(nameStep)),
    ...list(
      "to run again",
      view.to_rerun.map((item) => `${nameStep(item.step)}: ${item.why}`),
    ),
    ...list("outcome unknown", view.unknown.map(nameStep)),
    ...list("to run", view.to_run.map(nameStep)),
    ...list(
      "may run",
      view.may_run.map((item) => `${nameStep(item.step)}: ${item.when}`),
    ),
    ...list(
      "changed in the definition",
      view.changed.map((item) => `${item.path}: ${item.how}`),
    ),
  ].join("\n");
}
