/** `splashdown fork`: a new task from an old point of another one, which is not changed. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { JsonValue } from "../../base/json.js";
import type { ForkView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { parseJsonFlag } from "../command/flags.js";
import { cleanForTerminal } from "../terminal/output.js";
import { formatGoingOn } from "../text/run-text.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

interface ForkFlags {
  readonly from: string;
  readonly set?: Readonly<Record<string, JsonValue>>;
  readonly task?: string;
}

export function registerFork(program: Command, deps: CliDeps): void {
  program
    .command("fork")
    .description("a new task that begins where another one stood; the other one is not touched")
    .argument("<task>", "task name, id, or workflow name when only one task fits")
    .requiredOption("--from <checkpoint>", "sequence, id, beginning of an id, phaseN, file name, or latest")
    .option("--set <path=json>", "change inputs.…, channel.… or outputs.STEP.… first (repeatable)", collectChanges)
    .option("--task <name>", "name of the new task (default: the old one's with -fork)")
    .addHelpText("after", describeStatuses([...READING_STATUSES, [4, "the store cannot be written"]]))
    .action(async (task: string, flags: ForkFlags, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.fork(task, flags), formatFork);
      });
    });
}

/** Errors: USAGE_INVALID. */
function collectChanges(text: string, previous: Readonly<Record<string, JsonValue>> = {}): Record<string, JsonValue> {
  const at = text.indexOf("=");
  if (at <= 0) throw new SplashdownError("USAGE_INVALID", `expected path=json, got ${JSON.stringify(text)}`);
  return { ...previous, [text.slice(0, at)]: parseJsonFlag(`--set ${text.slice(0, at)}`, text.slice(at + 1)) };
}

function formatFork(view: ForkView): string {
  const { from, set, acted_since: acted } = view;
  return [
    `forked  ${cleanForTerminal(view.task)} from checkpoint ${from.seq} of ${cleanForTerminal(from.task)} (phase ${from.phase})`,
    ...set.map((path) => `  changed ${cleanForTerminal(path)}`),
    ...(acted.length === 0
      ? []
      : [
          `  done by ${cleanForTerminal(from.task)} since, and done again by the fork: ${cleanForTerminal(acted.join(", "))}`,
        ]),
    `  ${formatGoingOn(view.next)}`,
  ].join("\n");
}
