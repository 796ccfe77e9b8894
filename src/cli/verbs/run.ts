/** `splashdown run`: starts a task, or goes on with the unfinished one of the same definition and inputs. */
import { Option, type Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { OnUnknown } from "../../runtime/contract.js";
import { askOn } from "../terminal/ask.js";
import { runAside } from "../command/aside.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { announceFirst, CHILD_FLAG, runDetached } from "../command/detach.js";
import { collectPairs, collectTexts, parseOnUnknown, requireNamed } from "../command/flags.js";
import { readInputsFile } from "../command/inputs-file.js";
import { cleanForTerminal } from "../terminal/output.js";
import { watchProgress } from "../terminal/progress.js";
import { createCommandWriter, repeatFlagsIn } from "../command/next-command.js";
import { formatRun } from "../text/run-text.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export const RUN_STATUSES: readonly (readonly [number, string])[] = [
  [0, "done"],
  [2, "the file, a setting or a flag is not valid, or several tasks fit"],
  [3, "finished, but partial or below the wanted confidence"],
  [4, "failed"],
  [10, "not found"],
  [11, "owned by a living process"],
  [12, "key missing or wrong"],
  [13, "damaged or unsupported"],
  [14, "a step crashed its process too often and is parked"],
  [15, "tampered with, or rolled back"],
  [20, "a person is needed (a question, or paused by request)"],
  [21, "a limit is reached"],
  [22, "the outcome of a step is unknown"],
  [75, "paused until a time; running again then continues by itself"],
  [130, "ended by Ctrl+C, everything saved (129: hang-up, 143: stop)"],
];

const GOAL_HELP = `
A goal can stand in a file too, with all that a file may say beside it (other models for planning, judging and choosing,
consolidate, limits, tools, settings), e.g.:
  workflow: {name: report, runtime: {provider: openai, default_model: NAME}, limits: {budget_usd: 2}}
  goal: "…"
  plan: {approve: true, replan: true, max_phases: 5, max_specialists: 12}
  atlas: {mode: model}
`;

interface RunFlags {
  readonly goal?: string;
  readonly approvePlan?: boolean;
  readonly replan?: boolean;
  readonly maxPhases?: number;
  readonly maxSpecialists?: number;
  readonly atlasMode?: "rules" | "model";
  readonly budgetUsd?: number;
  readonly task?: string;
  readonly soleTask?: string;
  readonly input?: Record<string, string>;
  readonly inputs?: string;
  readonly new?: boolean;
  readonly breakAt?: readonly string[];
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly dryRun?: boolean;
  readonly detachedChild?: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly onUnknown?: OnUnknown;
  readonly unknown?: Record<string, string>;
  readonly answer?: readonly string[];
  readonly skipGates?: boolean;
}

export function registerRun(program: Command, deps: CliDeps): void {
  program
    .command("run")
    .description(
      "run a workflow file or a goal; an unfinished task of the same file and inputs continues, or tells what it waits for",
    )
    .argument("[file]", "workflow: YAML, JSON, or a module that exports defineWorkflow(…)")
    .option(
      "--goal <text>",
      "instead of a file: what is wanted; a model plans the phases (give --provider and --model)",
    )
    .option("--approve-plan", "with --goal: ask before the plan is followed")
    .option("--replan", "with --goal: look at the rest of the plan again after each phase")
    .option("--max-phases <number>", "with --goal: phases of the plan at most", parseCount("--max-phases", 50))
    .option(
      "--max-specialists <number>",
      "with --goal: specialists in all phases at most",
      parseCount("--max-specialists", 200),
    )
    .addOption(
      new Option(
        "--atlas-mode <mode>",
        "with --goal: who chooses what follows from a phase, the rules or a model",
      ).choices(["rules", "model"]),
    )
    .option("--budget-usd <number>", "with --goal: what it may cost at most", parseDollars)
    .option("--task <name>", "name of the task's folder under outputs/")
    .option("--input <name=value>", "an input of the workflow (repeatable)", collectPairs)
    .option("--inputs <file>", "inputs as a JSON or YAML file; - reads them from stdin")
    .option("--break-at <step>", "stop before this step, by path or name, with a checkpoint (repeatable)", collectTexts)
    .option("--new", "start another task even where an unfinished one of the same file and inputs stands")
    .option("--wait", "sleep through long waits too; without it those over a minute end with status 75")
    .option("--no-wait", "end with status 75 at every wait until a time")
    .option("--dry-run", "check the file, inputs and settings, print the plan, make nothing; a module is loaded for it")
    .option("--detach", "run in the background: print the task's name as soon as it has started, and leave")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addOption(
      new Option("--sole-task <name>", "the same, unless an unfinished one stands under another name").hideHelp(),
    )
    .option("--provider <name>", "model provider for steps that name none")
    .option("--model <name>", "model for steps that name none")
    .option(
      "--on-unknown <what>",
      "ask, rerun, skip or fail steps whose outcome is unknown after a crash",
      parseOnUnknown,
    )
    .option("--unknown <step=what>", "the same for one step: rerun, skip, fail or done:JSON (repeatable)", collectPairs)
    .option("--answer <gate=value>", "answer a gate ahead, or questions with a JSON map (repeatable)", collectTexts)
    .option("--skip-gates", "gates take their default; one without a default stays open")
    .addHelpText("after", GOAL_HELP)
    .addHelpText("after", describeStatuses(RUN_STATUSES))
    .action((file: string | undefined, flags: RunFlags, command: Command) => runRun(file, flags, { command, deps }));
}

