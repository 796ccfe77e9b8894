/** `splashdown mcp`: tasks for agents, over the Model Context Protocol on stdin and stdout. */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import { createEnvironment, readEnvironment } from "../../runtime/platform/environment.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import { checkModuleAside } from "../command/aside.js";
import type { CliDeps, GlobalOptions } from "../terminal/deps.js";
import { CHILD_FLAG, startInBackground } from "../command/detach.js";
import { repeatFlags } from "../command/next-command.js";
import { describeStatuses, withSplashdown, type VerbContext } from "../command/verb.js";

const HELP = `
In the settings of a client (Claude Desktop, Claude Code, Cursor, VS Code, …):
  {"mcpServers": {"splashdown": {"command": "splashdown", "args": ["mcp", "--root", "/path/of/your/project"]}}}

The agent starts workflows below that folder, waits for them, reads their results, pauses, stops and resumes them, and
sees what they ask. Every task runs in a process of its own and continues when the agent, its client or this server is
gone. A workflow's commands run with your rights, as they do with splashdown run.

Nothing outside of that folder is read as a workflow, nested workflows and \`!file\` included. Files are YAML or JSON; modules
only with --allow-modules, each loaded in a process of its own. One server has at most ${LIMITS.mcpProcessesMax} processes that run tasks.

Questions are shown with the command that answers them; only a person answers. With --allow-answers the agent may answer
too, gates that are meant for people included; the record says who answered, through which client.
`;

interface McpFlags {
  readonly root?: string;
  readonly allowAnswers?: boolean;
  readonly allowModules?: boolean;
}

export function registerMcp(program: Command, deps: CliDeps): void {
  program
    .command("mcp")
    .description("serve tasks to agents over MCP, on stdin and stdout")
    .option("--root <folder>", "work in this folder, and run only workflow files below it (default: here)")
    .option("--allow-answers", "let the agent answer questions, gates that are meant for people too")
    .option("--allow-modules", "let the agent load modules as workflows: they are code, and run with your rights")
    .addHelpText("after", HELP)
    .addHelpText(
      "after",
      describeStatuses([
        [0, "the client has left, or the server was asked to; tasks keep running"],
        [2, "the folder is none, or a setting is not valid"],
      ]),
    )
    .action((flags: McpFlags, command: Command) => runMcp(flags, { command, deps }));
}

async function runMcp(
  flags: McpFlags,
  { command, deps }: { readonly command: Command; readonly deps: CliDeps },
): Promise<void> {
  const { signal, streams } = deps;
  const root = await requireFolder(flags.root ?? ".");
  const environment = createEnvironment(readEnvironment().all, root);
  const mayLoadModules = flags.allowModules === true;
  const serve = async ({ splashdown, options, log }: VerbContext): Promise<void> => {
    const { serveMcp } = await import("../../mcp/server.js");
    await serveMcp({
      splashdown,
      background: { start: (words, input) => start({ words, input, folder: root, mayLoadModules }, options) },
      clock: systemClock,
      log,
      root,
      mayAnswer: flags.allowAnswers === true,
      mayLoadModules,
      checkModule: (file) => checkModuleAside(root, file),
      user: environment.user,
      repeat: (text) => repeatFlags(text, options),
      input: streams.input ?? NOTHING,
      write: streams.out,
      signal,
    });
  };
  await withSplashdown({ command, deps }, serve, { environment, confine: { root, mayLoadModules: false } });
}

const NOTHING: AsyncIterable<unknown> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

interface ChildStart {
  readonly words: readonly string[];
  readonly input: string | undefined;
  readonly folder: string;
  readonly mayLoadModules: boolean;
}

/** The same program with the flags that the server was given; it says what is wrong as JSON. */
function start(
  { words: [verb = "", ...rest], input, folder, mayLoadModules }: ChildStart,
  { store, config }: GlobalOptions,
) {
  const place = [
    ...(store === undefined ? [] : [`--store=${store}`]),
    ...(config === undefined ? [] : [`--config=${config}`]),
  ];
  const confined = [`--confine=${folder}`, ...(mayLoadModules ? ["--confine-modules"] : [])];
  const words = [...place, ...confined, "--json", verb, CHILD_FLAG, ...rest];
  return startInBackground({ words, folder, ...(input === undefined ? {} : { input }) });
}

/** Errors: USAGE_INVALID. */
async function requireFolder(folder: string): Promise<string> {
  const { workingFolder } = readEnvironment();
  try {
    const path = await realpath(resolve(workingFolder, folder));
    if (!(await stat(path)).isDirectory()) throw new Error("it is no folder");
    return path;
  } catch (error) {
    throw new SplashdownError("USAGE_INVALID", `--root ${folder}: ${messageOf(error)}`);
  }
}
