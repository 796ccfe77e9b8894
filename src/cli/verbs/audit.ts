/** `splashdown audit show` and `verify`: who did what to a task, and whether the trail is whole. */
import type { Command } from "commander";
import type { AuditShowView, AuditVerifyView } from "../../runtime/contract.js";
import type { CliDeps, Streams } from "../terminal/deps.js";
import { cleanForTerminal, coloursOf, formatTable } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerAudit(program: Command, deps: CliDeps): void {
  const group = program.command("audit").description("who unlocked, read, answered, resumed and accepted what");
  group
    .command("show")
    .description("the audit trail of a task, or of all, in the order of time; without the key the details are hidden")
    .argument("[task]", "task name, id or workflow name")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "done"],
        [10, "no such task"],
      ]),
    )
    .action(async (task: string | undefined, _flags: object, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.audit.show(task), formatEntries);
      });
    });
  group
    .command("verify")
    .description("find entries that were changed, removed, put in another place or made up")
    .argument("[task]", "task name, id or workflow name")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "whole"],
        [10, "no such task"],
        [15, "not whole; each fault is named"],
      ]),
    )
    .action(async (task: string | undefined, _flags: object, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.audit.verify(task);
        print(view, (found) => formatVerified(found, deps.streams));
        deps.exit(view.exit_status);
      });
    });
}

function formatEntries({ entries, problems }: AuditShowView): string {
  const rows = entries.map((entry) => [
    entry.at,
    entry.task,
    entry.event,
    entry.verb,
    `${entry.by}@${entry.host}`,
    String(entry.pid),
    entry.details === undefined ? "(sealed)" : formatDetails(entry.details),
  ]);
  const table =
    rows.length === 0 ? "no audit entries" : formatTable(["TIME", "TASK", "EVENT", "BY", "WHO", "PID", ""], rows);
  return [table, ...problems.map((problem) => `! ${cleanForTerminal(problem)}`)].join("\n");
}

function formatDetails(details: object): string {
  const text = JSON.stringify(details);
  if (text === "{}") return "";
  return text.length > 160 ? `${text.slice(0, 160)}… (--json has all)` : text;
}

function formatVerified(view: AuditVerifyView, streams: Streams): string {
  const colours = coloursOf(streams);
  if (view.checks.length === 0) return "no tasks";
  return view.checks
    .map(
      ({ ok, name, text }) => `${ok ? colours.green("ok  ") : colours.red("FAIL")} ${name}: ${cleanForTerminal(text)}`,
    )
    .join("\n");
}
