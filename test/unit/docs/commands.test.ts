/** Every command line of a page: its verb is there, takes as many words, and knows each of its flags. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/cli/program.js";
import { listPages, readPage } from "../../support/document-pages.js";

const program = createProgram({} as never, "1.0.0");

/** In blocks, in tables and within sentences. */
function listCommands(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => block.split("\n"));
  const inSentences = [...text.matchAll(/`(splashdown [^`]+)`/g)].map(([, command = ""]) => command);
  return [...blocks, ...inSentences]
    .map((line) =>
      line
        .replace(/\s+#.*$| \| .*$/, "")
        .replaceAll(/\$\([^)]*\)/g, "X")
        .replace(/^\S+.* && (?=splashdown )/, "")
        .replaceAll(/\s+/g, " "),
    )
    .filter((line) => line.startsWith("splashdown "))
    .flatMap((line) => [...new Set([line.replaceAll(/ ?\[[^\]]*\]/g, ""), line.replaceAll(/[[\]]/g, "")])]);
}

const wordsOf = (line: string) =>
  [...line.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word.replaceAll(/^["']|["']$/g, ""));

/** What is wrong with it, if anything. */
function checkCommand(line: string): string | undefined {
  let command: Command = program;
  let words = wordsOf(line).slice(1);
  for (let next = findVerb(command, words[0]); next !== undefined; next = findVerb(command, words[0])) {
    command = next;
    words = words.slice(1);
  }
  if (command === program && words.some((word) => !word.startsWith("-"))) return "no such verb";
  const known = [...command.options, ...program.options];
  let given = 0;
  for (let at = 0; at < words.length; at += 1) {
    const [flag = "", value] = (words[at] ?? "").split("=");
    if (!flag.startsWith("--")) given += 1;
    else {
      const option = known.find(({ long }) => long === flag);
      if (option === undefined && flag !== "--help") return `no such flag: ${flag}`;
      if (option?.required === true && value === undefined) at += 1;
    }
  }
  const takesMore = command.registeredArguments.at(-1)?.variadic === true;
  if (!takesMore && given > command.registeredArguments.length) return "too many words";
  return undefined;
}

function findVerb(command: Command, word: string | undefined): Command | undefined {
  return command.commands.find((verb) => verb.name() === word);
}

describe("the commands of the pages", () => {
  const commands = listPages().flatMap((page) => listCommands(readPage(page)));

  it("are commands of the program", () => {
    expect(commands.length).toBeGreaterThan(100);
    const faults = commands.flatMap((line) => {
      const fault = checkCommand(line);
      return fault === undefined ? [] : [`${line}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it("would be found out with a verb, a flag or a word too many", () => {
    const planted =
      "```sh\nsplashdown lst\nsplashdown list --al # of all\nsplashdown resume A B\nsplashdown run F\n```";
    expect(listCommands(planted).map(checkCommand)).toEqual([
      "no such verb",
      "no such flag: --al",
      "too many words",
      undefined,
    ]);
  });
});
