/** `splashdown metrics`: how checkpoints and recoveries did. */
import { formatCount, formatDuration } from "../../base/plain-text.js";
import type { Command } from "commander";
import type { CheckpointMetrics, Distribution, MetricsReport } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal, formatSize, formatTable } from "../terminal/output.js";
import { formatMoneyCell, formatSpent, formatTokensCell } from "../terminal/spent.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

export function registerMetrics(program: Command, deps: CliDeps): void {
  program
    .command("metrics")
    .description(
      "checkpoints, recoveries, storage, and model calls with tokens and cost per day; of one task or over all",
    )
    .argument("[task]", "task name, id or workflow name")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (task: string | undefined, _flags: object, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.metrics(task), formatMetrics);
      });
    });
}

export function formatMetrics(view: MetricsReport): string {
  const { storage_usage: storage } = view;
  const count = view.tasks.length === 1 ? (view.tasks[0]?.task ?? "") : formatCount(view.tasks.length, "task");
  const rows = [
    ["checkpoint_write_duration", describe(view.checkpoint_write_duration, formatMs)],
    ["checkpoint_size", describe(view.checkpoint_size, formatSize)],
    ["recovery_success_rate", describeRecoveries(view)],
    ["checkpoint_frequency", describeFrequency(view)],
    [
      "storage_usage",
      `${formatSize(storage.total)}: journal ${formatSize(storage.journal)}, snapshots ${formatSize(storage.snapshots)}, large values ${formatSize(storage.blobs)}, deliverables ${formatSize(storage.deliverables)}, other ${formatSize(storage.other)}`,
    ],
  ];
  const { total, call_duration: calls, by_day: days } = view.spent;
  rows.push(["model_calls", formatSpent(total)]);
  if (calls.count > 0) rows.push(["model_call_duration", describe(calls, formatMs, "call")]);
  const byDay = formatTable(
    ["DAY", "CALLS", "TOKENS", "COST"],
    days.map((day) => [day.day, String(day.calls), formatTokensCell(day), formatMoneyCell(day)]),
  );
  const passed = view.passed_over.map(({ task, why }) => `skipped ${task}: ${cleanForTerminal(why)}`);
  return [formatTable(["METRIC", count], rows), ...(days.length === 0 ? [] : ["", byDay]), ...passed].join("\n");
}

function describe(values: Distribution, format: (value: number) => string, of = "file"): string {
  if (values.count === 0) return "no files were written";
  const { count, mean, p50, p95, max } = values;
  return `mean ${format(mean)}, p50 ${format(p50)}, p95 ${format(p95)}, largest ${format(max)}, of ${formatCount(count, of)}`;
}

function formatMs(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

function describeRecoveries({ recovery_success_rate: { attempts, succeeded, rate } }: CheckpointMetrics): string {
  return rate === null ? "no crash yet" : `${Math.round(rate * 100)} %: ${succeeded} of ${attempts}`;
}

function describeFrequency({ checkpoint_frequency: frequency }: CheckpointMetrics): string {
  const failed = frequency.failed === 0 ? "" : `, ${frequency.failed} could not be saved`;
  const counts = `${formatCount(frequency.checkpoints, "checkpoint")}, ${frequency.files} of them files${failed}`;
  if (frequency.mean_interval_seconds === null) return counts;
  return `one every ${formatDuration(frequency.mean_interval_seconds)} of work; ${counts}`;
}
