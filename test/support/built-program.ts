/**
 * The built program as a stranger meets it: a process with arguments, streams, a status, and an environment of its own.
 *
 * `setup` is vitest's global set-up of the e2e tests: it builds `dist/` once when a source is newer than the build.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export const PROJECT_FOLDER = join(import.meta.dirname, "..", "..");
export const PROGRAM = join(PROJECT_FOLDER, "dist", "cli", "main.js");
/** The library as a program imports it. */
export const LIBRARY = join(PROJECT_FOLDER, "dist", "index.js");

/** What the build is made of, below the project. */
const SOURCES = [
  "src",
  "web",
  "schemas",
  "scripts/build.mjs",
  "scripts/parts/page-build.mjs",
  "tsconfig.json",
  "package.json",
];

export function setup(): void {
  if (!isStale()) return;
  execFileSync(process.execPath, ["scripts/build.mjs"], {
    cwd: PROJECT_FOLDER,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function isStale(): boolean {
  const builtAtMs = statSync(PROGRAM, { throwIfNoEntry: false })?.mtimeMs;
  return builtAtMs === undefined || SOURCES.some((source) => newestMs(join(PROJECT_FOLDER, source)) > builtAtMs);
}

function newestMs(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestMs(join(path, name))), 0);
}

export interface CommandOptions {
  readonly cwd: string;
  /** The whole environment of the process; `PATH` is added. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text on standard input; without it the input ends at once. */
  readonly input?: string;
  /** The input stays open, for `child.stdin`. */
  readonly keepInput?: boolean;
  /** SIGKILL after this time. */
  readonly killAfterMs?: number;
  /** A program other than `splashdown`, e.g. a script. */
  readonly program?: string;
}

export interface CommandResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document on stdout; fails on anything else there. */
  readonly json: <T = unknown>() => T;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly done: Promise<CommandResult>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** Runs `splashdown` with the arguments until it ends. */
export function runCommand(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return startCommand(args, options).done;
}

/** Starts `splashdown` and hands it over while it runs. */
export function startCommand(args: readonly string[], options: CommandOptions): RunningCommand {
  const { cwd, env = {}, input, keepInput, killAfterMs, program } = options;
  const [file, all] = program === undefined ? [process.execPath, [PROGRAM, ...args]] : [program, [...args]];
  const child = spawn(file, all, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(killAfterMs === undefined ? {} : { timeout: killAfterMs, killSignal: "SIGKILL" as const }),
  });
  const parts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      parts[name] += text;
    });
  }
  child.stdin.on("error", () => undefined);
  if (keepInput !== true) child.stdin.end(input ?? "");
  const done = new Promise<CommandResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, ...parts, json: <T>() => parseOnly<T>(args, parts) }));
  });
  return { child, pid: child.pid ?? 0, done, stdout: () => parts.stdout, stderr: () => parts.stderr };
}

function parseOnly<T>(args: readonly string[], { stdout, stderr }: { stdout: string; stderr: string }): T {
  try {
    return JSON.parse(stdout) as T;
  } catch (error) {
    throw new Error(`splashdown ${args.join(" ")}: stdout is no JSON document: ${stdout}\nstderr: ${stderr}`, {
      cause: error,
    });
  }
}
