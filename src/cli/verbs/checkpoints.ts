/** `splashdown checkpoints list|show` and the four `debug` commands of the design's source. They change nothing. */
import type { Command } from "commander";
import type { CheckpointView, ValidateCheckpointView } from "../../runtime/contract.js";
import { formatCheckpoint } from "../text/checkpoint-text.js";
import { registerBundles } from "./bundles.js";
import type { CliDeps, Streams } from "../terminal/deps.js";
import { formatDifferences } from "../text/diff-text.js";
import { CHECKPOINT, CHECKPOINT_TASK, withinTask } from "../command/flags.js";
import { cleanForTerminal, coloursOf, formatChecks, formatSize, formatTable } from "../terminal/output.js";
import { formatMoment } from "../terminal/local-time.js";
import { registerReplay } from "./replay.js";
import { registerRetention } from "./retention.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

export function registerCheckpoints(program: Command, deps: CliDeps): void {
  const group = program.command("checkpoints").description("look at checkpoints, keep them, and remove their files");
  group
    .command("list")
    .description("the checkpoints of a task, or of all tasks")
    .argument("[task]", "task name, id or workflow name")
    .option("--workflow <name>", "only tasks of this workflow")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (task: string | undefined, flags: { workflow?: string }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.checkpoints.list(task ?? flags.workflow), formatCheckpoints);
      });
    });
  group
    .command("show")
    .description("one checkpoint: agents, decisions, metrics, and what it would resume")
    .argument("<checkpoint>", CHECKPOINT)
    .option("--task <task>", CHECKPOINT_TASK)
    .option("--values", "with the inputs, the outputs by step, and the channel, as they stood there")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (checkpoint: string, { task, values }: { task?: string; values?: boolean }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const options = { values: values === true };
        print(await splashdown.checkpoints.show(withinTask(checkpoint, task), options), (view, write) =>
          formatCheckpoint(view, coloursOf(deps.streams), write),
        );
      });
    });
  registerRetention(group, deps);
  registerBundles(group, deps);
}

export function registerDebug(program: Command, deps: CliDeps): void {
  const group = program
    .command("debug")
    .description("look into the past: list, validate, replay and compare checkpoints");
  group
    .command("list-checkpoints")
    .description("all checkpoints of a task")
    .requiredOption("--task <task>", "task name, id or workflow name")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async (flags: { task: string }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.debug.listCheckpoints(flags.task), formatCheckpoints);
      });
    });
  group
    .command("validate-checkpoint")
    .description("check a snapshot file: structure and checksum without a key, seal and chain with one")
    .requiredOption("--file <file>", "path of the file, or its name in any task")
    .option("--task <task>", "look for that name in this task only")
    .addHelpText("after", describeStatuses(READING_STATUSES))
    .action(async ({ file, ...flags }: { file: string; task?: string }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.debug.validateCheckpoint(file, flags);
        print(view, (result) => formatValidation(result, deps.streams));
        deps.exit(view.exit_status);
      });
    });
  registerReplayAndDiff(group, deps);
}

function registerReplayAndDiff(group: Command, deps: CliDeps): void {
  registerReplay(group, deps);
  group
    .command("diff-checkpoints")
    .description("what differs between two checkpoints, first difference first")
    .requiredOption("--from <checkpoint>", CHECKPOINT)
    .requiredOption("--to <checkpoint>", CHECKPOINT)
    .option("--task <task>", "the task both belong to, by name, id or workflow name")
    .option("--all", "ids, times and order too")
    .addHelpText("after", describeStatuses([[0, "equal"], [1, "different"], ...READING_STATUSES.slice(1)]))
    .action(async (flags: { from: string; to: string; task?: string; all?: boolean }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const { from, to, ...rest } = flags;
        const view = await splashdown.debug.diffCheckpoints(from, to, rest);
        print(view, (diff) => formatDifferences(diff, coloursOf(deps.streams)));
        deps.exit(view["equal"] === true ? 0 : 1);
      });
    });
}

/** An id is shown by its beginning, which is enough to name it; the task where there are several. */
function formatCheckpoints(checkpoints: readonly CheckpointView[]): string {
  if (checkpoints.length === 0) return "no checkpoints";
  const isOfSeveral = new Set(checkpoints.map(({ task }) => task)).size > 1;
  const rows = checkpoints.map((checkpoint) => [
    ...(isOfSeveral ? [checkpoint.task] : []),
    String(checkpoint.seq),
    checkpoint.checkpoint_id.slice(0, ID_CHARS),
    String(checkpoint.phase),
    checkpoint.trigger,
    checkpoint.status,
    formatMoment(checkpoint.timestamp),
    placeOf(checkpoint),
    checkpoint.note ?? "",
  ]);
  const head = ["SEQ", "CHECKPOINT", "PHASE", "TRIGGER", "STATUS", "TIME", "FILE", ""];
  return formatTable([...(isOfSeveral ? ["TASK"] : []), ...head], rows);
}

const ID_CHARS = 8;

function placeOf({ size, reachable, pinned }: CheckpointView): string {
  if (reachable === false) return "unreachable";
  return `${size === undefined ? "journal" : formatSize(size)}${pinned === true ? ", pinned" : ""}`;
}

function formatValidation(view: ValidateCheckpointView, streams: Streams): string {
  const colours = coloursOf(streams);
  return [
    `${view.valid ? colours.green("valid") : colours.red("not valid")}  ${cleanForTerminal(view.file)}`,
    ...formatChecks(view.checks, streams),
  ].join("\n");
}
