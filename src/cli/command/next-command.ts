/**
 * The commands that are shown to people work as they are printed: each names the store and the settings that this one was
 * given. The rooms below write them (command-text.ts); here, and nowhere else, the flags are added.
 *
 * What goes to stderr is completed as text (`repeatFlags`); of an answer only the fields that hold commands for people are
 * (`repeatFlagsIn`), never what a task gave or was given.
 */
import { completeCommands } from "../../base/command-fields.js";
import { writeCommand, type CommandWriter } from "../../base/command-text.js";
import type { JsonValue } from "../../base/json.js";
import { quoteArgument } from "../../base/shell-text.js";
import { hidePassword } from "../../base/store-address.js";
import type { GlobalOptions } from "../terminal/deps.js";

/** Every verb, so that a sentence about the program is no command. */
export const VERBS = [
  ...([
    "run",
    "resume",
    "recover",
    "fork",
    "list",
    "show",
    "events",
    "logs",
    "attach",
    "questions",
    "answer",
    "guide",
    "checkpoint",
    "pause",
  ] as const),
  ...(["stop", "checkpoints", "debug", "keys", "validate", "doctor", "config", "audit", "graph", "init"] as const),
  ...(["metrics", "dashboard", "mcp", "store", "trust", "explain", "completion"] as const),
];

/** But for a help and the import of a bundle, which is done elsewhere. */
const COMMAND = `(?<![\\w./-])splashdown (?=(?:${VERBS.join("|")})(?![\\w-]))(?!checkpoints import |(?:\\S+ ){1,2}--help)`;
/** A command, the end of a line, or the start of a quoted word. */
const MARK = new RegExp(`${COMMAND}|\\n|(?<=[ =])'`, "g");

/** Shape: the text with its commands complete. An address with a password is shown nowhere, so not here either. */
export function repeatFlags(text: string, { store, config }: GlobalOptions): string {
  const flags = [
    ...(store === undefined || hidePassword(store) !== store ? [] : ["--store", quoteArgument(store)]),
    ...(config === undefined ? [] : ["--config", quoteArgument(config)]),
  ];
  return flags.length === 0 ? text : addToCommands(text, `${flags.join(" ")} `);
}

/** A quoted word of a command stays as it is, whatever it says. */
function addToCommands(text: string, flags: string): string {
  const parts: string[] = [];
  const mark = new RegExp(MARK);
  let [from, isCommand] = [0, false];
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [what] = found;
    if (what === "'" && isCommand) mark.lastIndex = findQuoteEnd(text, found.index);
    if (what === "'") continue;
    isCommand = what !== "\n";
    if (!isCommand) continue;
    parts.push(text.slice(from, mark.lastIndex), flags);
    from = mark.lastIndex;
  }
  return [...parts, text.slice(from)].join("");
}

/** Behind the quote that ends a word, which may be put together of several. */
function findQuoteEnd(text: string, start: number): number {
  let end = text.indexOf("'", start + 1);
  while (end >= 0 && text.startsWith("\\''", end + 1)) end = text.indexOf("'", end + 4);
  return end < 0 ? start + 1 : end + 1;
}

/** A writer whose commands have the flags that this one was given. */
export function createCommandWriter(options: GlobalOptions): CommandWriter {
  return (verb, words, flags) => repeatFlags(writeCommand(verb, words, flags), options);
}

/** A view with its commands complete; the very same one where nothing is to be added. */
export function repeatFlagsIn<T>(view: T, options: GlobalOptions): T {
  if (options.store === undefined && options.config === undefined) return view;
  return completeCommands(view as JsonValue, (text) => repeatFlags(text, options)) as T;
}
