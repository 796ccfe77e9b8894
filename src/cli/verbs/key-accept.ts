/** `splashdown keys accept`: a person's word that a task's keyring is meant as it is. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { AcceptedKeys } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const STATUSES = describeStatuses([
  [0, "done, or nothing stood against it, or the answer was no"],
  [2, "the task has no keyring, or --yes is missing without a terminal"],
  [10, "no such task"],
  [12, "key missing or wrong"],
  [13, "a keyring is damaged"],
  [15, "the keyring was changed by someone without its key: no word mends that"],
]);

export function registerAccept(group: Command, deps: CliDeps): void {
  group
    .command("accept")
    .description("say that a task's keyring is meant though it is older, or nothing proves who locked it")
    .argument("<task>", "task name, id or workflow name")
    .option("--origin", "trust whoever signed it for other tasks too")
    .option("--yes", "do not ask")
    .addHelpText("after", STATUSES)
    .action((task: string, { yes, origin }: { yes?: boolean; origin?: boolean }, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const confirm = (plan: AcceptedKeys): Promise<boolean> =>
          yes === true ? Promise.resolve(true) : ask(deps, plan);
        print(await splashdown.keys.accept(task, { confirm, ...(origin === true ? { origin } : {}) }), formatAccepted);
      }),
    );
}

async function ask({ streams }: CliDeps, { objection, origin }: AcceptedKeys): Promise<boolean> {
  const signed = origin === undefined ? "nobody signed it" : `signed by ${origin}`;
  streams.error(cleanForTerminal(`${objection?.message ?? "nothing stands against it"}; ${signed}\n`));
  if (!streams.interactive)
    throw new SplashdownError("USAGE_INVALID", "nothing was accepted: without a terminal --yes is needed");
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: "is this keyring meant?", initialValue: false, output: process.stderr });
  return !isCancel(answer) && answer;
}

function formatAccepted({ task, accepted, file, objection }: AcceptedKeys): string {
  if (accepted) return cleanForTerminal(`${task}: ${file} counts from now on`);
  const why = objection === undefined ? "nothing stands against its keyring" : "nothing was changed";
  return cleanForTerminal(`${task}: ${why}`);
}
