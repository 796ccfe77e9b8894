/** `splashdown keys init|show|ack|verify`; the verbs that change tasks are in key-changes.ts. No verb ever prints a key. */
import type { Command } from "commander";
import type { JsonObject } from "../../base/json.js";
import type { Splashdown } from "../../runtime/contract.js";
import type { CliDeps } from "../terminal/deps.js";
import { registerAccept } from "./key-accept.js";
import { registerKeyChanges } from "./key-changes.js";
import { registerShred } from "./shred.js";
import { cleanForTerminal } from "../terminal/output.js";
import { describeStatuses, withSplashdown } from "../command/verb.js";

const STATUSES = describeStatuses([
  [0, "done"],
  [2, "a flag is not valid"],
  [10, "no such task"],
  [12, "key missing or wrong, or none may be made there"],
  [13, "a keyring is damaged"],
  [15, "a keyring is older than one that was in force, or nothing proves who locked it"],
]);

export function registerKeys(program: Command, deps: CliDeps): void {
  const group = program
    .command("keys")
    .description("make, show, acknowledge, verify, add, remove, rotate and accept keys");
  const act = (command: Command, run: (keys: Splashdown["keys"]) => Promise<JsonObject>): Promise<void> =>
    withSplashdown({ command, deps }, async ({ splashdown, print }) => {
      const view = await run(splashdown.keys);
      print(view, formatKeys);
      if (typeof view["exit_status"] === "number") deps.exit(view["exit_status"]);
    });
  group
    .command("init")
    .description("make a key file; back it up: without it the checkpoints cannot be read")
    .option("--key-file <path>", "where (default: the user's configuration folder)")
    .option("--if-missing", "do nothing when a key is configured already")
    .addHelpText("after", STATUSES)
    .action((flags: { keyFile?: string; ifMissing?: boolean }, command: Command) =>
      act(command, (keys) => keys.init(flags)),
    );
  group
    .command("show")
    .description("which keys are configured, or which a task was sealed with; fingerprints only")
    .argument("[task]", "task name, id or workflow name")
    .addHelpText("after", STATUSES)
    .action((task: string | undefined, _flags: object, command: Command) => act(command, (keys) => keys.show(task)));
  group
    .command("ack")
    .description("say that the key file is backed up; ends the reminders")
    .addHelpText("after", STATUSES)
    .action((_flags: object, command: Command) => act(command, (keys) => keys.ack()));
  group
    .command("verify")
    .description("try every slot of a task's keyring, or of all tasks, with the configured keys")
    .argument("[task]", "task name, id or workflow name")
    .addHelpText("after", STATUSES)
    .action((task: string | undefined, _flags: object, command: Command) => act(command, (keys) => keys.verify(task)));
  registerKeyChanges(group, deps);
  registerAccept(group, deps);
  registerShred(group, deps);
}

function formatKeys(view: JsonObject): string {
  return typeof view["text"] === "string" ? cleanForTerminal(view["text"]) : JSON.stringify(view, undefined, 2);
}
