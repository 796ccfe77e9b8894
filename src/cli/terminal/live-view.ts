/**
 * The live view of running tasks on a terminal: phases, specialists with progress and confidence, money, last checkpoint.
 *
 * `renderLiveView` is pure; `startLiveView` asks the library how its tasks stand and redraws. Showing never fails a run.
 */
import { formatCount, formatDuration } from "../../base/plain-text.js";
import type {
  RunningLoopView,
  RunningPhaseView,
  RunningRetryView,
  RunningStepView,
  RunningView,
  Splashdown,
} from "../../runtime/contract.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import { cleanForTerminal, formatPercent, type Colours } from "./output.js";
import type { Screen } from "./screen.js";
import { formatMoney, formatTokens, spentOf } from "./spent.js";
import { countColumns, fitColumns } from "./text-width.js";

export interface LiveFrame {
  readonly width: number;
  /** Lines that fit; a frame that is higher could not be taken away again. */
  readonly height: number;
  readonly nowMs: number;
  readonly colours: Colours;
  /** Items of a loop per second, as far as it is known. */
  readonly rate?: (loop: RunningLoopView) => number | undefined;
}

const BAR = 10;
/** Narrower terminals have no room for bars. */
const BAR_WIDTH_MIN = 60;
const NAME_SHARE = 0.5;
const HEIGHT_MIN = 3;
/** Lower terminals have no room for the blank line between what happened and the frame. */
const GAP_ROWS_MIN = 12;
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
  const head = renderHead(task, frame);
  const figures = packParts(describeFigures(task, frame.nowMs), width).map(colours.dim);
  const room = Math.max(1, height - 1 - figures.length);
  return [head, ...fitMiddle(renderMiddle(task, frame), room, frame), ...figures].slice(0, height);
}

interface MiddleLine {
  readonly text: string;
  /** An ended phase: goes first where there is no room. */
  readonly isOver: boolean;
}

/** Phases in their order, each with what is open below it; what is of no phase last, then what is to come. */
function renderMiddle(task: RunningView, frame: LiveFrame): MiddleLine[] {
  const { phases, phases_to_come: ahead } = task;
  const numbers = new Set(phases.map(({ number }) => number));
  const others = [...task.steps, ...task.retries, ...task.loops].map(({ phase }) => phase);
  const rest = [...new Set(others)].filter((phase) => !numbers.has(phase));
  const open = (phase: number): MiddleLine[] => renderOpen(task, phase, frame).map((text) => ({ text, isOver: false }));
  return [
    ...[...phases]
      .sort((left, right) => left.number - right.number)
      .flatMap((phase) => {
        const own = open(phase.number);
        const isOver = phase.status !== "running" && own.length === 0;
        return [{ text: renderPhase(phase, frame), isOver }, ...own];
      }),
    ...rest.flatMap(open),
    ...(ahead.length === 0 ? [] : [{ text: renderAhead(ahead, frame), isOver: false }]),
  ];
}

/** A line of what is open: its mark, a name, and what is to say of it. */
interface Row {
  readonly mark: string;
  readonly name: string;
  readonly parts: readonly string[];
  /** An item of the loop above. */
  readonly isItem?: boolean;
}

/** Steps at work, steps that are tried again, and loops, each with a few of its items; names in one column. */
function renderOpen(task: RunningView, phase: number, frame: LiveFrame): string[] {
  const loops = task.loops.filter((loop) => loop.phase === phase);
  const loopOf = ({ step }: { readonly step: string }): RunningLoopView | undefined =>
    task.loops.findLast(({ path }) => step.startsWith(`${path}/`));
  const steps = task.steps.filter((step) => step.phase === phase);
  const retries = task.retries.filter((retry) => retry.phase === phase);
  const rows = [
    ...steps.filter((step) => loopOf(step) === undefined).map((step) => describeStep(step, frame)),
    ...retries.filter((retry) => loopOf(retry) === undefined).map((retry) => describeRetry(retry, frame)),
    ...loops.flatMap((loop) => [
      describeLoop(loop, frame),
      ...describeItems(
        steps.filter((step) => loopOf(step) === loop),
        retries.filter((retry) => loopOf(retry) === loop),
        frame,
      ),
    ]),
  ];
  const indent = phase === 0 ? 2 : 4;
  const room = Math.ceil((frame.width - indent - 2) * NAME_SHARE);
  const column =
    frame.width < BAR_WIDTH_MIN
      ? 0
      : Math.min(room, NAME_COLUMN_MAX, Math.max(0, ...rows.map(({ name }) => countColumns(clean(name)))));
  return rows.map((row) => renderRow(row, { ...frame, indent, room, column }));
}

