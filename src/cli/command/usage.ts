/** Mistyped command lines as errors of ours: the same line, status and JSON as every other error. */
import type { Command, CommanderError } from "commander";
import { ERROR_TABLE } from "../../base/error-table.js";
import { SplashdownError } from "../../base/errors.js";
import { suggestForWord } from "./conductor-aliases.js";

const UNKNOWN = /^unknown (command|option) '([^']*)'/;

/** `error: unknown option '--x'\n(Did you mean --y?)` as one sentence of ours. */
export function toUsageError(error: CommanderError, verb: string, program: Command): SplashdownError {
  const said = error.message
    .replace(/^error: /, "")
    .replace(/\n?\(Did you mean ([^()]{0,200})\?\)\s*$/, "; did you mean $1?")
    .trim();
  const [known = "", kind, word = ""] = UNKNOWN.exec(said) ?? [];
  const suggestion = suggest(program, kind, word);
  const message = suggestion === undefined ? said : `${known}; ${suggestion}`;
  return new SplashdownError("USAGE_INVALID", message, { details: verb === "" ? {} : { verb } });
}

function suggest(program: Command, kind: string | undefined, word: string): string | undefined {
  if (kind === "option") return suggestForWord(kind, word);
  return kind === "command" ? (suggestForWord(kind, word) ?? suggestGroup(program, word)) : undefined;
}

/** The verb stands in a group, as `prune` does in `checkpoints`. */
function suggestGroup(program: Command, word: string): string | undefined {
  const groups = program.commands.filter(({ commands }) => commands.some((verb) => verb.name() === word));
  if (groups.length === 0) return undefined;
  return `write ${groups.map((group) => `splashdown ${group.name()} ${word}`).join(" or ")}`;
}

/** The same error with the verb whose help explains it. */
export function withVerb(error: SplashdownError, verb: string): SplashdownError {
  if (verb === "" || error.code !== "USAGE_INVALID" || error.details["verb"] !== undefined) return error;
  return new SplashdownError(error.code, error.message, { details: { ...error.details, verb }, cause: error });
}

/** The same error with the task and the file that the verb was given, where its hint would name one and the error does not. */
export function withGiven(error: SplashdownError, program: Command, args: readonly string[]): SplashdownError {
  const command = findCommand(program, args).command;
  const given: Record<string, unknown> = { ...command.opts() };
  for (const [at, argument] of command.registeredArguments.entries()) given[argument.name()] = command.args[at];
  const { hint } = ERROR_TABLE[error.code];
  const missing = (["task", "file"] as const).flatMap((name) => {
    const value = given[name];
    const isNamed =
      [`{${name}}`, `{${name}?}`].some((part) => hint.includes(part)) && error.details[name] === undefined;
    return isNamed && typeof value === "string" ? [[name, value] as const] : [];
  });
  if (missing.length === 0) return error;
  const details = { ...error.details, ...Object.fromEntries(missing) };
  return new SplashdownError(error.code, error.message, { details, cause: error });
}

/** The verb that the arguments name, with its group: `run`, `debug replay`; empty when they name none. */
export function findVerb(program: Command, args: readonly string[]): string {
  return findCommand(program, args).path.join(" ");
}

function findCommand(
  program: Command,
  args: readonly string[],
): { readonly command: Command; readonly path: readonly string[] } {
  const path: string[] = [];
  let command = program;
  for (const word of args) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (next === undefined) continue;
    path.push(word);
    command = next;
    if (next.commands.length === 0) break;
  }
  return { command, path };
}
