/** `splashdown validate`, `doctor` and `config show`: is the file right, is this place right, what is in force. */
import type { Command } from "commander";
import type { ConfigView, DoctorOptions, ValidateView } from "../../runtime/contract.js";
import { MODULE_HELP, runAside } from "../command/aside.js";
import type { CliDeps } from "../terminal/deps.js";
import { cleanForTerminal, formatChecks, formatTable } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

export function registerWorkplace(program: Command, deps: CliDeps): void {
  program
    .command("validate")
    .description("check a workflow file; every fault with line and column")
    .argument("<file>", "workflow file")
    .addHelpText("after", MODULE_HELP)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "valid"],
        [2, "not valid; each fault is named"],
        [10, "no such file"],
      ]),
    )
    .action(async (file: string, _flags: object, command: Command) => {
      if (await runAside(deps, file)) return;
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.validate(file);
        print(view, formatValid);
        deps.exit(view.exit_status);
      });
    });
  program
    .command("doctor")
    .description("check this place: Node, store, cache, keys, processes, tasks, disk")
    .option("--tasks", "read every file of every task wholly and name what is damaged, finished tasks included")
    .option("--models", "ask the model providers that are set up here: address and key")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "all is well"],
        [4, "something needs mending; each says how"],
      ]),
    )
    .action(async (flags: DoctorOptions, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        const view = await splashdown.doctor(flags);
        print(view, ({ checks }) => formatChecks(checks, deps.streams).join("\n"));
        deps.exit(view.checks.every((check) => check.ok) ? 0 : 4);
      });
    });
  const config = program.command("config").description("settings in force");
  config
    .command("show")
    .description("every setting with its value and where it comes from")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "done"],
        [2, "a setting is not valid"],
      ]),
    )
    .action(async (_flags: object, command: Command) => {
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.config(), formatConfig);
      });
    });
}

function formatValid({ text }: ValidateView): string {
  return cleanForTerminal(text);
}

function formatConfig(view: ConfigView): string {
  const rows = view.settings.map((setting) => [
    setting.key,
    JSON.stringify(setting.value),
    setting.origin,
    setting.note ?? "",
  ]);
  return formatTable(["SETTING", "VALUE", "FROM", ""], rows);
}
