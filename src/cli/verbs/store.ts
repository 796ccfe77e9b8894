/** `splashdown store copy|trash|remove|restore|purge`: whole tasks, to another store, to the trash and back. */
import { formatCount } from "../../base/plain-text.js";
import type { Command } from "commander";
import type { StoreCopyView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal, formatSize } from "../terminal/output.js";
import { registerTrash } from "./trash.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const STATUSES = describeStatuses([
  [0, "copied, and proved byte by byte"],
  [2, "an address names no store, or the task is there already"],
  [4, "a store cannot be reached, read or written"],
  [10, "no such task"],
  [11, "owned by a living process"],
]);

export function registerStore(program: Command, deps: CliDeps): void {
  const group = program.command("store").description("where tasks are kept");
  registerTrash(group, deps);
  group
    .command("copy")
    .description("copy tasks to another store, sealed as they are; the origin is only read")
    .argument("[tasks...]", "task names; all without")
    .requiredOption("--from <address>", "the store to read, e.g. file:outputs")
    .requiredOption("--to <address>", "the store to write, e.g. sqlite:tasks.db")
    .addHelpText("after", STATUSES)
    .action((tasks: string[], flags: { from: string; to: string }, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const some = tasks.length === 0 ? {} : { tasks };
        print(await splashdown.store.copy({ from: flags.from, to: flags.to, ...some }), formatCopies);
      }),
    );
}

function formatCopies({ tasks, from, to }: StoreCopyView): string {
  if (tasks.length === 0) return cleanForTerminal(`no tasks in ${from}`);
  const lines = tasks.map(
    ({ task, files, size, deliverables, deliverables_copied: copied, next }) =>
      `${task}: ${formatCount(files, "file")}, ${formatSize(size)}, the same in both stores\n` +
      `  its deliverables ${copied === 0 ? "are" : `(${formatCount(copied, "file")}) were copied, they are`} in ${deliverables}\n  ${next}`,
  );
  const last = `Continue with each task in one of the stores only; the other place would do its steps once more.`;
  return cleanForTerminal([`copied to ${to}`, ...lines, last].join("\n"));
}
