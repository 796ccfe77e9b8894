/** `splashdown store trash|remove|restore|purge`. */
import type { Command } from "commander";
import type { TrashView } from "../../runtime/contract.js";
import { addRemovalFlags, confirmIn, dryRunOf, type RemovalFlags } from "../command/confirmation.js";
import type { CliDeps } from "../terminal/deps.js";
import { formatCount } from "../../base/plain-text.js";
import { cleanForTerminal, formatSize } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const TRASH_STATUSES: readonly (readonly [number, string])[] = [
  [0, "done, or nothing to do, or only planned"],
  [2, "--yes is missing without a terminal, or several tasks fit"],
  [4, "the store cannot be read or written"],
  [10, "no such task, or not in the trash"],
  [11, "owned by a living process"],
];

export function registerTrash(group: Command, deps: CliDeps): void {
  group
    .command("trash")
    .description("list the tasks in the trash, their sizes, and how long they can be restored")
    .addHelpText("after", describeStatuses(TRASH_STATUSES))
    .action((_flags: object, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.store.trash(), formatTrash);
      }),
    );
  addRemovalFlags(
    TRASH_STATUSES,
    group
      .command("remove")
      .description("move whole tasks to the trash, whatever their status; deliverables stay")
      .argument("<tasks...>", "task names, ids or workflow names"),
  ).action((tasks: string[], flags: RemovalFlags, command: Command) =>
    withSplashdown({ command, deps }, async ({ splashdown, print, ...context }) => {
      const confirm = confirmIn(context, flags, formatTrash);
      print(await splashdown.store.remove(tasks, { ...dryRunOf(flags), confirm }), formatTrash);
    }),
  );
  group
    .command("restore")
    .description("bring tasks back from the trash, as they were")
    .argument("<tasks...>", "task names")
    .addHelpText("after", describeStatuses(TRASH_STATUSES))
    .action((tasks: string[], _flags: object, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.store.restore(tasks), formatTrash);
      }),
    );
  addRemovalFlags(
    TRASH_STATUSES,
    group
      .command("purge")
      .description("remove tasks in the trash for good")
      .argument("[tasks...]", "task names; all that is in the trash without"),
  ).action((tasks: string[], flags: RemovalFlags, command: Command) =>
    withSplashdown({ command, deps }, async ({ splashdown, print, ...context }) => {
      const confirm = confirmIn(context, flags, formatTrash);
      print(await splashdown.store.purge(tasks, { ...dryRunOf(flags), confirm }), formatTrash);
    }),
  );
}

const DONE = {
  list: "in the trash",
  remove: "moved to the trash",
  restore: "restored",
  purge: "removed for good",
} as const;
const PLANNED = { ...DONE, remove: "would be moved to the trash", purge: "would be removed for good" } as const;

function formatTrash({ action, dry_run: isPlan, tasks }: TrashView): string {
  if (tasks.length === 0) return action === "remove" ? "no tasks" : "the trash is empty";
  const lines = tasks.map(({ task, size, trashed_at, purged_after }) => {
    const isThere = action === "list" || action === "remove";
    const until = isThere ? `, can be restored until ${purged_after ?? ""}` : "";
    const since = trashed_at === undefined ? "" : `  (${isThere ? "" : "in the trash "}since ${trashed_at}${until})`;
    return `${task}  ${formatSize(size)}: ${isPlan ? PLANNED[action] : DONE[action]}${since}`;
  });
  const total = tasks.reduce((sum, { size }) => sum + size, 0);
  return cleanForTerminal([...lines, `${formatCount(tasks.length, "task")}, ${formatSize(total)}`].join("\n"));
}
