/** `--task NAME` wherever a task is an argument: people who wrote it for one verb write it for all. */
import { Option, type Command } from "commander";

const FLAG = "--task";

/** Declares the flag for a verb whose first argument is a task and that has no such flag of its own. */
export function takeTaskFlag(command: Command): void {
  if (takesTask(command) && !command.options.some(({ long }) => long === FLAG))
    command.addOption(new Option(`${FLAG} <task>`, "the same as the argument").argParser((text) => text));
}

/** The words with the flag's value where the argument stands; as they are where the verb has a flag of its own. */
export function moveTaskFlag(program: Command, words: readonly string[]): string[] {
  const end = words.indexOf("--");
  const at = words.findIndex(
    (word, index) => (end < 0 || index < end) && (word === FLAG || word.startsWith(`${FLAG}=`)),
  );
  const { command, after } = findCommand(program, words);
  const option = command.options.find(({ long }) => long === FLAG);
  if (at < 0 || option?.description !== "the same as the argument") return [...words];
  const isSplit = words[at] === FLAG;
  const name = isSplit ? words[at + 1] : words[at]?.slice(FLAG.length + 1);
  if (name === undefined) return [...words];
  const width = isSplit ? 2 : 1;
  const rest = words.toSpliced(at, width);
  return rest.toSpliced(at < after ? after - width : after, 0, name);
}

function takesTask({ registeredArguments: [first] }: Command): boolean {
  return first?.name() === "task";
}

/** The verb that the words name, and where the words after it begin. */
function findCommand(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly after: number } {
  let command = program;
  let after = 0;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    command = next;
    after = index + 1;
    if (next.commands.length === 0) break;
  }
  return { command, after };
}
