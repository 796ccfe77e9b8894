/** `splashdown resume`: goes on with a task, after showing what is done, what will run, and what runs again and why. */
import { Option, type Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { OnUnknown, PlanView, ResumeOptions, RunView } from "../../runtime/contract.js";
import { askOn } from "../terminal/ask.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { announceFirst, CHILD_FLAG, runDetached } from "../command/detach.js";
import { collectPairs, collectTexts, readAnswers, parseJsonFlag, parseOnUnknown } from "../command/flags.js";
import { watchProgress } from "../terminal/progress.js";
import { RUN_STATUSES } from "./run.js";
import { formatPlan, formatRun } from "../text/run-text.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

interface ResumeFlags {
  readonly checkpointId?: string;
  readonly from?: string;
  readonly answer?: readonly string[];
  readonly skipGates?: boolean;
  readonly output?: string;
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Record<string, string>;
  readonly extend?: Record<string, string>;
  readonly acceptChanges?: boolean;
  readonly acceptLoss?: boolean;
  readonly takeOver?: boolean;
  readonly here?: boolean;
  readonly wait?: boolean;
  readonly plan?: boolean;
  readonly detach?: boolean;
  readonly detachedChild?: boolean;
}

export function registerResume(program: Command, deps: CliDeps): void {
  program
    .command("resume")
    .description("resume a task where it stopped; prints the plan first")
    .argument("[task]", "task name, id, or workflow name when only one task fits")
    .option("--checkpoint-id <id>", "go back to this checkpoint first, in the task that has it; nothing is deleted")
    .option("--from <checkpoint>", "go back to this checkpoint first: sequence, id, phaseN; nothing is deleted")
    .option(
      "--answer <value>",
      "answer the task's one open question, or with GATE=VALUE a gate, also one that opens later (repeatable)",
      collectTexts,
    )
    .option("--skip-gates", "gates take their default; one without a default stays open")
    .option("--output <json>", "the value that goes with --answer, e.g. the output of a step that is done")
    .option("--on-unknown <what>", "ask, rerun, skip or fail steps of unknown outcome", parseOnUnknown)
    .option("--unknown <step=what>", "the same for one step: rerun, skip, fail or done:JSON (repeatable)", collectPairs)
    .option("--extend <limit=amount>", "add to a limit, e.g. max_iterations=20 (repeatable)", collectPairs)
    .option("--accept-changes", "continue although the workflow file has changed")
    .option("--accept-loss", "continue although records are damaged or the folder is older than it was")
    .option("--take-over", "continue although it is unclear whether the owner lives")
    .option("--here", "the task lives in this place from now on: a copy of it, or one in another task's place")
    .option("--wait", "sleep through long waits too; without it those over a minute end with status 75")
    .option("--no-wait", "end with status 75 at every wait until a time")
    .option("--plan", "print the plan and run nothing")
    .option("--detach", "continue in the background: print the task's name as soon as it has started, and leave")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addHelpText("after", describeStatuses(RUN_STATUSES))
    .action((task: string | undefined, flags: ResumeFlags, command: Command) =>
      runResume(task, flags, { command, deps }),
    );
}

async function runResume(
  task: string | undefined,
  flags: ResumeFlags,
  { command, deps }: { command: Command; deps: CliDeps },
): Promise<void> {
  if ((task === undefined) === (flags.checkpointId === undefined)) {
    throw new SplashdownError("USAGE_INVALID", "name a task, or give --checkpoint-id");
  }
  const { plan, output, answer, detach, detachedChild, ...rest } = flags;
  if (output !== undefined && flags.answer === undefined)
    throw new SplashdownError("USAGE_INVALID", "--output goes with --answer");
  if (detach === true && plan !== true) return runDetached(deps, command.optsWithGlobals<GlobalOptions>());
  const request: ResumeOptions = {
    ...rest,
    ...answersOf(answer),
    ...(task === undefined ? {} : { task }),
    ...(output === undefined ? {} : { value: parseJsonFlag("--output", output) }),
    ...(plan === true ? { planOnly: true } : {}),
    signal: deps.signal,
  };
  const ask = deps.streams.interactive ? { ask: askOn(deps.streams) } : {};
  await withSplashdown(
    { command, deps },
    async ({ splashdown, options, print }) => {
      const progress = watchProgress(splashdown, deps.streams, options);
      if (detachedChild === true) announceFirst(splashdown, deps.streams);
      const isSilent = options.json === true || options.quiet === true;
      const onPlan = (view: PlanView): void => {
        if (!isSilent) deps.streams.error(`${formatPlan(view)}\n`);
      };
      const view = await splashdown.resume({ ...request, onPlan }).finally(() => progress.stop());
      if (isPlan(view)) return print(view, formatPlan);
      print(view, (run, write) => formatRun(run, deps.streams, write));
      deps.exit(view.exit_status);
    },
    ask,
  );
}

function answersOf(texts: readonly string[] = []): Pick<ResumeOptions, "answer" | "answers"> {
  const { bare, answers } = readAnswers(texts);
  return { answers, ...(bare === undefined ? {} : { answer: bare }) };
}

function isPlan(view: RunView | PlanView): view is PlanView {
  return "to_rerun" in view;
}
