/**
 * `run --detach`: the task in a background process that outlives the terminal.
 *
 * The parent starts the same command again, in a session of its own, with a channel to it. The child says when its task
 * has really started: when the first record of this process is durable. Only then the parent prints the task's name and
 * leaves. A child that ends before that is the parent's own end: its words, its answer and its status.
 *
 * What the child says on stderr goes to a file in the user's state folder; its answer is not written there, it is sealed
 * in the task (`splashdown show`).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT_STATUS } from "../base/error-table.js";
import { readEnvironment } from "../runtime/environment.js";
import { systemClock } from "../runtime/system-clock.js";
import { quoteArgument } from "../base/shell-text.js";
import { hidePassword } from "../base/store-address.js";
import type { CliDeps, GlobalOptions } from "./deps.js";
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

/** Starts this very command again in the background; returns when its task runs, or when it has ended. */
export async function runDetached(deps: CliDeps, options: GlobalOptions): Promise<void> {
  const log = openLog();
  const child = spawn(process.execPath, [...process.execArgv, ...argumentsOfChild(process.argv.slice(1))], {
    detached: true,
    stdio: ["ignore", "pipe", log.descriptor, "ipc"],
  });
  closeSync(log.descriptor);
  const interrupt = (): boolean => child.kill("SIGINT");
  deps.signal.addEventListener("abort", interrupt, { once: true });
  const outcome = await awaitStart(child);
  deps.signal.removeEventListener("abort", interrupt);
  if (options.quiet !== true || "status" in outcome) deps.streams.error(readFileSync(log.path, "utf8"));
  if ("status" in outcome) {
    deps.streams.out(outcome.answer);
    deps.exit(outcome.status);
    return;
  }
  letGo(child);
  const view = describeDetached({ task: outcome.task, pid: child.pid ?? 0, log: log.path, options });
  deps.streams.out(formatView(view, options.json === true ? "json" : formatDetached));
}

/** The child's side: tells whoever started it that the task runs, once. */
export function announceStart(task: string): void {
  if (process.send === undefined || !process.connected) return;
  const message: StartMessage = { splashdown: "started", task };
  process.send(message, () => {
    if (process.connected) process.disconnect();
  });
}

/** The program's arguments, with `--detach` changed to the child's flag; what follows `--` is left alone. */
export function argumentsOfChild(argv: readonly string[]): string[] {
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

function openLog(): { readonly path: string; readonly descriptor: number } {
  const folder = join(readEnvironment().stateFolder, "logs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = new Date(systemClock.nowMs()).toISOString().replaceAll(/[:.-]/g, "");
  const path = join(folder, `run-${stamp}-${process.pid}.log`);
  return { path, descriptor: openSync(path, "wx", 0o600) };
}

interface Detached {
  readonly task: string;
  readonly pid: number;
  readonly log: string;
  readonly options: GlobalOptions;
}

function describeDetached({ task, pid, log, options }: Detached): DetachedView {
  const place = [
    ...(options.store === undefined ? [] : ["--store", hidePassword(options.store)]),
    ...(options.config === undefined ? [] : ["--config", options.config]),
  ];
  const command = (...words: string[]): string => ["splashdown", ...place, ...words].map(quoteArgument).join(" ");
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