interface RowPlace extends Pick<LiveFrame, "width" | "colours"> {
  readonly indent: number;
  /** The longest name there may be, and the column in which the names end. */
  readonly room: number;
  readonly column: number;
}

function renderRow(row: Row, { indent, room, column, width, colours }: RowPlace): string {
  const { mark, name, parts, isItem = false } = row;
  const before = indent + (isItem ? 2 : 0);
  const title = fit(name, room);
  const gap = " ".repeat(Math.max(0, column - countColumns(title) - (isItem ? 2 : 0)));
  const rest = fit(`${gap}  ${parts.join(" · ")}`, width - before - 2 - countColumns(title));
  return `${" ".repeat(before)}${mark} ${title}${colours.dim(rest)}`;
}

const ITEMS_SHOWN = 3;
const NAME_COLUMN_MAX = 28;

/** The first that were begun, under the key of their item. */
function describeItems(
  steps: readonly RunningStepView[],
  retries: readonly RunningRetryView[],
  frame: LiveFrame,
): Row[] {
  const rows = [
    ...steps.map((step) => ({ ...describeStep(step, frame), name: itemOf(step.step) })),
    ...retries.map((retry) => ({ ...describeRetry(retry, frame), name: itemOf(retry.step) })),
  ];
  return rows.slice(0, ITEMS_SHOWN).map((row) => ({ ...row, isItem: true }));
}

/** Shape: `do_it[3]`, with what stands below the item. */
function itemOf(step: string): string {
  const path = step.slice(0, step.lastIndexOf("@"));
  const bracket = path.lastIndexOf("[");
  return path.slice(path.lastIndexOf("/", bracket) + 1);
}

function describeLoop(loop: RunningLoopView, { colours, width, rate }: LiveFrame): Row {
  const { name, count, done, failed, under_way: running } = loop;
  const perSecond = rate?.(loop);
  const left = perSecond === undefined || perSecond <= 0 ? undefined : (count - done) / perSecond;
  const counter = `${done} of ${count}`;
  return {
    mark: colours.cyan("↻"),
    name,
    parts: [
      width < BAR_WIDTH_MIN || count === 0 ? counter : `${drawBar(done / count)} ${counter}`,
      ...(failed === 0 ? [] : [`${failed} failed`]),
      ...(running === 0 ? [] : [`${running} running`]),
      ...(perSecond === undefined || left === undefined || left < 1
        ? []
        : [formatRate(perSecond), `${formatSeconds(left)} left`]),
    ],
  };
}

/** Shape: `2.5/s`, `14/min`, `3/h`. */
function formatRate(perSecond: number): string {
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  return perSecond * 60 >= 1 ? `${Math.round(perSecond * 60)}/min` : `${Math.max(1, Math.round(perSecond * 3600))}/h`;
}

function describeRetry({ name, attempt, at, error }: RunningRetryView, { colours, nowMs }: LiveFrame): Row {
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - nowMs) / 1000));
  const when = `attempt ${attempt} in ${formatSeconds(seconds)}`;
  return { mark: colours.yellow("…"), name, parts: [when, ...(error === undefined ? [] : [error])] };
}

function renderAhead(names: readonly string[], { colours, width }: LiveFrame): string {
  return colours.dim(fit(`  ○ next: ${names.join(", ")}`, width));
}

function fitMiddle(lines: readonly MiddleLine[], room: number, { colours, width }: LiveFrame): string[] {
  const more = (count: number, noun: string): string[] =>
    count === 0 ? [] : [colours.dim(fit(`  … ${formatCount(count, noun)}`, width))];
  if (lines.length <= room) return lines.map(({ text }) => text);
  const open = lines.filter(({ isOver }) => !isOver).map(({ text }) => text);
  const over = lines.length - open.length;
  const left = room - (over === 0 ? 0 : 1);
  if (open.length <= left) return [...more(over, "earlier phase"), ...open];
  const kept = open.slice(0, Math.max(0, left - 1));
  return [...more(over, "earlier phase"), ...kept, ...more(open.length - kept.length, "more line")].slice(0, room);
}

function renderHead({ task, workflow, metrics }: RunningView, { colours, width }: LiveFrame): string {
  const time = ` · ${formatSeconds(metrics.elapsed_time)}`;
  // A task that nobody named begins with its workflow's name.
  const what = task.startsWith(`${workflow}_`) || task === workflow ? "" : ` · ${workflow}`;
  const name = fit(task, Math.max(1, width - countColumns(time)));
  return `${colours.bold(name)}${colours.dim(fit(`${what}${time}`, width - countColumns(name)))}`;
}

