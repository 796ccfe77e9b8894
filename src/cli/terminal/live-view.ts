/**
 * The live view of running tasks on a terminal: phases, specialists with progress and confidence, money, last checkpoint.
 *
 * `renderLiveView` is pure; `startLiveView` asks the library how its tasks stand and redraws. Showing never fails a run.
 */
import { formatCount } from "../../base/plain-text.js";
import type { RunningPhaseView, RunningStepView, RunningView, Splashdown } from "../../runtime/contract.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import { cleanForTerminal, formatDuration, formatPercent, type Colours } from "./output.js";
import type { Screen } from "./screen.js";
import { formatMoney, formatTokens, spentOf } from "./spent.js";
import { countColumns, fitColumns } from "./text-width.js";

export interface LiveFrame {
  readonly width: number;
  /** Lines that fit; a frame that is higher could not be taken away again. */
  readonly height: number;
  readonly nowMs: number;
  readonly colours: Colours;
}

const BAR = 10;
/** Narrower terminals have no room for bars. */
const BAR_WIDTH_MIN = 60;
const NAME_SHARE = 0.5;
const HEIGHT_MIN = 3;
const REDRAW_MS = 120;
/** An update of the terminal's last column would move the cursor; and a line below the frame is the cursor's. */
const MARGIN = { columns: 1, rows: 2 };

/** Shape: at most `height` lines, none wider than `width`. */
export function renderLiveView(tasks: readonly RunningView[], frame: LiveFrame): string[] {
  const each = Math.max(HEIGHT_MIN, Math.floor(frame.height / Math.max(1, tasks.length)));
  return tasks.flatMap((task) => renderTask(task, { ...frame, height: each })).slice(0, frame.height);
}

function renderTask(task: RunningView, frame: LiveFrame): string[] {
  const { colours, width, height } = frame;
  const head = colours.bold(fit(describeTask(task), width));
  const figures = packParts(describeFigures(task, frame.nowMs), width).map(colours.dim);
  const room = Math.max(1, height - 1 - figures.length);
  return [head, ...fitMiddle(renderMiddle(task, frame), room, frame), ...figures].slice(0, height);
}

interface MiddleLine {
  readonly text: string;
  /** An ended phase: goes first where there is no room. */
  readonly isOver: boolean;
}

/** Phases in their order, each with its open steps below it; steps of no phase last. */
function renderMiddle({ phases, steps }: RunningView, frame: LiveFrame): MiddleLine[] {
  const byPhase = groupByPhase(steps);
  const lines = [...phases]
    .sort((left, right) => left.number - right.number)
    .flatMap((phase) => {
      const own = byPhase.get(phase.number) ?? [];
      byPhase.delete(phase.number);
      return [
        { text: renderPhase(phase, frame), isOver: phase.status !== "running" && own.length === 0 },
        ...own.map((step) => ({ text: renderStep(step, frame), isOver: false })),
      ];
    });
  return [...lines, ...[...byPhase.values()].flat().map((step) => ({ text: renderStep(step, frame), isOver: false }))];
}

function groupByPhase(steps: readonly RunningStepView[]): Map<number, RunningStepView[]> {
  const groups = new Map<number, RunningStepView[]>();
  for (const step of steps) groups.set(step.phase, [...(groups.get(step.phase) ?? []), step]);
  return groups;
}

function fitMiddle(lines: readonly MiddleLine[], room: number, { colours, width }: LiveFrame): string[] {
  const more = (count: number, what: string): string[] =>
    count === 0 ? [] : [colours.dim(fit(`  … ${count} ${what}`, width))];
  if (lines.length <= room) return lines.map(({ text }) => text);
  const open = lines.filter(({ isOver }) => !isOver).map(({ text }) => text);
  const over = lines.length - open.length;
  const left = room - (over === 0 ? 0 : 1);
  if (open.length <= left) return [...more(over, "phases over"), ...open];
  const kept = open.slice(0, Math.max(0, left - 1));
  return [...more(over, "phases over"), ...kept, ...more(open.length - kept.length, "more lines")].slice(0, room);
}