async function runRun(
  file: string | undefined,
  flags: RunFlags,
  { command, deps }: { command: Command; deps: CliDeps },
): Promise<void> {
  if (flags.input !== undefined && flags.inputs !== undefined) {
    throw new SplashdownError("USAGE_INVALID", "give --input or --inputs, not both");
  }
  const workflow = await chooseWorkflow(file, flags);
  if (flags.dryRun === true && file !== undefined && (await runAside(deps, file))) return;
  if (flags.dryRun === true) return runDry(workflow, flags, { command, deps });
  const inputs = flags.inputs === undefined ? undefined : await readInputsFile(flags.inputs, deps.streams);
  if (flags.detach === true) {
    // Its stdin is not the child's, who reads the same from its own.
    const input = flags.inputs === "-" ? JSON.stringify(inputs) : undefined;
    return runDetached(deps, command.optsWithGlobals<GlobalOptions>(), input);
  }
  const ask = deps.streams.interactive ? { ask: askOn(deps.streams) } : {};
  await withSplashdown(
    { command, deps },
    async ({ splashdown, options, print }) => {
      const progress = watchProgress(splashdown, deps.streams, options);
      if (flags.detachedChild === true) announceFirst(splashdown, deps.streams);
      const view = await splashdown
        .run({
          workflow,
          signal: deps.signal,
          inputs,
          inputTexts: flags.input,
          task: flags.task,
          soleTask: flags.soleTask,
          fresh: flags.new,
          askedMsAgo: deps.uptimeMs?.(),
          breakAt: flags.breakAt,
          wait: flags.wait,
          provider: flags.provider,
          model: flags.model,
          onUnknown: flags.onUnknown,
          unknown: flags.unknown,
          answers: requireNamed(flags.answer),
          skipGates: flags.skipGates,
        })
        .finally(() => progress.stop());
      if (flags.detachedChild === true)
        deps.streams.error(
          `${formatRun(repeatFlagsIn({ ...view, output: undefined }, options), deps.streams, createCommandWriter(options))}\n`,
        );
      print(view, (run, write) => formatRun(run, deps.streams, write));
      deps.exit(view.exit_status);
    },
    ask,
  );
}

/** A file, or a goal in words. Errors: USAGE_INVALID. */
async function chooseWorkflow(file: string | undefined, flags: RunFlags): Promise<string | object> {
  const { goal, approvePlan: approve, replan, maxPhases, maxSpecialists, atlasMode, budgetUsd } = flags;
  if ((file === undefined) === (goal === undefined))
    throw new SplashdownError("USAGE_INVALID", "give a workflow file or --goal TEXT, one of the two");
  if (goal !== undefined) {
    const { createGoalWorkflow } = await import("../../runtime/verbs/goal-workflow.js");
    const bounds = { phasesMax: maxPhases, specialistsMax: maxSpecialists };
    return createGoalWorkflow({ goal, approve, replan, ...bounds, atlasMode, budgetUsd });
  }
  const only = Object.entries({
    "--approve-plan": approve,
    "--replan": replan,
    "--max-phases": maxPhases,
    "--max-specialists": maxSpecialists,
    "--atlas-mode": atlasMode,
    "--budget-usd": budgetUsd,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (only.length > 0)
    throw new SplashdownError("USAGE_INVALID", `${only.join(", ")}: with --goal only; a file says it itself`);
  return file as string;
}

function parseCount(flag: string, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new SplashdownError("USAGE_INVALID", `${flag} takes a number from 1 to ${most}, not ${text}`);
  };
}

function parseDollars(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new SplashdownError("USAGE_INVALID", `--budget-usd must be a number of dollars above 0, not ${text}`);
}

async function runDry(
  workflow: string | object,
  flags: RunFlags,
  verb: { command: Command; deps: CliDeps },
): Promise<void> {
  const inputs = flags.inputs === undefined ? undefined : await readInputsFile(flags.inputs, verb.deps.streams);
  const { provider, model, input: inputTexts } = flags;
  await withSplashdown(verb, async ({ splashdown, print }) => {
    const view = await splashdown.dryRun({ workflow, inputs, inputTexts, provider, model });
    print(view, ({ text }) => cleanForTerminal(text));
  });
}
