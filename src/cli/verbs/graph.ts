/** `splashdown graph`: a workflow file, or a task's definition, as a drawing for Mermaid or Graphviz. */
import type { Command } from "commander";
import { MODULE_HELP, runAside } from "../command/aside.js";
import { SplashdownError } from "../../base/errors.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerGraph(program: Command, deps: CliDeps): void {
  program
    .command("graph")
    .description("draw a workflow: phases, dependencies, routes with their conditions, parallel groups")
    .argument("[file]", "workflow file")
    .option("--task <task>", "the definition of this task instead of a file")
    .option("--dot", "DOT for Graphviz instead of Mermaid")
    .addHelpText("after", MODULE_HELP)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "drawn"],
        [2, "the file is not valid; each fault is named"],
        [10, "no such file or task"],
      ]),
    )
    .action(async (file: string | undefined, flags: GraphFlags, command: Command) => {
      if (file !== undefined && flags.task === undefined && (await runAside(deps, file))) return;
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.graph(chooseSubject(file, flags), flags.dot === true ? "dot" : "mermaid");
        print(view, ({ text }) => cleanForTerminal(text));
      });
    });
}

interface GraphFlags {
  readonly dot?: boolean;
  readonly task?: string;
}

/** Errors: USAGE_INVALID for neither or both. */
function chooseSubject(file: string | undefined, { task }: GraphFlags): string | { readonly task: string } {
  if (file !== undefined && task === undefined) return file;
  if (file === undefined && task !== undefined) return { task };
  throw new SplashdownError("USAGE_INVALID", "graph draws one thing: a workflow file, or the task that --task names");
}
