/** `splashdown checkpoints export|import`: a task in one file. */
import type { Command } from "commander";
import { SplashdownError } from "../../base/errors.js";
import type { ExportView, ImportView } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { addSourceFlags, readSourceFlags, type SourceFlags } from "./key-sources.js";
import { formatCount } from "../../base/plain-text.js";
import { cleanForTerminal, formatSize } from "../terminal/output.js";
import { describeStatuses, READING_STATUSES, withSplashdown } from "../command/verb.js";

const STATUSES: readonly (readonly [number, string])[] = [
  [0, "done"],
  [2, "a flag is not valid, the name is taken, or the file is there already"],
  [4, "the file or the store cannot be written"],
  ...READING_STATUSES.slice(2),
];

interface ExportFlags extends SourceFlags {
  readonly to: string;
  readonly redacted?: boolean;
  readonly withoutFiles?: boolean;
}

export function registerBundles(group: Command, deps: CliDeps): void {
  addSourceFlags(
    group
      .command("export")
      .description(
        "put a whole task with its files into one zip file, sealed; for those who open it now, or for the keys named",
      )
      .argument("<task>", "task name, id or workflow name")
      .requiredOption("--to <file>", "the new file; nothing is written over")
      .option("--without-files", "leave out what programs wrote into the task's folder by themselves")
      .option("--redacted", "a report for others instead: what happened, unencrypted, without any text or value"),
  )
    .addHelpText("after", describeStatuses(STATUSES))
    .action((task: string, flags: ExportFlags, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const recipients = readSourceFlags(flags);
        if (flags.redacted === true && recipients.length > 0)
          throw new SplashdownError("USAGE_INVALID", "a redacted report is unencrypted: it takes no key");
        const { to: file, redacted = false, withoutFiles = false } = flags;
        print(await splashdown.checkpoints.export(task, { file, recipients, redacted, withoutFiles }), formatExport);
      }),
    );
  group
    .command("import")
    .description("take in the task of a bundle; it is checked through and through before anything is written")
    .argument("<file>", "a file made by checkpoints export")
    .option("--task <name>", "its name here (default: the one it had)")
    .addHelpText("after", describeStatuses(STATUSES))
    .action((file: string, flags: { task?: string }, command: Command) =>
      withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.checkpoints.import(file, flags), formatImport);
      }),
    );
}

function formatExport(view: ExportView): string {
  const { task, file, size, records, opened_by: openedBy, next } = view;
  if (view.redacted === true)
    return cleanForTerminal(
      `reported ${task}: ${formatCount(records, "event")}, ${formatSize(size)}, unencrypted, to ${file}\nlook: ${next}`,
    );
  const files = [
    `  with ${formatCount(view.deliverables, "deliverable")} and ${formatCount(view.carried, "other file")} of its folder`,
    ...view.left_out.map(({ file: path, reason }) => `  left out: ${path}, ${reason}`),
  ];
  const openers = openedBy.length === 0 ? ["nobody needs a key: the task is not encrypted"] : openedBy;
  return cleanForTerminal(
    [
      `exported ${task}: ${formatCount(records, "record")}, ${formatSize(size)}, to ${file}`,
      ...files,
      ...openers.map((slot) => `  opened by ${slot}`),
      `next: ${next}`,
    ].join("\n"),
  );
}

function formatImport(view: ImportView): string {
  const { task, records, checkpoints, exported_at: exportedAt, deliverables, folder, programs, next } = view;
  return cleanForTerminal(
    [
      `imported ${task}: ${formatCount(records, "record")}, ${formatCount(checkpoints, "checkpoint")}, as of ${exportedAt}`,
      `  ${formatCount(deliverables, "file")} in ${folder}, written unencrypted`,
      ...(programs.length === 0
        ? []
        : [`  when it is resumed, these would run:`, ...programs.map((each) => `    ${each}`)]),
      `new here: nothing runs until you resume it`,
      `next: ${next}`,
    ].join("\n"),
  );
}
