/** `splashdown explain`: what the reference says of a key, setting, verb, error code, exit status or variable. */
import type { Command } from "commander";
import { describeStatuses } from "../command/verb.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { formatView } from "../terminal/output.js";

const EXAMPLES = `
  splashdown explain effects             a key of workflow files
  splashdown explain step.retry          the same, of one place
  splashdown explain max_checkpoints     a setting
  splashdown explain STEP_FAILED         an error code
  splashdown explain 22                  an exit status
  splashdown explain debug replay        a verb
`;

export function registerExplain(program: Command, deps: CliDeps): void {
  program
    .command("explain")
    .description("explain a key, a setting, a verb, an error code, an exit status or a variable")
    .argument("<word...>", "what to explain")
    .addHelpText(
      "after",
      EXAMPLES +
        describeStatuses([
          [0, "explained"],
          [2, "nothing is called so; names that are like it are shown"],
        ]),
    )
    .action(async (words: string[], _flags: object, command: Command) => {
      const { findEntries, formatEntries } = await import("../reference/explain.js");
      const entries = findEntries(words.join(" "), program);
      const isJson = command.optsWithGlobals<GlobalOptions>().json === true;
      deps.streams.out(formatView(entries, isJson ? "json" : formatEntries));
    });
}
