/**
 * `--detach`: a task in a background process that outlives the terminal, or the agent, that asked for it.
 *
 * The parent starts the program again, in a session of its own, with a channel to it. The child says when its task has
 * really started: when the first record of this process is durable. Only then the parent prints the task's name and
 * leaves. A child that ends before that is the parent's own end: its words, its answer and its status.
 *
 * What the child says until then, the parent reads from a file without a name and says it too. Afterwards the child says
 * nothing: inputs, questions and errors of a task are sealed in the task (`splashdown show`, `splashdown events`), and no
 * log of them is left behind.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { EXIT_STATUS } from "../../base/error-table.js";
import type { Splashdown } from "../../runtime/contract.js";
import { readEnvironment } from "../../runtime/platform/environment.js";
import { systemRandom } from "../../runtime/platform/system-clock.js";
import type { CliDeps, GlobalOptions, Streams } from "../terminal/deps.js";
import { createCommandWriter } from "./next-command.js";
import { formatView } from "../terminal/output.js";

/** What the child tells the parent over the channel. */
interface StartMessage {
  readonly splashdown: "started";
  readonly task: string;
}

export interface DetachedView {
  readonly task: string;
  readonly pid: number;
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
  | { readonly task: string; readonly pid: number; readonly said: string; readonly ended: Promise<void> }
  | { readonly status: number; readonly answer: string; readonly said: string };

/** Starts the program in the background; returns when its task runs, or when it has ended. */
export async function startInBackground(start: BackgroundStart): Promise<BackgroundOutcome> {
  const { words, folder, input, signal } = start;
  const spoken = openWords();
  const [, program = ""] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, program, ...words], {
    detached: true,
    env: { ...readEnvironment().all },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", spoken.descriptor, "ipc"],
    ...(folder === undefined ? {} : { cwd: folder }),
  });
  // One that ends before it has read all says itself why.
  child.stdin?.on("error", () => undefined).end(input);
  const interrupt = (): boolean => child.kill("SIGINT");
  signal?.addEventListener("abort", interrupt, { once: true });
  const outcome = await awaitStart(child);
  signal?.removeEventListener("abort", interrupt);
  const said = spoken.take();
  return "status" in outcome
    ? { ...outcome, said }
    : { task: outcome.task, pid: child.pid ?? 0, said, ended: letGo(child) };
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
  if (options.quiet !== true) deps.streams.error(outcome.said);
  deps.streams.out(formatView(describeDetached(outcome, options), options.json === true ? "json" : formatDetached));
}

/**
 * The child's side: tells whoever started it that the task runs, once; by then a record of this process is durable. From
 * then on nothing is said that is not sealed in the task.
 */
export function announceFirst(splashdown: Splashdown, { silence }: Streams): void {
  const stop = splashdown.on("event", ({ task, type }) => {
    if (type !== "task_started" && type !== "task_resumed") return;
    stop();
    silence?.();
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

/** Nothing of the child keeps this process, and nothing of this process the child. Resolves when the child ends. */
function letGo(child: ChildProcess): Promise<void> {
  child.removeAllListeners();
  child.on("error", () => undefined);
  child.stdout?.destroy();
  if (child.connected) child.disconnect();
  child.unref();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

/** What a child says, in a file that has no name any more. */
interface Words {
  readonly descriptor: number;
  /** All of it so far; no more can be read. */
  readonly take: () => string;
}

const WORDS_BYTES_MAX = 1024 * 1024;
const NAME_BYTES = 6;

function openWords(): Words {
  const folder = readEnvironment().stateFolder;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `start-${process.pid}-${Buffer.from(systemRandom.bytes(NAME_BYTES)).toString("hex")}`);
  const descriptor = openSync(path, "wx+", 0o600);
  // Some systems keep the name of a file as long as it is open.
  const remove = (): void => rmSync(path, { force: true });
  tryTo(remove);
  return {
    descriptor,
    take: () => {
      const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, WORDS_BYTES_MAX));
      const length = readSync(descriptor, bytes, 0, bytes.length, 0);
      closeSync(descriptor);
      tryTo(remove);
      return bytes.subarray(0, length).toString("utf8");
    },
  };
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    return;
  }
}

interface Detached {
  readonly task: string;
  readonly pid: number;
}

function describeDetached({ task, pid }: Detached, options: GlobalOptions): DetachedView {
  const write = createCommandWriter(options);
  return {
    task,
    pid,
    commands: {
      events: write("events", [task], { "--follow": true }),
      show: write("show", [task]),
      stop: write("stop", [task]),
    },
  };
}

function formatDetached(view: DetachedView): string {
  return [
    `${view.task} runs in the background as process ${view.pid}`,
    `  what happens:     ${view.commands.events}`,
    `  how it stands:    ${view.commands.show}`,
    `  end it, saved:    ${view.commands.stop}`,
  ].join("\n");
}
