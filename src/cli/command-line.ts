/**
 * The process of the command line: streams, signals, and one thrown error to one line and one exit status.
 *
 * Stdout is the verb's alone: what functions and packages write there goes to stderr, so that --json is one document.
 * An end of the process before the verb's own is never the status 0.
 * First signal: the verb is asked to leave, everything is saved. Second: the process leaves now; what is durable stays. Where
 * code of a workflow holds the loop, a thread of its own sees to that (second-signal.ts).
 */
import { readVersion } from "../base/package-files.js";
import { writeSync } from "node:fs";
import { CommanderError, type Command } from "commander";
import { EXIT_STATUS } from "../base/error-table.js";
import { errnoOf, errorCodeOf, messageOf, SplashdownError } from "../base/errors.js";
import { readVariable, takeKeyVariables } from "../runtime/platform/environment.js";
import { boundHeap, holdYoungSpace } from "../runtime/platform/heap-bounds.js";
import { ANSWER_FLAG, runAgainAside } from "./command/aside.js";
import type { CliDeps, GlobalOptions, Streams } from "./terminal/deps.js";
import { repeatFlags } from "./command/next-command.js";
import { requireTextArguments } from "./command/argument-bytes.js";
import { openAnswer, turnDescriptorAside } from "./command/answer-descriptor.js";
import { cleanForTerminal } from "./terminal/output.js";
import { createProgram } from "./program.js";
import { createSecondSignal, type SecondSignal } from "./terminal/second-signal.js";
import { createScreen, type ScreenSize } from "./terminal/screen.js";
import { findVerb, toUsageError, withGiven, withVerb } from "./command/usage.js";

const SIGNAL_STATUS = {
  SIGINT: EXIT_STATUS.interrupted,
  SIGTERM: EXIT_STATUS.terminated,
  SIGHUP: EXIT_STATUS.hangup,
} as const;
/** Verbs in whose process code of a workflow runs. */
const ACTING: ReadonlySet<string> = new Set(["run", "resume", "recover", "mcp"]);
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

async function main(args: readonly string[]): Promise<number> {
  boundHeap();
  takeKeyVariables();
  const streams = createStreams(args);
  const secondSignal = createSecondSignal(SIGNALS);
  let status: number = EXIT_STATUS.done;
  const deps: CliDeps = {
    streams,
    signal: listenToSignals(streams, secondSignal),
    open: async (options) => {
      if (ACTING.has(findVerb(program, args))) secondSignal.start(holdYoungSpace);
      const { openSplashdown } = await import("../runtime/open.js");
      return openSplashdown(options);
    },
    ...(args.some((word) => word.startsWith(ANSWER_FLAG)) ? {} : { again: () => runAgainAside(args) }),
    uptimeMs: () => process.uptime() * 1000,
    exit: (chosen) => {
      status = chosen;
    },
  };
  const program = createProgram(deps, readVersion());
  try {
    requireTextArguments(args);
    await program.parseAsync([...args], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT_STATUS.done;
    // Asked nothing, it has shown its help.
    if (error instanceof CommanderError && error.code === "commander.help") return EXIT_STATUS.usage;
    return reportError(explain(error, program, args), streams, {
      ...program.opts(),
      json: args.includes("--json"),
      debug: args.includes("--debug"),
    });
  }
}

/** What was to be shown and could not be written; nobody reads on where a pipe was closed. */
let outputFailure: Error | undefined;

/** A closed pipe or a full disk behind stdout never fails a run: what cannot be shown is dropped, and the status says so. */
function createStreams(args: readonly string[]): Streams {
  const interactive = process.stdin.isTTY && process.stderr.isTTY;
  const write = (descriptor: 1 | 2) => {
    const stream = descriptor === 1 ? process.stdout : process.stderr;
    const own = stream.write.bind(stream);
    stream.on("error", (error: Error) => {
      if (descriptor === 1 && errnoOf(error) !== "EPIPE") outputFailure ??= error;
    });
    return (text: string): void => {
      if (stream.writable) own(text);
    };
  };
  const toStderr = write(2);
  let isSilent = false;
  const tell = (text: string): void => {
    if (!isSilent) toStderr(text);
  };
  // A terminal that does not know its size says 0.
  const size = (): ScreenSize => ({ columns: process.stderr.columns || 80, rows: process.stderr.rows || 24 });
  const canRedraw = readVariable("TERM") !== "dumb";
  const screen = process.stderr.isTTY ? createScreen({ write: tell, size, canRedraw }) : undefined;
  const out = openAside(args) ?? write(1);
  const error = screen?.text ?? tell;
  giveStdoutTo(error);
  turnDescriptorAside();
  return {
    out,
    error,
    silence: () => {
      isSilent = true;
    },
    ...(screen === undefined ? {} : { screen }),
    interactive,
    input: process.stdin,
    columns: () => process.stdout.columns ?? process.stderr.columns,
    colour: process.stderr.isTTY && process.stdout.isTTY && process.stdout.hasColors(),
  };
}

/** Where the answer goes of a process that loads a module aside. */
function openAside(args: readonly string[]): ((text: string) => void) | undefined {
  const word = args.find((given) => given.startsWith(`${ANSWER_FLAG}=`));
  return word === undefined ? undefined : openAnswer(Number(word.slice(ANSWER_FLAG.length + 1)));
}

/** What anything but a verb writes to stdout. */
function giveStdoutTo(error: (text: string) => void): void {
  process.stdout.write = (chunk: string | Uint8Array, ...more: readonly unknown[]): boolean => {
    const done = more.find((one) => typeof one === "function") as ((failure?: Error | null) => void) | undefined;
    error(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    if (done !== undefined) process.nextTick(done);
    return true;
  };
}

function listenToSignals(streams: Streams, { taken }: SecondSignal): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      taken();
      const status = SIGNAL_STATUS[signal];
      if (controller.signal.aborted) process.exit(status);
      streams.error(`\n${signal}: saving and leaving; once more to leave now\n`);
      controller.abort({ signal, exitStatus: status });
    });
  }
  return controller.signal;
}

