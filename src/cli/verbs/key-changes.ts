/** `splashdown keys add|remove|rotate`: who can open a task, or all tasks. */
import { formatCount } from "../../base/plain-text.js";
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { KeyChangeView, KeyTarget, ReencryptedTask, Splashdown, TaskKeyChange } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { addSourceFlags, requireOneSource, type SourceFlags } from "./key-sources.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const STATUSES = describeStatuses([
  [0, "done, or nothing to change"],
  [2, "a flag is not valid, or it would lock somebody out"],
  [3, "with --all: one task or more was left as it is"],
  [10, "no such task, or nothing of that name opens it"],
  [11, "with --reencrypt: owned by a living process"],
  [12, "key missing or wrong"],
  [13, "a keyring is damaged"],
  [15, "a keyring was tampered with"],
]);

interface TargetFlags {
  readonly all?: boolean;
}

interface RotateFlags extends TargetFlags {
  readonly taskKey?: boolean;
  readonly dropAbsent?: boolean;
  readonly reencrypt?: boolean;
}

type Keys = Splashdown["keys"];

export function registerKeyChanges(group: Command, deps: CliDeps): void {
  const act = (command: Command, change: (keys: Keys) => Promise<KeyChangeView>): Promise<void> =>
    withSplashdown({ command, deps }, async ({ splashdown, print }) => {
      const view = await change(splashdown.keys);
      print(view, formatChange);
      deps.exit(view.exit_status);
    });
  addSourceFlags(
    addTarget(group.command("add").description("let another key, passphrase or command open a task, or all tasks")),
  )
    .addHelpText("after", STATUSES)
    .action((task: string | undefined, flags: SourceFlags & TargetFlags, command: Command) =>
      act(command, (keys) => keys.add(targetOf(task, flags), requireOneSource(flags))),
    );
  addTarget(
    group
      .command("remove")
      .description("take a key away, by its fingerprint, label or type; the last one stays")
      .argument("<name>", "fingerprint, label or type, as keys show TASK prints it"),
  )
    .addHelpText("after", STATUSES)
    .action((...[name, task, flags, command]: [string, string | undefined, TargetFlags, Command]) =>
      act(command, (keys) => keys.remove(targetOf(task, flags), name)),
    );
  addTarget(group.command("rotate").description("wrap the task's key again for every configured source"))
    .option(
      "--task-key",
      "make a new key for the task as well; new files are sealed with it, older ones stay as they are",
    )
    .option(
      "--reencrypt",
      "with --task-key: seal everything of the task again with the new key, so that the old one opens nothing that stays",
    )
    .option("--drop-absent", "also where a source that is not at hand can then not open it any more")
    .addHelpText("after", STATUSES)
    .action((task: string | undefined, flags: RotateFlags, command: Command) =>
      act(command, (keys) => keys.rotate(targetOf(task, flags), flags)),
    );
}

function addTarget(command: Command): Command {
  return command.argument("[task]", "task name, id or workflow name").option("--all", "every task of the store");
}

function targetOf(task: string | undefined, { all }: TargetFlags): KeyTarget {
  if ((task === undefined) === (all !== true)) {
    throw new SplashdownError("USAGE_INVALID", task === undefined ? "name a task, or say --all" : "a task, or --all");
  }
  return task === undefined ? "all" : { task };
}

function formatChange(view: KeyChangeView): string {
  if (view.tasks.length === 0) return "no tasks";
  return view.tasks.map(formatTask).join("\n");
}

function formatTask(change: TaskKeyChange): string {
  const { task, changed, revision, added = [], removed = [], note, error, key, generation, reencrypted } = change;
  if (error !== undefined) return cleanForTerminal(`FAIL ${task}: ${error.message}`);
  if (!changed) return cleanForTerminal(`ok   ${task}: ${note ?? "nothing to change"}`);
  const head = `ok   ${task}: keyring revision ${revision ?? "?"}, key ${key ?? "?"}, generation ${generation ?? "?"}`;
  return cleanForTerminal(
    [
      head,
      ...added.map((slot) => `     + ${slot}`),
      ...removed.map((slot) => `     - ${slot}`),
      ...(reencrypted === undefined ? [] : formatReencrypted(reencrypted)),
    ].join("\n"),
  );
}

function formatReencrypted({ records, snapshots, blobs, removed, left }: ReencryptedTask): string[] {
  return [
    `     sealed again: ${formatCount(records, "record")}, ${formatCount(snapshots, "snapshot file")}, ${formatCount(blobs, "large value")}`,
    `     removed: ${formatCount(removed.segments, "journal segment")}, ${formatCount(removed.snapshots, "snapshot file")}, ${formatCount(removed.blobs, "large value")}` +
      (removed.quarantined > 0 ? `, ${formatCount(removed.quarantined, "file")} in quarantine` : ""),
    ...left.map((file) => `     not taken along, its checkpoint is in the journal: ${file}`),
  ];
}
