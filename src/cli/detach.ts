/**
 * `--detach`: a task in a background process that outlives the terminal, or the agent, that asked for it.
 *
 * The parent starts the program again, in a session of its own, with a channel to it. The child says when its task has
 * really started: when the first record of this process is durable. Only then the parent prints the task's name and
 * leaves. A child that ends before that is the parent's own end: its words, its answer and its status.
 *
 * What the child says on stderr goes to a file in the user's state folder; its answer is not written there, it is sealed
 * in the task (`splashdown show`).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_STATUS } from "../base/error-table.js";
import { errnoOf } from "../base/errors.js";
import { quoteArgument } from "../base/shell-text.js";
import type { Splashdown } from "../runtime/contract.js";
import { readEnvironment } from "../runtime/environment.js";
import { systemClock } from "../runtime/system-clock.js";
import type { CliDeps, GlobalOptions } from "./deps.js";
import { createCommandWriter } from "./next-command.js";
import { formatView } from "./output.js";

/** What the child tells the parent over the channel. */
interface StartMessage {
  readonly splashdown: "started";
  readonly task: string;
}

export interface DetachedView {
  readonly task: string;
  readonly pid: number;
  readonly log: string;
  readonly commands: { readonly events: string; readonly show: string; readonly stop: string };
}

/** The flag of the child: not for people. */
export const CHILD_FLAG = "--detached-child";

export interface BackgroundStart {
  /** Verb, flags and arguments, `CHILD_FLAG` among them. */
  readonly words: readonly string[];
  readonly folder?: string;
  /** What the child reads on stdin; without it there is nothing to read. */
  readonly input?: string;
  /** Passed on as Ctrl+C, until the task has started. */
  readonly signal?: AbortSignal;
}

/** A task that runs now in a process of its own; or a process that ended first, with its status, answer and words. */
export type BackgroundOutcome =
  | { readonly task: string; readonly pid: number; readonly log: string }
  | { readonly status: number; readonly answer: string; readonly said: string };

/** Starts the program in the background; returns when its task runs, or when it has ended. */
export async function startInBackground(start: BackgroundStart): Promise<BackgroundOutcome> {
  const { words, folder, input, signal } = start;
  const log = openLog();
  const [, program = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...words], {
    detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", log.descriptor, "ipc"],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  closeSync(log.descriptor);
  // One that ends before it has read all says itself why.
  child.stdin?.on("error", () => undefined).end(input);
  const interrupt = (): boolean => child.kill("SIGINT");
  signal?.addEventListener("abort", interrupt, { once: true });
  const outcome = await awaitStart(child);
  signal?.removeEventListener("abort", interrupt);
  if ("status" in outcome) return { ...outcome, said: readFileSync(log.path, "utf8") };
  letGo(child);
  return { task: outcome.task, pid: child.pid ?? 0, log: log.path };
}

/** This very command again, in the background, with what it read from stdin. */
export async function runDetached(deps: CliDeps, options: GlobalOptions, input?: string): Promise<void> {
  const { signal } = deps;
  const words = argumentsOfChild(process.argv.slice(2));
  const outcome = await startInBackground({ words, signal, ...(input === undefined ? {} : { input }) });
  if ("status" in outcome) {
    deps.streams.error(outcome.said);
    deps.streams.out(outcome.answer);
    deps.exit(outcome.status);
    return;
  }
  if (options.quiet !== true) deps.streams.error(readFileSync(outcome.log, "utf8"));
  deps.streams.out(formatView(describeDetached(outcome, options), options.json === true ? "json" : formatDetached));
}

/** The child's side: tells whoever started it that the task runs, once; by then a record of this process is durable. */
export function announceFirst(splashdown: Splashdown): void {
  const stop = splashdown.on("event", ({ task, type }) => {
    if (type !== "task_started" && type !== "task_resumed") return;
    stop();
    announceStart(task);
  });
}

function announceStart(task: string): void {
  if (process.send === undefined || !process.connected) return;
  const message: StartMessage = { splashdown: "started", task };
  process.send(message, () => {
    if (process.connected) process.disconnect();
  });
}

/** The program's arguments, with `--detach` changed to the child's flag; what follows `--` is left alone. */
function argumentsOfChild(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, at) => (word === "--detach" && (end === -1 || at < end) ? CHILD_FLAG : word));
}

type Outcome = { readonly task: string } | { readonly status: number; readonly answer: string };

function awaitStart(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let answer = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    child.once("error", reject);
    child.on("message", (message) => {
      if (isStart(message)) resolve({ task: message.task });
    });
    child.once("close", (status, signal) =>
      resolve({ status: status ?? (signal === "SIGINT" ? EXIT_STATUS.interrupted : EXIT_STATUS.unexpected), answer }),
    );
  });
}

function isStart(message: unknown): message is StartMessage {
  if (typeof message !== "object" || message === null) return false;
  const { splashdown, task } = message as Partial<StartMessage>;
  return splashdown === "started" && typeof task === "string";
}

/** Nothing of the child keeps this process, and nothing of this process the child. */
function letGo(child: ChildProcess): void {
  child.removeAllListeners();
  child.on("error", () => undefined);
  child.stdout?.destroy();
  if (child.connected) child.disconnect();
  child.unref();
}

interface Log {
  readonly path: string;
  readonly descriptor: number;
}

function openLog(): Log {
  const folder = join(readEnvironment().stateFolder, "logs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date(systemClock.nowMs()).toISOString().replaceAll(/[:.-]/g, "");
  for (let number = 1; ; number += 1) {
    const log = createLog(join(folder, `run-${stamp}-${process.pid}${number === 1 ? "" : `-${number}`}.log`));
    if (log !== undefined) return log;
  }
}

/** `undefined` when a start of the same millisecond has the name. */
function createLog(path: string): Log | undefined {
  try {
    return { path, descriptor: openSync(path, "wx", 0o600) };
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return undefined;
    throw error;
  }
}

interface Detached {
  readonly task: string;
  readonly pid: number;
  readonly log: string;
}

function describeDetached({ task, pid, log }: Detached, options: GlobalOptions): DetachedView {
  const write = createCommandWriter(options);
  const command = (...words: string[]): string => write(words.map(quoteArgument).join(" "));
  return {
    task,
    pid,
    log,
    commands: {
      events: command("events", task, "--follow"),
      show: command("show", task),
      stop: command("stop", task),
    },
  };
}

function formatDetached(view: DetachedView): string {
  return [
    `${view.task} runs in the background as process ${view.pid}`,
    `  what happens:     ${view.commands.events}`,
    `  how it stands:    ${view.commands.show}`,
    `  end it, saved:    ${view.commands.stop}`,
    `  what it says:     ${view.log}`,
  ].join("\n");
}
