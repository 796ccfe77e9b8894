/**
 * `splashdown checkpoints prune|clear|pin|unpin`.
 *
 * What removes shows its plan first; a person is asked in the terminal, and without one `--yes` is needed.
 */
import { formatCount } from "../../base/plain-text.js";
import type { Command } from "commander";
import type { PinView, PruneView } from "../../runtime/contract.js";
import { addRemovalFlags, confirmIn, dryRunOf, type RemovalFlags } from "../command/confirmation.js";
import type { CliDeps } from "../terminal/deps.js";
import { CHECKPOINT, CHECKPOINT_TASK, withinTask } from "../command/flags.js";
import { cleanForTerminal, formatSize } from "../terminal/output.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

const REMOVING_STATUSES: readonly (readonly [number, string])[] = [
  [0, "done, or nothing to do, or only planned"],
  [2, "a flag is not valid, or --yes is missing without a terminal"],
  [4, "the store cannot be written"],
  [10, "not found"],
  [11, "owned by a living process, which removes by itself"],
  ...READING_STATUSES.slice(3),
];

interface PruneFlags extends RemovalFlags {
  readonly olderThan?: string;
  readonly keep?: number;
  readonly history?: boolean;
}

export function registerRetention(group: Command, deps: CliDeps): void {
  addRemovalFlags(
    REMOVING_STATUSES,
    group
      .command("prune")
      .description("remove snapshot files by the rules; the checkpoints stay listed, replayable and forkable")
      .argument("[task]", "task name, id or workflow name (default: all tasks)")
      .option("--older-than <age>", "files of checkpoints older than 7d, 12h, 30m")
      .option("--keep <n>", "files kept per task; two verified ones always stay", Number)
      .option("--history", "shorten the journal as well; says which checkpoints become unreachable"),
  ).action((task: string | undefined, flags: PruneFlags, command: Command) => {
    const { yes: _yes, ...options } = flags;
    return withSplashdown({ command, deps }, async ({ splashdown, print, ...context }) => {
      const confirm = confirmIn(context, flags, formatPrune);
      print(
        await splashdown.checkpoints.prune({ ...options, ...(task === undefined ? {} : { task }), confirm }),
        formatPrune,
      );
    });
  });
  addRemovalFlags(
    REMOVING_STATUSES,
    group
      .command("clear")
      .description("remove all snapshot files of a task but pinned ones; of an unfinished task two stay")
      .argument("<task>", "task name, id or workflow name"),
  ).action((task: string, flags: RemovalFlags, command: Command) =>
    withSplashdown({ command, deps }, async ({ splashdown, print, ...context }) => {
      const confirm = confirmIn(context, flags, formatPrune);
      print(await splashdown.checkpoints.clear(task, { ...dryRunOf(flags), confirm }), formatPrune);
    }),
  );
  registerPins(group, deps);
}

interface PinFlags {
  readonly task?: string;
  readonly note?: string;
}

function registerPins(group: Command, deps: CliDeps): void {
  group
    .command("pin")
    .description("keep a checkpoint's file, and the history that leads to it")
    .argument("<checkpoint>", CHECKPOINT)
    .option("--task <task>", CHECKPOINT_TASK)
    .option("--note <text>", "why")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (checkpoint: string, { task, ...flags }: PinFlags, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.checkpoints.pin(withinTask(checkpoint, task), flags), formatPin);
      });
    });
  group
    .command("unpin")
    .description("let retention remove a checkpoint's file again")
    .argument("<checkpoint>", CHECKPOINT)
    .option("--task <task>", CHECKPOINT_TASK)
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (checkpoint: string, { task }: { task?: string }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.checkpoints.unpin(withinTask(checkpoint, task)), formatPin);
      });
    });
}

export function formatPrune(view: PruneView): string {
  const verb = view.dry_run ? "would remove" : "removed";
  const lines = view.tasks.flatMap((task) => {
    const head = `${cleanForTerminal(task.task)}  ${task.status}, ${formatSize(task.size)}`;
    const why = task.why === "" ? "" : `  (${cleanForTerminal(task.why)})`;
    if (task.action === "keep") return [`${head}: nothing goes${why}`];
    if (task.action === "remove") return [`${head}: ${verb} the whole task for good${why}`];
    if (task.action === "trash")
      return [`${head}: ${view.dry_run ? "would move" : "moved"} the whole task to the trash${why}`];
    return [
      `${head}: ${verb} ${formatCount(task.files.length, "file")}${why}`,
      ...task.files.map(({ file, size, reason }) => `  ${file}  ${formatSize(size)}  ${reason}`),
      ...formatHistory(task.history, verb),
    ];
  });
  const total = view.dry_run
    ? `${formatSize(view.freed)} would be freed; nothing was removed`
    : `${formatSize(view.freed)} freed`;
  return [...(lines.length === 0 ? ["no tasks"] : lines), total].join("\n");
}

function formatHistory(history: PruneView["tasks"][number]["history"], verb: string): string[] {
  if (history === undefined) return [];
  const { before, segments, segments_size, blobs, blobs_size, unreachable } = history;
  const seqs = unreachable.map(({ seq }) => seq).join(", ");
  return [
    `  ${verb} ${segments} journal segments, ${formatSize(segments_size)}: records before ${before}`,
    ...(blobs === 0 ? [] : [`  ${verb} ${blobs} large values, ${formatSize(blobs_size)}`]),
    unreachable.length === 0
      ? "  every checkpoint stays reachable"
      : `  unreachable from then on, though still listed: checkpoints ${seqs}`,
  ];
}

function formatPin(view: PinView): string {
  const what = `checkpoint ${view.seq} of ${cleanForTerminal(view.task)} (${view.checkpoint_id})`;
  const since = view.by === undefined ? "" : ` by ${cleanForTerminal(view.by)} at ${view.at ?? "?"}`;
  if (!view.pinned) return `${what} is ${view.changed ? "no longer" : "not"} pinned`;
  const file = view.file === undefined ? "it has no file; the journal that leads to it stays" : view.file;
  return `${what} is pinned${since}: ${file}`;
}
