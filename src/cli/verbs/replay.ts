/** `splashdown debug replay`: a task's story again; runs nothing, unless `--live` asks for a fork that runs. */
import type { CommandWriter } from "../../base/command-text.js";
import type { Command } from "commander";
import type { ReplayView } from "../../runtime/contract.js";
import type { CliDeps, Streams } from "../terminal/deps.js";
import { CHECKPOINT, CHECKPOINT_TASK, collectTexts, requireNamed, withinTask } from "../command/flags.js";
import { formatClock } from "../terminal/local-time.js";
import { cleanForTerminal } from "../terminal/output.js";
import { watchProgress } from "../terminal/progress.js";
import { RUN_STATUSES } from "./run.js";
import { formatRun } from "../text/run-text.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

interface ReplayFlags {
  readonly checkpoint: string;
  readonly task?: string;
  readonly until?: string;
  readonly live?: boolean;
  readonly answer?: readonly string[];
  readonly skipGates?: boolean;
}

export function registerReplay(group: Command, deps: CliDeps): void {
  group
    .command("replay")
    .description("tell the story up to a checkpoint, and where today's engine would choose otherwise; runs nothing")
    .requiredOption("--checkpoint <checkpoint>", CHECKPOINT)
    .option("--task <task>", CHECKPOINT_TASK)
    .option("--until <step>", "end the story where this step ended; with --live stop before it")
    .option("--live", "fork the task at the checkpoint and run the fork")
    .option("--answer <gate=value>", "with --live: answer a gate ahead, or questions (repeatable)", collectTexts)
    .option("--skip-gates", "with --live: gates take their default; one without a default stays open")
    .addHelpText("after", describeStatuses(RUN_STATUSES))
    .action(async ({ checkpoint, task, answer, ...flags }: ReplayFlags, command: Command) => {
      const answers = answer === undefined ? {} : { answers: requireNamed(answer) };
      await withSplashdown({ command, deps }, async ({ splashdown, options, print }) => {
        const progress = flags.live === true ? watchProgress(splashdown, deps.streams, options) : undefined;
        const view = await splashdown.debug
          .replay(withinTask(checkpoint, task), { ...flags, ...answers, signal: deps.signal })
          .finally(() => progress?.stop());
        print(view, (replay, write) => formatReplay(replay, deps.streams, write));
        if (view.live !== undefined) deps.exit(view.live.result.exit_status);
      });
    });
}

function formatReplay(view: ReplayView, streams: Streams, write: CommandWriter): string {
  if (view.live !== undefined) {
    const { fork, result } = view.live;
    return [
      `forked ${cleanForTerminal(fork.task)} from checkpoint ${fork.from.seq} of ${cleanForTerminal(view.task)}`,
      formatRun(result, streams, write),
    ].join("\n");
  }
  const story = view.story.map(
    (event) =>
      `${String(event.n).padStart(6)}  ${formatClock(event.at)}  ${cleanForTerminal(event.text).replaceAll("\n", " ")}`,
  );
  const differences =
    view.differences.length === 0
      ? ["today's engine makes the same choices"]
      : [
          `today's engine would choose otherwise in ${view.differences.length} places:`,
          ...view.differences.map((item) => `  ${cleanForTerminal(JSON.stringify(item))}`),
        ];
  const end = view.until === undefined ? "" : `, to the end of ${cleanForTerminal(view.until)}`;
  return [
    `replay of ${view.task}, events ${view.from} to ${view.to}${end}; nothing was run`,
    ...story,
    "",
    ...differences,
  ].join("\n");
}
