/** `splashdown trust`: lets the settings file of a folder name programs, keys, stores and packages. */
import type { Command } from "commander";
import type { TrustOptions, TrustView } from "../../runtime/contract.js";
import { readEnvironment } from "../../runtime/platform/environment.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { cleanForTerminal, formatTable, formatView } from "../terminal/output.js";
import { formatWaiting } from "../command/trust-question.js";
import { describeStatuses } from "../command/verb.js";

export function registerTrust(program: Command, deps: CliDeps): void {
  program
    .command("trust")
    .description(
      "let the settings file of a folder name programs, keys, stores and packages; asked again when it changes",
    )
    .argument("[folder]", "the folder (default: this one)")
    .option("--list", "show what is trusted, and what changed since")
    .option("--remove", "trust the folder no more")
    .addHelpText(
      "after",
      describeStatuses([
        [0, "done"],
        [2, "the file is not valid, or there is none"],
        [4, "it cannot be remembered"],
      ]),
    )
    .action(async (folder: string | undefined, flags: Omit<TrustOptions, "folder">, command: Command) => {
      const { trustFolder } = await import("../../runtime/verbs/trust-verb.js");
      const view = await trustFolder(readEnvironment(), { ...flags, ...(folder === undefined ? {} : { folder }) });
      const { json } = command.optsWithGlobals<GlobalOptions>();
      deps.streams.out(formatView(view, json === true ? "json" : formatTrust));
    });
}

function formatTrust({ action, folders }: TrustView): string {
  if (action === "list") {
    if (folders.length === 0) return "no folder is trusted";
    const rows = folders.map((each) => [
      each.folder,
      each.state,
      each.at,
      each.settings.map(({ key }) => key).join(", "),
    ]);
    return formatTable(["FOLDER", "STATE", "SINCE", "SETTINGS"], rows);
  }
  const [only] = folders;
  if (only === undefined) return "it was not trusted before";
  const said = action === "trust" ? `trusted ${only.file} as it is now` : `${only.folder} is trusted no more`;
  return [cleanForTerminal(said), ...(action === "trust" ? formatWaiting(only.settings) : [])].join("\n");
}
