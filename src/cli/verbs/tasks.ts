/** `splashdown show` and `events`: the truth about one task. They change nothing. */
import type { CommandWriter } from "../../base/command-text.js";
import { formatCount, formatDuration } from "../../base/plain-text.js";
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { EventView, StepView, TaskView } from "../../runtime/contract.js";
import { statusOfSignal, type CliDeps, type Streams } from "../terminal/deps.js";
import { nameStep } from "../../base/step-name.js";
import { formatGoingOn, formatQuestions, formatStderr } from "../text/run-text.js";
import { formatStep } from "../text/step-text.js";
import { cleanForTerminal, colourStatus, coloursOf, formatSize, formatTable, textOf } from "../terminal/output.js";
import { formatClock, formatMoment, localTimes } from "../terminal/local-time.js";
import { formatSpent, spentOf } from "../terminal/spent.js";
import { showTimeline, type TimelineFlags } from "./timeline.js";
import { chooseFormat, printStream } from "../command/stream-output.js";
import { describeStatuses, READING_STATUSES, withSplashdown, type VerbCall } from "../command/verb.js";

export function registerTasks(program: Command, deps: CliDeps): void {
  program
    .command("show")
    .description(
      "one task: phases, steps, decisions, questions, deliverables; or one step: what it was given, did and brought",
    )
    .argument("<task>", "task name, id or workflow name")
    .argument("[step]", "a step's name, path or identity: input, prompt, turns, tool calls, stderr, output, cost")
    .option("--confidence", "how sure it is, by phase and specialist: claimed, measured, uncertain")
    .option("--timeline", "bars per step over time, with phases, decisions and checkpoints marked")
    .option("--svg <file>", "write the timeline as a picture to this file")
    .option("--at <n>", "as the task stood right after event n (see events)", (text) => parseEventNumber("--at", text))
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (...given: [string, string | undefined, ShowFlags, Command]) => {
      const [task, step, flags, command] = given;
      if (step !== undefined) return showStep(task, { step, flags, call: { command, deps } });
      requireOneView(flags);
      if (flags.confidence === true) return showConfidence(task, { command, deps });
      if (flags.timeline === true || flags.svg !== undefined) return showTimeline(task, flags, { command, deps });
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const shown = splashdown.show(task, flags.at === undefined ? {} : { at: flags.at });
        print(await shown, (view, write) => formatTask(view, deps.streams, write));
      });
    });
  program
    .command("events")
    .description("the events of a task, in order")
    .argument("<task>", "task name, id or workflow name")
    .option("--follow", "keep following until its owner leaves; with --json one document per line")
    .option("--from <n>", "first event number", (text) => parseEventNumber("--from", text))
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (task: string, flags: { follow?: boolean; from?: number }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, options }) => {
        const events = splashdown.events(task, { ...flags, signal: deps.signal });
        const format = chooseFormat(options.json, flags.follow);
        await printStream(events, { format, out: deps.streams.out, toText: formatEvent });
        if (deps.signal.aborted) deps.exit(statusOfSignal(deps.signal));
      });
    });
}

interface ShowFlags extends TimelineFlags {
  readonly confidence?: boolean;
  readonly at?: number;
}

/** Errors: USAGE_INVALID. */
function requireOneView({ at, ...others }: ShowFlags): void {
  const [other] = Object.keys(others);
  if (at !== undefined && other !== undefined)
    throw new SplashdownError("USAGE_INVALID", `--at goes with no --${other}: it shows the whole task`);
}

async function showStep(
  task: string,
  { step, flags, call }: { readonly step: string; readonly flags: ShowFlags; readonly call: VerbCall },
): Promise<void> {
  const [whole] = Object.keys(flags);
  if (whole !== undefined)
    throw new SplashdownError("USAGE_INVALID", `--${whole} is about a whole task; leave out ${step}`);
  await withSplashdown(call, async ({ splashdown, print }) => {
    const colours = coloursOf(call.deps.streams);
    print(await splashdown.showStep(task, step), (view, write) => formatStep(view, colours, write));
  });
}

async function showConfidence(task: string, call: VerbCall): Promise<void> {
  await withSplashdown(call, async ({ splashdown, print }) => {
    print(await splashdown.confidence(task), ({ text }) => cleanForTerminal(text).trimEnd());
  });
}

/** Errors: USAGE_INVALID. */
function parseEventNumber(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new SplashdownError(
    "USAGE_INVALID",
    `${flag} takes the number of an event, from 1, not ${JSON.stringify(text)}`,
  );
}

function formatEvent(event: EventView): string {
  return `${String(event.n).padStart(6)}  ${formatMoment(event.at)}  ${event.type.padEnd(20)}  ${cleanForTerminal(localTimes(event.text)).replaceAll("\n", " ")}`;
}

