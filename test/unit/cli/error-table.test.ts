/** STYLE 4.5: every code is documented, raised, exercised by a test, and its hint is a command that exists. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { ERROR_TABLE, EXIT_STATUS, type ErrorCode } from "../../../src/base/error-table.js";
import { SplashdownError } from "../../../src/base/errors.js";
import type { CliDeps } from "../../../src/cli/terminal/deps.js";
import { createProgram } from "../../../src/cli/program.js";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

function readAll(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/generated|error-table/.test(file))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

const SOURCES = readAll("src");
const TESTS = readAll("test");

/** Every detail that a hint may name, with a value that a command line takes. */
const DETAILS = { task: "t", file: "workflow.yaml", verb: "run", checkpoint: "latest" };

/** The commands in a hint: from `splashdown` to its end. */
function commandsOf(hint: string): string[] {
  return hint.split(/(?=splashdown )/).filter((part) => part.startsWith("splashdown "));
}

function createBareProgram(): Command {
  const deps: CliDeps = {
    streams: { out: () => undefined, error: () => undefined, interactive: false, colour: false },
    open: () => Promise.reject(new Error("nothing is opened here")),
    signal: new AbortController().signal,
    exit: () => undefined,
  };
  return createProgram(deps, "0.0.0");
}

/** What is wrong with a printed command; `undefined` when a person can type it as it stands. */
function findFault(text: string): string | undefined {
  const [, ...words] = text
    .trim()
    .replace(/[,.;]$/, "")
    .split(/\s+/);
  let command = createBareProgram();
  while (words.length > 0 && command.commands.some((child) => child.name() === words[0])) {
    const name = words.shift();
    command = command.commands.find((child) => child.name() === name) as Command;
  }
  if (command.parent === null && words[0] !== "--help") return `there is no verb ${words[0] ?? ""}`;
  if (command.commands.length > 0 && words[0] !== "--help") return `${command.name()} needs a verb of its group`;
  const known = new Set([...command.options, ...(command.parent?.options ?? [])].map((option) => option.long));
  const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0] ?? "");
  const unknown = flags.find((flag) => flag !== "--help" && !known.has(flag));
  if (unknown !== undefined) return `${command.name()} has no flag ${unknown}`;
  const values = words.filter((word, at) => !word.startsWith("--") && !takesValue(command, words[at - 1]));
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  const most = command.registeredArguments.some((argument) => argument.variadic)
    ? Infinity
    : command.registeredArguments.length;
  if (values.length < required && !flags.includes("--help")) return `${command.name()} needs ${required} arguments`;
  return values.length > most ? `${command.name()} takes ${most} arguments` : undefined;
}

function takesValue(command: Command, flag: string | undefined): boolean {
  const option = command.options.find((candidate) => candidate.long === flag);
  return option !== undefined && (option.required || option.optional);
}

describe("the error table", () => {
  it("has more than fifty codes, and sources and tests to look through", () => {
    expect(CODES.length).toBeGreaterThan(50);
    expect(SOURCES.length).toBeGreaterThan(500_000);
    expect(TESTS.length).toBeGreaterThan(500_000);
  });

  it.each(CODES)("%s is documented, has an area, a status of the list and a hint", (code) => {
    const { meaning, exitStatus, hint } = ERROR_TABLE[code];
    expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(meaning).toMatch(/^[^A-Z].*[^.]$/);
    expect(Object.values(EXIT_STATUS)).toContain(exitStatus);
    expect(exitStatus).not.toBe(0);
    expect(hint.length).toBeGreaterThan(5);
  });

  it.each(CODES)("%s is raised in the sources", (code) => {
    expect(SOURCES).toContain(`"${code}"`);
  });

  it.each(CODES)("%s is met by a test", (code) => {
    expect(TESTS).toMatch(new RegExp(`\\b${code}\\b`));
  });

  it.each(CODES)("%s has a hint whose commands can be typed, with all details known", (code) => {
    const { hint } = new SplashdownError(code, "x", { details: DETAILS });
    expect(hint).not.toMatch(/[{}]/);
    for (const command of commandsOf(hint)) expect(findFault(command), command).toBeUndefined();
  });

  it("finds a hint that names a verb, a flag or an argument that does not exist", () => {
    expect(findFault("splashdown resmue t")).toBe("there is no verb resmue");
    expect(findFault("splashdown resume t --accept-lost")).toBe("resume has no flag --accept-lost");
    expect(findFault("splashdown checkpoints")).toBe("checkpoints needs a verb of its group");
    expect(findFault("splashdown answer t")).toBe("answer needs 2 arguments");
    expect(findFault("splashdown recover t")).toBe("recover takes 0 arguments");
    expect(findFault("splashdown keys init --key-file PATH")).toBeUndefined();
    expect(findFault("splashdown --help")).toBeUndefined();
  });
});
