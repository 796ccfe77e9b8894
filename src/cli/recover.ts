/** `splashdown recover`: takes up every crashed task and every one whose time has come. */
import type { Command } from "commander";
import type { RecoverView } from "../runtime/contract.js";
import type { CliDeps } from "./deps.js";
import { cleanForTerminal } from "./output.js";
import { watchProgress } from "./progress.js";
import { describeStatuses, withSplashdown } from "./verb.js";

export function registerRecover(program: Command, deps: CliDeps): void {
  program
    .command("recover")
    .description("scan all tasks; take up every crashed one and every one whose time has come")
    .option("--wait", "sleep through long waits instead of leaving the task")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "everything that could be taken up was, or there was nothing to do"],
        [4, "a task that was taken up failed, or could not be taken up; the report says which"],
        [12, "key missing or wrong"],
      ]),
    )
    .action(async (flags: { wait?: boolean }, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, options, print }) => {
        const progress = watchProgress(splashdown, deps.streams, options);
        const view = await splashdown
          .recover({ signal: deps.signal, ...(flags.wait === undefined ? {} : { wait: flags.wait }) })
          .finally(() => progress.stop());
        print(view, formatRecover);
        const failed = view.tasks.some((task) => task.action === "failed" || task.result?.status === "failed");
        deps.exit(failed ? 4 : 0);
      });
    });
}

function formatRecover(view: RecoverView): string {
  if (view.tasks.length === 0) return "no tasks";
  const mark = { taken_up: "✓", left: "·", failed: "✗" } as const;
  return view.tasks
    .map(
      (task) =>
        `${mark[task.action]} ${task.task}: ${cleanForTerminal(task.why)}${task.result === undefined ? "" : `; now ${task.result.status}`}`,
    )
    .join("\n");
}
