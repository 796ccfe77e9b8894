/**
 * Loads modules of workflows in a process of its own: without our keys, and with stderr for its stdout.
 *
 * A verb that only looks at a module (validate, graph, run --dry-run) starts itself once more so; what the module prints,
 * also through programs that it starts, is no part of the answer.
 */
import { spawn } from "node:child_process";
import { extname } from "node:path";
import { EXIT_STATUS } from "../../base/error-table.js";
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { environmentOfCheck } from "../../runtime/platform/environment.js";
import { systemClock } from "../../runtime/platform/system-clock.js";
import type { CliDeps } from "../terminal/deps.js";

/** The flag of such a process: where its answer goes. Not for people. */
export const ANSWER_FLAG = "--answer-to";

const ANSWER_DESCRIPTOR = 3;

/** What help says of verbs that take a workflow file. */
export const MODULE_HELP = `
A module (.mjs, .js, .ts, …) is loaded to be read, and so its code runs, in a process of its own that has no key; YAML and
JSON are only read.
`;

export function isModuleFile(file: string): boolean {
  return /^\.[cm]?[jt]s$/i.test(extname(file));
}

/** True when the verb was run aside, and its answer and status are told. */
export async function runAside(deps: CliDeps, file: string): Promise<boolean> {
  if (deps.again === undefined || !isModuleFile(file)) return false;
  deps.exit(await deps.again());
  return true;
}

/** This very command again, with its answer on our stdout. */
export function runAgainAside(argv: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, argumentsOf([`${ANSWER_FLAG}=${ANSWER_DESCRIPTOR}`, ...argv]), {
    stdio: ["inherit", 2, 2, 1],
    env: environmentOfCheck(),
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve(status ?? EXIT_STATUS.unexpected));
  });
}

/** What `validate` says of a module below a folder. Errors: those of the verb; INTERNAL when it says nothing. */
export async function checkModuleAside(root: string, file: string): Promise<JsonObject> {
  const flags = [`${ANSWER_FLAG}=${ANSWER_DESCRIPTOR}`, "--json", `--confine=${root}`, "--confine-modules"];
  const child = spawn(process.execPath, argumentsOf([...flags, "validate", "--", file]), {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    cwd: root,
    env: environmentOfCheck(),
  });
  const stop = systemClock.schedule(LIMITS.mcpModuleCheckMs, () => void child.kill("SIGKILL"));
  const texts = { said: "", answer: "" };
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => (texts.said = (texts.said + text).slice(-SAID_CHARS_MAX)));
  child.stdio[ANSWER_DESCRIPTOR]?.on("data", (bytes: Buffer) => (texts.answer += bytes.toString("utf8")));
  await new Promise((resolve) => child.once("close", resolve));
  stop();
  const answer = parseJsonObject(texts.answer);
  if (answer !== undefined) return answer;
  throw readError(texts.said) ?? silent(file);
}

const SAID_CHARS_MAX = 64 * 1024;

function argumentsOf(words: readonly string[]): string[] {
  const [, program = ""] = process.argv;
  return [...process.execArgv, program, ...words];
}

function silent(file: string): SplashdownError {
  const text = `${file}: the process that loaded the module ended, or did not end, without an answer`;
  return new SplashdownError("WORKFLOW_INVALID", text, { details: { file, faults: [] } });
}

/** A code that the module itself printed counts for nothing but a fault of this file. */
function readError(said: string): SplashdownError | undefined {
  for (const line of said.trim().split("\n").toReversed()) {
    const error = parseJsonObject(line)?.["error"];
    if (!isJsonObject(error) || typeof error["message"] !== "string") continue;
    const code = error["code"] === "WORKFLOW_OUTSIDE" ? "WORKFLOW_OUTSIDE" : "WORKFLOW_INVALID";
    return new SplashdownError(code, error["message"], { details: { faults: [] } });
  }
  return undefined;
}