function renderPhase(phase: RunningPhaseView, { colours, width }: LiveFrame): string {
  const { number, name, status, confidence, score, iteration } = phase;
  const parts = [
    `${number} ${name}`,
    ...(iteration > 1 ? [`iteration ${iteration}`] : []),
    ...(score === undefined ? [] : [`scored ${score}`]),
    ...(confidence === undefined ? [] : [`confidence ${formatPercent(confidence)}`]),
  ];
  const text = fit(parts.join(" · "), width - 4);
  if (status === "running") return `  ${colours.cyan("▸")} ${text}`;
  return status === "done" ? `  ${colours.green("✓")} ${colours.dim(text)}` : `  ${colours.yellow("!")} ${text}`;
}

function describeStep(step: RunningStepView, { width, nowMs, colours }: LiveFrame): Row {
  const { name, fraction, attempt, confidence, message, asks, started_at: startedAt } = step;
  const time = formatSeconds((nowMs - Date.parse(startedAt)) / 1000);
  if (asks !== undefined) return { mark: colours.yellow("?"), name, parts: [`waits for an answer, ${time}`, asks] };
  return {
    mark: colours.cyan("●"),
    name,
    parts: [
      ...(fraction === undefined ? [] : [describeFraction(fraction, width)]),
      time,
      ...(attempt > 1 ? [`attempt ${attempt}`] : []),
      ...(confidence === undefined ? [] : [`confidence ${formatPercent(confidence)}`]),
      ...(message === undefined ? [] : [message]),
    ],
  };
}

function describeFraction(fraction: number, width: number): string {
  return width < BAR_WIDTH_MIN ? formatPercent(fraction) : `${drawBar(fraction)} ${formatPercent(fraction)}`;
}

function describeFigures(task: RunningView, nowMs: number): string[] {
  const { metrics, steps_done: done, blocked, checkpoint, open_questions: questions } = task;
  const spent = spentOf(metrics);
  return [
    `${formatCount(done, "step")} done${blocked === 0 ? "" : `, ${blocked} held up`}`,
    ...(spent.calls === 0 ? [] : [formatCount(spent.calls, "call"), formatTokens(spent), formatMoney(spent)]),
    ...(checkpoint === undefined ? [] : [`saved ${formatSeconds((nowMs - Date.parse(checkpoint.at)) / 1000)} ago`]),
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

/** Text of others on one line: no control characters. */
function clean(text: string): string {
  return cleanForTerminal(text).replaceAll(/[\n\t]+/g, " ");
}

function fit(text: string, width: number): string {
  return fitColumns(clean(text), width).trimEnd();
}

/** How fast loops go on, since each was seen first. Units: items per second. */
export class LoopRates {
  readonly #first = new Map<string, { readonly done: number; readonly atMs: number }>();

  /** `undefined` until enough was seen to say. */
  of({ path, done }: RunningLoopView, nowMs: number): number | undefined {
    const first = this.#first.get(path);
    // A second visit of the same loop begins anew.
    if (first === undefined || done < first.done) {
      this.#first.set(path, { done, atMs: nowMs });
      return undefined;
    }
    const seconds = (nowMs - first.atMs) / 1000;
    return done - first.done < RATE_ITEMS_MIN || seconds < RATE_SECONDS_MIN ? undefined : (done - first.done) / seconds;
  }
}

const RATE_ITEMS_MIN = 2;
const RATE_SECONDS_MIN = 3;

export interface LiveStage {
  readonly splashdown: Pick<Splashdown, "running">;
  readonly screen: Screen;
  readonly colours: Colours;
}

/** Draws until the answer is called, which takes the view away. */
export function startLiveView({ splashdown, screen, colours }: LiveStage): () => void {
  const rates = new LoopRates();
  const draw = (): void => {
    const { columns, rows } = screen.size();
    const tasks = splashdown.running();
    const nowMs = systemClock.nowMs();
    const lines = renderLiveView(tasks, {
      width: Math.max(1, columns - MARGIN.columns),
      height: Math.max(HEIGHT_MIN, rows - MARGIN.rows - (rows < GAP_ROWS_MIN ? 0 : 1)),
      nowMs,
      colours,
      rate: (loop) => rates.of(loop, nowMs),
    });
    screen.frame(lines.length === 0 || rows < GAP_ROWS_MIN ? lines : ["", ...lines]);
  };
  const stopTimer = systemClock.every(REDRAW_MS, draw);
  return () => {
    stopTimer();
    screen.frame([]);
  };
}