function describeTask({ task, workflow, metrics }: RunningView): string {
  return `${task}  ${formatSeconds(metrics.elapsed_time)}  ${workflow}`;
}

function renderPhase(phase: RunningPhaseView, { colours, width }: LiveFrame): string {
  const { number, name, status, confidence, score, iteration } = phase;
  const parts = [
    `${number} ${name}`,
    ...(iteration > 1 ? [`iteration ${iteration}`] : []),
    ...(score === undefined ? [] : [`scored ${score}`]),
    ...(confidence === undefined ? [] : [`confidence ${formatPercent(confidence)}`]),
  ];
  const text = fit(parts.join(", "), width - 4);
  if (status === "running") return `  ${colours.cyan("▸")} ${text}`;
  return status === "done" ? `  ${colours.green("✓")} ${colours.dim(text)}` : `  ${colours.yellow("!")} ${text}`;
}

function renderStep(step: RunningStepView, { width, nowMs, colours }: LiveFrame): string {
  const { name, fraction, attempt, confidence, message, started_at: startedAt } = step;
  const room = width - 6;
  const parts = [
    ...(fraction === undefined ? [] : [describeFraction(fraction, width)]),
    formatSeconds((nowMs - Date.parse(startedAt)) / 1000),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(confidence === undefined ? [] : [`confidence ${formatPercent(confidence)}`]),
    ...(message === undefined ? [] : [message]),
  ];
  const title = fit(name, Math.ceil(room * NAME_SHARE));
  return `    ${colours.cyan("●")} ${fit(`${title}  ${parts.join(", ")}`, room)}`;
}

function describeFraction(fraction: number, width: number): string {
  return width < BAR_WIDTH_MIN ? formatPercent(fraction) : `${drawBar(fraction)} ${formatPercent(fraction)}`;
}

function describeFigures(task: RunningView, nowMs: number): string[] {
  const { metrics, steps_done: done, blocked, checkpoint, open_questions: questions } = task;
  const spent = spentOf(metrics);
  return [
    `${done} done${blocked === 0 ? "" : `, ${blocked} held up`}`,
    ...(spent.calls === 0 ? [] : [formatCount(spent.calls, "call"), formatTokens(spent), formatMoney(spent)]),
    ...(checkpoint === undefined
      ? []
      : [`checkpoint ${checkpoint.seq} ${formatSeconds((nowMs - Date.parse(checkpoint.at)) / 1000)} ago`]),
    ...(questions === 0 ? [] : [formatCount(questions, "open question")]),
  ];
}

/** As many parts on a line as fit. */
function packParts(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const longer = last === undefined ? `  ${part}` : `${last} · ${part}`;
    if (last !== undefined && countColumns(longer) > width) lines.push(`  ${part}`);
    else lines[Math.max(0, lines.length - 1)] = longer;
  }
  return lines.map((line) => fit(line, width));
}

function drawBar(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * BAR);
  return "█".repeat(full) + "░".repeat(BAR - full);
}

/** Whole seconds: a frame that changes no more often is not redrawn more often. */
function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${Math.max(0, Math.floor(seconds))} s` : formatDuration(seconds);
}

/** Text of others on one line: no control characters, cut to the width. */
function fit(text: string, width: number): string {
  return fitColumns(cleanForTerminal(text).replaceAll(/[\n\t]+/g, " "), width);
}

export interface LiveStage {
  readonly splashdown: Pick<Splashdown, "running">;
  readonly screen: Screen;
  readonly colours: Colours;
}

/** Draws until the answer is called, which takes the view away. */
export function startLiveView({ splashdown, screen, colours }: LiveStage): () => void {
  const draw = (): void => {
    const { columns, rows } = screen.size();
    const lines = renderLiveView(splashdown.running(), {
      width: Math.max(1, columns - MARGIN.columns),
      height: Math.max(HEIGHT_MIN, rows - MARGIN.rows),
      nowMs: systemClock.nowMs(),
      colours,
    });
    screen.frame(lines);
  };
  const stopTimer = systemClock.every(REDRAW_MS, draw);
  return () => {
    stopTimer();
    screen.frame([]);
  };
}
