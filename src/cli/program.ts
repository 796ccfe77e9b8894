/** The command with all its verbs. One file per verb or family of verbs declares and runs them. */
import { Command, Help, Option, type Argument } from "commander";
import { moveTaskFlag, takeTaskFlag } from "./command/task-flag.js";
import { registerAnswer, registerRequests } from "./verbs/answer.js";
import { ANSWER_FLAG } from "./command/aside.js";
import { registerAttach } from "./verbs/attach.js";
import { registerAudit } from "./verbs/audit.js";
import { registerCheckpoints, registerDebug } from "./verbs/checkpoints.js";
import type { CliDeps } from "./terminal/deps.js";
import { registerCompletion } from "./verbs/completion.js";
import { registerDashboard } from "./verbs/dashboard.js";
import { registerExplain } from "./verbs/explain.js";
import { registerGraph } from "./verbs/graph.js";
import { registerGuide } from "./verbs/guide.js";
import { registerInit } from "./verbs/init.js";
import { registerFork } from "./verbs/fork.js";
import { registerKeys } from "./verbs/keys.js";
import { registerList } from "./verbs/list.js";
import { registerLogs } from "./verbs/logs.js";
import { registerMcp } from "./verbs/mcp.js";
import { registerMetrics } from "./verbs/metrics.js";
import { registerQuestions } from "./verbs/questions.js";
import { registerRecover } from "./verbs/recover.js";
import { registerResume } from "./verbs/resume.js";
import { registerRun } from "./verbs/run.js";
import { registerStore } from "./verbs/store.js";
import { registerTasks } from "./verbs/tasks.js";
import { registerTrust } from "./verbs/trust.js";
import { registerWorkplace } from "./verbs/diagnostics.js";

const GLOBAL_HELP = `
Begin with:
  splashdown run workflow.yaml         start a task; killed or crashed, the same command continues
  splashdown list                      what runs, waits, crashed or is done
  splashdown show TASK                 one task in full, with the commands that answer its questions
  splashdown logs TASK --follow        what happens in it and what its steps print
  splashdown answer TASK VALUE         answer what it asks
  splashdown VERB --help               flags, examples and exit statuses of a verb
  splashdown explain WORD              a key, a verb, an error code or an exit status explained

Output: the answer on stdout, everything else on stderr; --json prints one JSON document.
Exit status: 0 done, 1 unexpected, 2 usage, 3 partial, 4 failed, 10 not found, 11 owned, 12 key, 13 damaged,
14 recovery exhausted, 15 tampered, 20 a person is needed, 21 limit, 22 outcome unknown, 75 paused until a time,
129, 130 or 143 ended by a signal with everything saved.
`;

export function createProgram(deps: CliDeps, version: string): Command {
  const program = new Command("splashdown")
    .description("run multi-agent workflows that survive crashes")
    .version(version, "-v, --version")
    .option("--json", "print one JSON document on stdout")
    .option("--quiet", "no progress on stderr")
    .option("--verbose", "show bookkeeping, too: checkpoints, each item of a loop")
    .option("--debug", "show everything: as --verbose, and the stack of an error")
    .addOption(new Option("--store <address>", "where tasks are kept, e.g. file:outputs (default), memory:"))
    .addOption(new Option("--config <file>", "settings file (default: splashdown.config.yaml or .json here)"))
    .addOption(new Option(`${ANSWER_FLAG} <descriptor>`).hideHelp())
    .addOption(new Option("--confine <folder>").hideHelp())
    .addOption(new Option("--confine-modules").hideHelp())
    .addHelpText("after", GLOBAL_HELP)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.streams.out(text),
      writeErr: (text) => deps.streams.error(text),
      // What is wrong is told once, by whoever catches it.
      outputError: () => undefined,
    });
  registerRun(program, deps);
  registerResume(program, deps);
  registerRecover(program, deps);
  registerFork(program, deps);
  registerList(program, deps);
  registerTasks(program, deps);
  registerLogs(program, deps);
  registerAttach(program, deps);
  registerQuestions(program, deps);
  registerAnswer(program, deps);
  registerRequests(program, deps);
  registerGuide(program, deps);
  registerCheckpoints(program, deps);
  registerDebug(program, deps);
  registerKeys(program, deps);
  registerWorkplace(program, deps);
  registerAudit(program, deps);
  registerGraph(program, deps);
  registerInit(program, deps);
  registerMetrics(program, deps);
  registerDashboard(program, deps);
  registerMcp(program, deps);
  registerStore(program, deps);
  registerTrust(program, deps);
  registerExplain(program, deps);
  registerCompletion(program, deps);
  for (const command of allCommands(program)) {
    command.exitOverride().configureOutput(program.configureOutput()).configureHelp({ showGlobalOptions: true });
    takeTaskFlag(command);
  }
  groupVerbs(program);
  const parse = program.parseAsync.bind(program);
  program.parseAsync = (words, options) => parse(words === undefined ? words : moveTaskFlag(program, words), options);
  return program;
}

/** Titles of the help, each with its verbs in the order in which people come to need them. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Run and resume:": ["run", "resume", "recover", "fork"],
  "Look:": ["list", "show", "logs", "attach", "events", "metrics", "graph", "dashboard"],
  "Speak to a task:": ["questions", "answer", "guide", "checkpoint", "pause", "stop"],
  "The past:": ["checkpoints", "debug"],
  "Keys, stores, who did what:": ["keys", "store", "trust", "audit"],
  "Set up and learn:": ["init", "validate", "doctor", "config", "explain", "mcp", "completion"],
};

function groupVerbs(program: Command): void {
  // What commander adds itself stands with the last ones.
  const order = [...Object.values(GROUPS).flat(), "help"];
  program
    .commandsGroup(Object.keys(GROUPS).at(-1) ?? "")
    .helpCommand("help [command]", "help of the program or of one verb");
  for (const [title, verbs] of Object.entries(GROUPS))
    for (const command of program.commands) if (verbs.includes(command.name())) command.helpGroup(title);
  program.configureHelp({
    ...program.configureHelp(),
    subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(writeArgument)].join(" "),
    visibleCommands: (command) =>
      new Help().visibleCommands(command).toSorted((a, b) => order.indexOf(a.name()) - order.indexOf(b.name())),
  });
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}

/** Shape: `<task>`, `[step]`, `<words...>`. */
function writeArgument(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
