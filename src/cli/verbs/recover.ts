/** `splashdown recover`: resumes every crashed task and every one whose time has come. */
import type { Command } from "commander";
import type { RecoverView } from "../../runtime/contract.js";
import { describeShared, shareProblems, type SharedProblem, type TaskProblem } from "../../base/shared-problems.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { watchProgress } from "../terminal/progress.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerRecover(program: Command, deps: CliDeps): void {
  program
    .command("recover")
    .description("scan all tasks; resume every crashed one and every one whose time has come")
    .option("--new-here", "also those that this machine never ran: imported, copied in, restored, started elsewhere")
    .option("--wait", "sleep through long waits instead of leaving the task")
    .option("--no-wait", "leave the task at every wait until a time")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "everything that could be resumed was, or there was nothing to do"],
        [4, "a task that was resumed failed, or several could not be for different reasons; the report says which"],
        [12, "a task that was under way cannot be resumed: key missing or wrong"],
        [13, "the same: damaged or unsupported"],
        [15, "the same: tampered with, or rolled back"],
      ]),
    )
    .action(async (flags: { wait?: boolean; newHere?: boolean }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, options, print }) => {
        const progress = watchProgress(splashdown, deps.streams, options);
        const view = await splashdown.recover({ ...flags, signal: deps.signal }).finally(() => progress.stop());
        print(view, formatRecover);
        deps.exit(view.exit_status);
      });
    });
}

function formatRecover(view: RecoverView): string {
  if (view.tasks.length === 0) return "no tasks";
  const shared = shareProblems(view.tasks.flatMap(toProblem));
  const firsts = new Map(shared.map((problem) => [problem.tasks[0], problem]));
  const isTold = new Set(shared.flatMap(({ tasks }) => tasks.slice(1)));
  return view.tasks
    .filter(({ task }) => !isTold.has(task))
    .flatMap((entry) => formatEntry(entry, firsts.get(entry.task)))
    .join("\n");
}

type RecoveredTask = RecoverView["tasks"][number];

function toProblem({ task, action, why, code, hint }: RecoveredTask): TaskProblem[] {
  return action === "failed" && code !== undefined ? [{ task, code, message: why, hint: hint ?? "" }] : [];
}

/** What stands against several tasks is said with the first of them. */
function formatEntry({ task, action, why, result, hint }: RecoveredTask, shared: SharedProblem | undefined): string[] {
  const mark = { taken_up: "✓", left: "·", failed: "✗" } as const;
  const told = shared === undefined ? `${task}: ${why}` : describeShared(shared);
  return [
    `${mark[action]} ${cleanForTerminal(told)}${result === undefined ? "" : `; now ${result.status}`}`,
    ...(hint === undefined ? [] : [`  → ${hint}`]),
  ];
}
