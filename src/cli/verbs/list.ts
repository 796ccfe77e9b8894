/** `splashdown list`: all tasks, or those that are wanted, in a chosen order; once or again and again. Changes nothing. */
import type { CommandWriter } from "../../base/command-text.js";
import { Option, type Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { Splashdown, TaskSummaryView } from "../../runtime/contract.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import { collectTexts, parseSince } from "../command/flags.js";
import { statusOfSignal, type CliDeps, type Streams } from "../terminal/deps.js";
import { formatMoment } from "../terminal/local-time.js";
import { fitColumns } from "../terminal/text-width.js";
import { formatList } from "../text/list-text.js";
import { createCommandWriter } from "../command/next-command.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

const ORDERS = ["name", "status", "workflow", "started", "last", "steps", "cost", "size"] as const;
type Order = (typeof ORDERS)[number];

interface ListFlags {
  readonly status?: readonly string[];
  readonly workflow?: string;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly sort?: Order;
  readonly watch?: boolean;
}

const EXAMPLES = `
Examples:
  splashdown list --status waiting --status crashed   what needs somebody
  splashdown list --since 2h --sort last              what did something in the last two hours, newest first
  splashdown list --sort cost                         the dearest first
`;

export function registerList(program: Command, deps: CliDeps): void {
  program
    .command("list")
    .description("all tasks with their status, cost, and what each needs")
    .argument("[task]", "only this one, by name, id or workflow name")
    .option(
      "--status <status>",
      "only tasks that are so: running, waiting, crashed, done, … (repeatable)",
      collectTexts,
    )
    .option("--workflow <name>", "only tasks of this workflow")
    .option("--since <when>", "only tasks that did something since: 30m, 2h, 7d, or a date", (text: string) =>
      parseSince(text, systemClock.nowMs()),
    )
    .addOption(new Option("--sort <by>", "by name, or what is largest or newest first").choices(ORDERS))
    .option("--watch", "show it again and again, until Ctrl+C")
    .addHelpText("after", EXAMPLES)
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (task: string | undefined, flags: ListFlags, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, options, print }) => {
        if (flags.watch === true && options.json === true)
          throw new SplashdownError("USAGE_INVALID", "--watch is for people; ask again and again for --json");
        if (flags.watch === true) return watch(() => read(splashdown, task, flags), deps, createCommandWriter(options));
        const { wanted, isFiltered } = await read(splashdown, task, flags);
        print(wanted, (tasks, write) => formatList(tasks, { write, isFiltered, nowMs: systemClock.nowMs() }));
      });
    });
}

interface Listed {
  readonly wanted: readonly TaskSummaryView[];
  readonly isFiltered: boolean;
}

async function read(splashdown: Splashdown, task: string | undefined, flags: ListFlags): Promise<Listed> {
  const all = await splashdown.list(task);
  return {
    wanted: sortTasks(
      all.filter((row) => isWanted(row, flags)),
      flags.sort,
    ),
    isFiltered: all.length > 0,
  };
}

export function isWanted(task: TaskSummaryView, { status, workflow, since }: ListFlags): boolean {
  if (status !== undefined && !status.flatMap((text) => text.split(",")).includes(task.status)) return false;
  if (workflow !== undefined && task.workflow !== workflow) return false;
  return since === undefined || Date.parse(task.last_event_at ?? "") >= since;
}

/** Names and words in their order; times and amounts with the newest and largest first. */
export function sortTasks(tasks: readonly TaskSummaryView[], order: Order = "name"): TaskSummaryView[] {
  return tasks.toSorted((a, b) => COMPARE[order](a, b) || compare(a.task, b.task));
}

type Compare = (a: TaskSummaryView, b: TaskSummaryView) => number;

const COMPARE: Readonly<Record<Order, Compare>> = {
  name: () => 0,
  status: (a, b) => compare(a.status, b.status),
  workflow: (a, b) => compare(a.workflow ?? "", b.workflow ?? ""),
  started: (a, b) => compare(b.started_at ?? "", a.started_at ?? ""),
  last: (a, b) => compare(b.last_event_at ?? "", a.last_event_at ?? ""),
  steps: (a, b) => (b.steps_done ?? 0) - (a.steps_done ?? 0),
  cost: (a, b) => (b.spent?.cost_usd ?? 0) - (a.spent?.cost_usd ?? 0),
  size: (a, b) => b.size - a.size,
};

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

const WATCH_MS = 2000;

/** On a terminal the list is drawn in place; elsewhere it is printed anew where it has changed. */
async function watch(
  list: () => Promise<Listed>,
  { streams, signal, exit }: CliDeps,
  write: CommandWriter,
): Promise<void> {
  let before = "";
  while (!signal.aborted) {
    const { wanted, isFiltered } = await list();
    const nowMs = systemClock.nowMs();
    const text = formatList(wanted, { write, isFiltered, nowMs });
    before = show(streams, { text, before, at: formatMoment(new Date(nowMs).toISOString()) });
    await systemClock.sleep(WATCH_MS, signal).catch(() => undefined);
  }
  exit(statusOfSignal(signal));
}

function show(
  { screen, out }: Streams,
  { text, before, at }: { readonly text: string; readonly before: string; readonly at: string },
): string {
  if (screen?.canRedraw === true) {
    const { columns, rows } = screen.size();
    const lines = [at, ...text.split("\n")].map((line) => fitColumns(line, Math.max(1, columns - 1)));
    screen.frame(lines.slice(0, Math.max(1, rows - 1)));
  } else if (text !== before) {
    out(`${at}\n${text}\n\n`);
  }
  return text;
}