function formatTask(view: TaskView, streams: Streams, write: CommandWriter): string {
  const colours = coloursOf(streams);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", colours.bold(title), ...lines];
  return [
    `${colours.bold(view.task)}  ${colourStatus(colours, view.status)}${view.reason === undefined ? "" : `: ${cleanForTerminal(view.reason)}`}`,
    indent(`workflow ${view.workflow ?? "?"}, id ${view.workflow_id ?? "?"}${view.encrypted ? "" : ", NOT ENCRYPTED"}`),
    ...(view.as_of === undefined
      ? []
      : [indent(colours.yellow(`as it stood after event ${view.as_of.event} of ${view.as_of.of}`))]),
    ...(view.residence === undefined ? [] : [indent(colours.yellow(cleanForTerminal(view.residence)))]),
    ...section("would run", (view.programs ?? []).map(indent)),
    ...formatCourse(view).map(indent),
    ...section(
      "inputs",
      Object.entries(view.inputs).map(([name, value]) => indent(`${name} = ${JSON.stringify(value)}`)),
    ),
    ...section(
      "phases",
      view.phases.map((phase) =>
        indent(
          `${textOf(phase["number"])} ${textOf(phase["name"])}: ${textOf(phase["status"])}, iteration ${textOf(phase["iteration"])}, confidence ${formatShare(phase["confidence"])}`,
        ),
      ),
    ),
    ...section("steps", formatSteps(view)),
    ...section("answered by a fallback", view.steps.flatMap(formatFallback).map(indent)),
    ...section(
      "decisions",
      view.decisions.map((decision) =>
        indent(
          `${textOf(decision["agent"])}: ${textOf(decision["description"])}\n  because ${textOf(decision["rationale"])}`,
        ),
      ),
    ),
    ...section("guidance", view.guidance.map(formatGuidance).map(indent)),
    ...section("open questions", formatQuestions(view.questions.filter((question) => question.status === "open"))),
    ...section(
      "answered, not used yet",
      view.questions
        .filter((question) => question.status === "answered")
        .map((question) =>
          indent(
            `${question.text}\n  ${question.answer ?? ""}, by ${question.answered_by ?? "?"} at ${formatMoment(question.answered_at ?? "?")}`,
          ),
        ),
    ),
    ...section(
      "deliverables",
      view.deliverables.map((file) => indent(`${view.folder}/${file.file}  ${formatSize(file.size)}`)),
    ),
    ...section("not understood", view.unread.map(indent)),
    ...section("damage", view.damage.map(indent)),
    "",
    indent(`${formatCount(view.checkpoints, "checkpoint")}: ${write("checkpoints list", [view.task])}`),
    ...(view.next === undefined ? [] : [indent(formatGoingOn(view.next))]),
  ].join("\n");
}

function indent(text: string): string {
  return `  ${cleanForTerminal(text).replaceAll("\n", "\n  ")}`;
}

/** Where the task comes from, when it was at work, and who runs it. */
function formatCourse(view: TaskView): string[] {
  const { forked_from: origin, owner } = view;
  return [
    ...(origin === undefined ? [] : [`forked from checkpoint ${origin.seq} of ${origin.task}`]),
    `started ${formatMoment(view.started_at ?? "?")}, last event ${formatLast(view)}, worked ${formatDuration(view.metrics.elapsed_time)}`,
    ...(view.metrics.api_calls === 0 ? [] : [formatSpent(spentOf(view.metrics))]),
    ...(owner === undefined
      ? []
      : [
          `owner: process ${textOf(owner["pid"])} on ${textOf(owner["host"])} since ${formatMoment(textOf(owner["since"]))}`,
        ]),
  ];
}

/** The day stands once where both are of one. */
function formatLast({ started_at: started = "?", last_event_at: last = "?" }: TaskView): string {
  const isSameDay = formatMoment(started).slice(0, 10) === formatMoment(last).slice(0, 10);
  return isSameDay ? formatClock(last) : formatMoment(last);
}

function formatFallback({ step, fallback }: StepView): string[] {
  if (fallback === undefined) return [];
  return [`${nameStep(step)}: ${fallback.answered} instead of ${fallback.asked}\n  because ${fallback.why}`];
}

function formatGuidance({ text, by, at, step, taken, told }: TaskView["guidance"][number]): string {
  const about = step === undefined ? "" : ` for ${nameStep(step)}`;
  const heard = told.length === 0 ? "nobody was told yet" : `told to ${told.map(nameStep).join(", ")}`;
  return `${by} at ${formatMoment(at)}${about}${taken ? "" : " (not taken yet)"}:\n  ${text.replaceAll("\n", "\n  ")}\n  ${heard}`;
}

const STEPS_SHOWN = 60;

function formatSteps(view: TaskView): string[] {
  const steps = view.steps.length > STEPS_SHOWN ? view.steps.slice(-STEPS_SHOWN) : view.steps;
  const rows = steps.map((step) => [
    `  ${nameStep(step.step)}`,
    step.status,
    step.attempt > 1 ? `attempt ${step.attempt}` : "",
    step.duration === undefined ? "" : formatDuration(step.duration),
    step.confidence === undefined ? "" : formatShare(step.confidence),
    step.error === undefined ? "" : (textOf(step.error["message"]).split("\n")[0] ?? "").slice(0, 100),
  ]);
  const cut = view.steps.length - steps.length;
  const [head = "", ...lines] = formatTable(["  STEP", "STATUS", "", "TIME", "CONFIDENCE", ""], rows).split("\n");
  return [
    ...(cut > 0 ? [`  … ${cut} earlier steps (--json has all)`] : []),
    head,
    ...lines.flatMap((line, index) => [line, ...formatSaid(steps[index])]),
  ];
}

/** The stderr of a failed step, for the lines below the step. */
function formatSaid(step: StepView | undefined): string[] {
  return step?.status === "failed" ? formatStderr(step.error?.["stderr"]).map((line) => `      ${line}`) : [];
}

function formatShare(value: unknown): string {
  return typeof value === "number" ? `${Math.round(value * 100)} %` : "–";
}
