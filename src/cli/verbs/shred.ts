/** `splashdown keys shred`: makes a task unreadable for good. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { ShredView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const STATUSES = describeStatuses([
  [0, "done, or it was so before, or the answer was no"],
  [2, "nothing in the task is sealed, or --yes is missing without a terminal"],
  [4, "the store cannot be written"],
  [10, "no such task"],
  [11, "owned by a living process, which holds the key"],
]);

export function registerShred(group: Command, deps: CliDeps): void {
  group
    .command("shred")
    .description("destroy the keys of one task: its checkpoints become noise, also in copies without a keyring")
    .argument("<task>", "task name, id or workflow name")
    .option("--yes", "do not ask")
    .addHelpText("after", STATUSES)
    .action((task: string, { yes }: { yes?: boolean }, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const confirm = (plan: ShredView): Promise<boolean> => (yes === true ? Promise.resolve(true) : ask(deps, plan));
        print(await splashdown.keys.shred(task, { confirm }), formatShred);
      }),
    );
}

async function ask({ streams }: CliDeps, plan: ShredView): Promise<boolean> {
  streams.error(
    cleanForTerminal(
      `${plan.task}: ${plan.keyrings.join(", ")} would be written over and removed; nothing brings them back.\n` +
        `  Copies of them elsewhere still open it, and a disk may keep old bytes. Files in ${plan.folder} are plain and stay.\n`,
    ),
  );
  if (!streams.interactive)
    throw new SplashdownError("USAGE_INVALID", "nothing was destroyed: without a terminal --yes is needed");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: "destroy the keys for good?", initialValue: false, output: process.stderr });
  return !isCancel(answer) && answer;
}

/** With what the store may still hold. */
export function formatShred({ task, shredded, keyrings, folder, may_remain: remains = [] }: ShredView): string {
  const done = `${keyrings.length} keyring files destroyed; its deliverables in ${folder} are plain files and stay`;
  const lines = [`${task}: ${shredded ? done : "nothing was changed"}`, ...remains.map((text) => `  but ${text}`)];
  return cleanForTerminal(lines.join("\n"));
}
