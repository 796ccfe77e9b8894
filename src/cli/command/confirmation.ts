/** Verbs that remove show their plan first; a person is asked in the terminal, and without one `--yes` is needed. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import { repeatFlags } from "./next-command.js";
import { describeStatuses, type VerbContext } from "./verb.js";

export interface RemovalFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addRemovalFlags(statuses: Parameters<typeof describeStatuses>[0], command: Command): Command {
  return command
    .option("--dry-run", "show the plan and change nothing")
    .option("--yes", "remove without asking")
    .addHelpText("after", describeStatuses(statuses));
}

export function dryRunOf({ dryRun }: RemovalFlags): { dryRun?: boolean } {
  return dryRun === undefined ? {} : { dryRun };
}

/** Shows the plan on stderr; then `--yes`, the person in the terminal, or a refusal. */
export function confirmIn<Plan>(
  { deps: { streams }, options }: Pick<VerbContext, "deps" | "options">,
  { yes }: RemovalFlags,
  format: (plan: Plan) => string,
): (plan: Plan) => Promise<boolean> {
  return async (plan) => {
    if (yes === true) return true;
    streams.error(`${repeatFlags(format(plan), options)}\n`);
    if (!streams.interactive) {
      throw new SplashdownError(
        "USAGE_INVALID",
        "nothing was removed: without a terminal --yes is needed; --dry-run only shows the plan",
      );
    }
    const { confirm, isCancel } = await import("@clack/prompts");
    const answer = await confirm({ message: "remove this?", initialValue: false, output: process.stderr });
    return !isCancel(answer) && answer;
  };
}