function explain(error: unknown, program: Command, args: readonly string[]): unknown {
  const verb = findVerb(program, args);
  if (error instanceof CommanderError) return toUsageError(error, verb, program);
  return error instanceof SplashdownError ? withGiven(withVerb(error, verb), program, args) : error;
}

function reportError(error: unknown, streams: Streams, options: GlobalOptions): number {
  const known = error instanceof SplashdownError ? error : undefined;
  const code = errorCodeOf(error) ?? "INTERNAL";
  const hint = known === undefined ? "" : repeatFlags(known.hint, options);
  const message = repeatFlags(messageOf(error), options);
  const text =
    options.json === true
      ? JSON.stringify({
          error: known === undefined ? { code, message } : { ...known.toJSON(), message, hint },
        })
      : describeError(message, code, hint);
  streams.error(`${cleanForTerminal(text)}\n`);
  if (options.debug === true || code === "INTERNAL") showStack(error, streams);
  return known?.exitStatus ?? EXIT_STATUS.unexpected;
}

/** The code stands on the first line, whatever follows. */
function describeError(message: string, code: string, hint: string): string {
  const [first = "", ...rest] = message.split("\n");
  const hints = hint === "" ? [] : hint.split("\n").map((line) => `  → ${line}`);
  return [`splashdown: ${first} [${code}]`, ...rest, ...hints].join("\n");
}

function showStack(error: unknown, streams: Streams): void {
  if (error instanceof Error && error.stack !== undefined) streams.error(`${cleanForTerminal(error.stack)}\n`);
}

/** Ends the process when everything written has left it. */
async function leave(status: number): Promise<never> {
  await Promise.all([flushStdout(), flush(process.stderr)]);
  hasEnded = true;
  if (outputFailure === undefined) process.exit(status);
  sayLast(`splashdown: the output could not be written: ${outputFailure.message}\n`);
  process.exit(status === EXIT_STATUS.done ? EXIT_STATUS.unexpected : status);
}

/** A last word; where stderr cannot be written either, the status alone tells. */
function sayLast(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody can be told.
  }
}

function flush(stream: Pick<NodeJS.WriteStream, "write">): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

let hasEnded = false;
process.on("exit", (code) => {
  if (hasEnded || code !== 0) return;
  sayLast("splashdown: the process ended before its verb did; what is durable stays\n  → splashdown list\n");
  process.exitCode = EXIT_STATUS.failed;
});

process.on("uncaughtException", (error) => {
  sayLast(`splashdown: ${error.stack ?? error.message} [INTERNAL]\n`);
  process.exit(EXIT_STATUS.unexpected);
});

const flushStdout = (
  (write) => () =>
    flush({ write })
)(process.stdout.write.bind(process.stdout));

// Not awaited here: where nothing is left to wait for, Node would end with a status of its own.
void main(process.argv.slice(2)).then(leave);
