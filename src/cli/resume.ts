/** `splashdown resume`: goes on with a task, after showing what is done, what will run, and what runs again and why. */
import type { Command } from "commander";
import { SplashdownError } from "../base/errors.js";
import type { OnUnknown, PlanView, ResumeOptions, RunView } from "../runtime/contract.js";
import { askInTerminal } from "./ask.js";
import type { CliDeps } from "./deps.js";
import { collectPairs, parseOnUnknown } from "./flags.js";
import { watchProgress } from "./progress.js";
import { RUN_STATUSES } from "./run.js";
import { formatPlan, formatRun } from "./run-text.js";
import { describeStatuses, withSplashdown } from "./verb.js";

interface ResumeFlags {
  readonly checkpointId?: string;
  readonly answer?: string;
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Record<string, string>;
  readonly extend?: Record<string, string>;
  readonly acceptChanges?: boolean;
  readonly acceptLoss?: boolean;
  readonly takeOver?: boolean;
  readonly wait?: boolean;
  readonly plan?: boolean;
}

export function registerResume(program: Command, deps: CliDeps): void {
  program
    .command("resume")
    .description("go on with a task where it stopped; prints the plan first")
    .argument("[task]", "task name, id, or workflow name when only one task fits")
    .option("--checkpoint-id <id>", "find the task by one of its checkpoints")
    .option("--answer <value>", "answer the task's one open question")
    .option("--on-unknown <what>", "ask, rerun, skip or fail steps of unknown outcome", parseOnUnknown)
    .option("--unknown <step=what>", "the same for one step (repeatable)", collectPairs)
    .option("--extend <limit=value>", "raise a limit, e.g. max_iterations=20 (repeatable)", collectPairs)
    .option("--accept-changes", "go on although the workflow file has changed")
    .option("--accept-loss", "go on although records are damaged or the folder is older than it was")
    .option("--take-over", "go on although it is unclear whether the owner lives")
    .option("--wait", "sleep through long waits instead of ending with status 75")
    .option("--plan", "print the plan and run nothing")
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
    throw new SplashdownError("USAGE_INVALID", "name a task, or give --checkpoint-id", { details: {} });
  }
  const { plan, ...rest } = flags;
  const request: ResumeOptions = {
    ...rest,
    ...(task === undefined ? {} : { task }),
    ...(plan === true ? { planOnly: true } : {}),
    signal: deps.signal,
  };
  const ask = deps.streams.interactive ? { ask: askInTerminal } : {};
  await withSplashdown(
    { command, deps },
    async ({ splashdown, options, print }) => {
      if (plan !== true && options.json !== true) await printPlanFirst(request, { splashdown, deps });
      const progress = watchProgress(splashdown, deps.streams, options);
      const view = await splashdown.resume(request).finally(() => progress.stop());
      if (isPlan(view)) return print(view, formatPlan);
      print(view, (run) => formatRun(run, deps.streams));
      deps.exit(view.exit_status);
    },
    ask,
  );
}

interface PlanDeps {
  readonly splashdown: { resume(options: ResumeOptions): Promise<RunView | PlanView> };
  readonly deps: CliDeps;
}

async function printPlanFirst(request: ResumeOptions, { splashdown, deps }: PlanDeps): Promise<void> {
  const view = await splashdown.resume({ ...request, planOnly: true });
  if (isPlan(view)) deps.streams.error(`${formatPlan(view)}\n`);
}

function isPlan(view: RunView | PlanView): view is PlanView {
  return "to_rerun" in view;
}
