/** Verbs with their help, from the declared commands. */
import type { Command } from "commander";
import type { VerbEntry } from "./entry.js";

/** Shape: in the order of `--help`, each group before its verbs. */
export function listVerbs(command: Command, words: readonly string[] = []): VerbEntry[] {
  return command.commands
    .filter((verb) => verb.name() !== "help")
    .flatMap((verb) => {
      const path = [...words, verb.name()];
      return [
        { kind: "verb" as const, name: path.join(" "), text: verb.description(), help: readHelp(verb) },
        ...listVerbs(verb, path),
      ];
    });
}

/** The help with the examples after the options, which only printing gives. */
function readHelp(verb: Command): string {
  const lines: string[] = [];
  const before = verb.configureOutput();
  verb.configureOutput({ writeOut: (text) => lines.push(text), getOutHelpWidth: () => 100 });
  verb.outputHelp();
  verb.configureOutput(before);
  return lines.join("").trim();
}
