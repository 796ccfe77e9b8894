/** `splashdown graph`: a workflow file as a drawing, for Mermaid or Graphviz. */
import type { Command } from "commander";
import { MODULE_HELP, runAside } from "../command/aside.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerGraph(program: Command, deps: CliDeps): void {
  program
    .command("graph")
    .description("draw a workflow file: phases, dependencies, routes with their conditions, parallel groups")
    .argument("<file>", "workflow file")
    .option("--dot", "DOT for Graphviz instead of Mermaid")
    .addHelpText("after", MODULE_HELP)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "drawn"],
        [2, "the file is not valid; each fault is named"],
        [10, "no such file"],
      ]),
    )
    .action(async (file: string, flags: { dot?: boolean }, command: Command) => {
      if (await runAside(deps, file)) return;
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.graph(file, flags.dot === true ? "dot" : "mermaid");
        print(view, ({ text }) => cleanForTerminal(text));
      });
    });
}
