/**
 * `splashdown completion`: scripts for bash, zsh and fish, made from the declared verbs and flags.
 *
 * The tree of commands is the only truth: a verb or flag that is declared is completed, none is written down here twice.
 * Where a verb takes a task, the names of the tasks here are asked for when Tab is pressed (`completion tasks`). Where no
 * word fits, shells complete file names as they always do.
 */
import { Argument, type Command } from "commander";
import type { CliDeps } from "../terminal/deps.js";
import { withSplashdown } from "../command/verb.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];
const TASKS = "tasks";

const INSTALL = `
To try it now:        source <(splashdown completion bash)
To keep it, bash:     splashdown completion bash > ~/.local/share/bash-completion/completions/splashdown
            zsh:      splashdown completion zsh > "\${fpath[1]}/_splashdown"
            fish:     splashdown completion fish > ~/.config/fish/completions/splashdown.fish
`;

export function registerCompletion(program: Command, deps: CliDeps): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(
      new Argument("<shell>", "the shell; tasks prints the names of the tasks here").choices([...SHELLS, TASKS]),
    )
    .addHelpText("after", INSTALL)
    .action(async (shell: Shell | typeof TASKS, _flags: object, command: Command) => {
      if (shell !== TASKS) return deps.streams.out(formatCompletion(program, shell));
      await withSplashdown({ command, deps }, async ({ splashdown, print }) => {
        print(await splashdown.taskNames(), (names) => names.join("\n"));
      });
    });
}

export function formatCompletion(program: Command, shell: Shell): string {
  return WRITERS[shell](listPlaces(program));
}

/** A place in a command line: the words before it, and what may come. */
interface Place {
  readonly words: readonly string[];
  readonly verbs: readonly { readonly name: string; readonly text: string }[];
  /** The next word is the name of a task. */
  readonly takesTask: boolean;
  readonly flags: readonly { readonly name: string; readonly text: string; readonly takesValue: boolean }[];
}

function listPlaces(command: Command, words: readonly string[] = []): Place[] {
  const global = command.parent === null ? [] : flagsOf(rootOf(command));
  const here: Place = {
    words,
    verbs: command.commands.map((child) => ({ name: child.name(), text: child.description() })),
    takesTask: command.registeredArguments[0]?.name() === "task",
    flags: [...flagsOf(command), ...global, { name: "--help", text: "explain", takesValue: false }],
  };
  return [here, ...command.commands.flatMap((child) => listPlaces(child, [...words, child.name()]))];
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function flagsOf(command: Command): Place["flags"] {
  return command.options
    .filter((option) => !option.hidden && option.long !== undefined)
    .map((option) => ({
      name: option.long ?? "",
      text: option.description,
      takesValue: option.required || option.optional,
    }));
}

const WRITERS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: formatBash,
  zsh: formatZsh,
  fish: formatFish,
};

/** Places after which a task is named, as the pattern of a shell's case. */
function listTaking(places: readonly Place[], quote: string): string {
  return places
    .filter(({ takesTask }) => takesTask)
    .map(({ words }) => `${quote}${words.join(" ")}${quote}`)
    .join("|");
}

function formatBash(places: readonly Place[]): string {
  const cases = places.map(
    ({ words, verbs, flags }) =>
      `    "${words.join(" ")}") words="${[...verbs, ...flags].map(({ name }) => name).join(" ")}" ;;`,
  );
  return `# bash completion for splashdown
_splashdown() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" word words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$place $word" in
${places
  .filter(({ words }) => words.length > 0)
  .map(
    ({ words }) => `      "${[words.slice(0, -1).join(" "), words.at(-1)].join(" ")}") place="${words.join(" ")}" ;;`,
  )
  .join("\n")}
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  case "$place" in
    ${listTaking(places, '"')}) [ "\${current#-}" = "$current" ] && words="$words $(splashdown completion tasks 2>/dev/null)" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _splashdown splashdown
`;
}

function formatZsh(places: readonly Place[]): string {
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const describe = ({ name, text }: { name: string; text: string }): string =>
    quote(`${name.replaceAll(":", "\\:")}:${text}`);
  const cases = places.map(
    ({ words, verbs, flags }) =>
      `    ${quote(words.join(" "))}) entries=(${[...verbs, ...flags].map(describe).join(" ")}) ;;`,
  );
  return `#compdef splashdown
_splashdown() {
  local place="" word index
  local -a entries
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    case "$place $word" in
${places
  .filter(({ words }) => words.length > 0)
  .map(
    ({ words }) =>
      `      ${quote([words.slice(0, -1).join(" "), words.at(-1)].join(" "))}) place=${quote(words.join(" "))} ;;`,
  )
  .join("\n")}
    esac
  done
  case "$place" in
${cases.join("\n")}
  esac
  case "$place" in
    ${listTaking(places, "'")}) entries+=(\${(f)"$(splashdown completion tasks 2>/dev/null)"}) ;;
  esac
  _describe 'splashdown' entries
  _files
}
compdef _splashdown splashdown
`;
}

function formatFish(places: readonly Place[]): string {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ words, verbs, flags, takesTask }) => {
    const condition = quote(`__splashdown_at ${words.join(" ")}`.trimEnd());
    return [
      ...(takesTask ? [`complete -c splashdown -n ${condition} -a '(splashdown completion tasks 2>/dev/null)'`] : []),
      ...verbs.map(({ name, text }) => `complete -c splashdown -n ${condition} -a ${name} -d ${quote(text)}`),
      ...flags.map(
        ({ name, text, takesValue }) =>
          `complete -c splashdown -n ${condition} -l ${name.slice(2)}${takesValue ? " -r" : ""} -d ${quote(text)}`,
      ),
    ];
  });
  const known = places.filter(({ words }) => words.length > 0).map(({ words }) => quote(words.join(" ")));
  return `# fish completion for splashdown
set -g __splashdown_places ${known.join(" ")}
function __splashdown_at
    set -l place
    for word in (commandline -opc)[2..-1]
        if contains -- (string join ' ' $place $word) $__splashdown_places
            set -a place $word
        end
    end
    test (string join ' ' $place) = (string join ' ' $argv)
end
${lines.join("\n")}
`;
}
