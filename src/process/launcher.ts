/**
 * How a child waits before it becomes its program (P1).
 *
 * A tiny shell program stands in for the child: it reads one line from descriptor 4, closes it and executes the real
 * program in its own place, so pid, group and descriptors stay. End of file instead of the line means that the owner
 * is gone: nothing is executed. User text reaches it only as arguments, which no shell interprets.
 *
 * /bin/sh starts in a millisecond where Node takes forty. Its price, known and paid: it sets PWD (taken back here unless
 * the caller gave one), loses variables whose names are no identifiers (left out here, so that it does not depend on the
 * shell), and where /bin/sh is bash the child also sees `_` and SHLVL.
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import { SplashdownError, errnoOf } from "../base/errors.js";
import type { ChildResult, ChildSpec } from "./contract.js";

/** Descriptor of the gate in the child; 3 is the child's own control channel. */
export const GATE_DESCRIPTOR = 4;
const GATE_OPEN = "go";
/** Taken from the child's environment, so no program can have use for it. */
const GATE_VARIABLE = "_splashdown_gate";
/** What opens the gate. */
export const GATE_LINE = `${GATE_OPEN}\n`;

const SHELL = "/bin/sh";
const LAUNCHER_NAME = "splashdown-launcher";
const DEFAULT_PATH = "/usr/bin:/bin";
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** True for a name that a child's environment can hold. */
export function isVariableName(name: string): boolean {
  return VARIABLE_NAME.test(name);
}

const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;

export interface Launch {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly environment: Record<string, string>;
}

/**
 * The command that waits at the gate and then becomes the program.
 *
 * Errors: PROGRAM_NOT_FOUND, VALUE_UNSUPPORTED.
 */
export async function prepareLaunch(spec: ChildSpec): Promise<Launch> {
  requireSpeakable(spec);
  const program = await requireProgram(spec);
  const unset = ["PWD", "OLDPWD"].filter((name) => !(name in spec.environment));
  const script = [
    ...unset.map((name) => `unset ${name}`),
    `IFS= read -r ${GATE_VARIABLE} <&${GATE_DESCRIPTOR} || exit 1`,
    `[ "$${GATE_VARIABLE}" = ${GATE_OPEN} ] || exit 1`,
    `unset ${GATE_VARIABLE}`,
    `exec ${GATE_DESCRIPTOR}<&-`,
    'exec "$@"',
  ].join("\n");
  return {
    file: SHELL,
    arguments: ["-c", script, LAUNCHER_NAME, program, ...spec.arguments],
    environment: Object.fromEntries(Object.entries(spec.environment).filter(([name]) => isVariableName(name))),
  };
}

/**
 * True when the launcher itself, not the program, ended: a missing interpreter, or a file that vanished meanwhile.
 *
 * A program that ends with 127 has not said so in the launcher's name.
 */
export function isFailedLaunch(result: ChildResult): boolean {
  const isShellStatus = result.exitCode === EXIT_NOT_FOUND || result.exitCode === EXIT_NOT_EXECUTABLE;
  return isShellStatus && result.stdout.length === 0 && result.stderrTail.startsWith(`${LAUNCHER_NAME}: `);
}

function requireSpeakable(spec: ChildSpec): void {
  const texts = [spec.program, ...spec.arguments, ...Object.values(spec.environment)];
  if (texts.some((text) => text.includes("\0"))) {
    throw new SplashdownError(
      "VALUE_UNSUPPORTED",
      `a NUL character cannot be handed to ${JSON.stringify(spec.program)}`,
      {
        details: { program: spec.program },
      },
    );
  }
}

async function requireProgram(spec: ChildSpec): Promise<string> {
  const folder = path.resolve(spec.folder ?? ".");
  if (!(await isFolder(folder))) throw notFound(spec, `the folder ${folder} for ${spec.program} does not exist`);
  if (spec.program.includes("/")) {
    const file = path.resolve(folder, spec.program);
    const refusal = await refusalOf(file);
    if (refusal === undefined) return file;
    throw notFound(spec, `${file} ${refusal}`);
  }
  let firstRefusal: string | undefined;
  for (const place of (spec.environment["PATH"] ?? DEFAULT_PATH).split(":")) {
    const file = path.resolve(folder, place, spec.program);
    const refusal = await refusalOf(file);
    if (refusal === undefined && spec.program !== "") return file;
    if (refusal === NOT_EXECUTABLE) firstRefusal ??= `${file} ${refusal}`;
  }
  throw notFound(spec, firstRefusal ?? `no folder of PATH has a program ${JSON.stringify(spec.program)}`);
}

const NOT_EXECUTABLE = "is not executable";

async function refusalOf(file: string): Promise<string | undefined> {
  try {
    if (!(await stat(file)).isFile()) return "is not a file";
    await access(file, constants.X_OK);
    return undefined;
  } catch (error) {
    return errnoOf(error) === "EACCES" ? NOT_EXECUTABLE : "does not exist";
  }
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

/** The error of a program that cannot be executed. */
export function notFound(spec: ChildSpec, message: string): SplashdownError {
  return new SplashdownError("PROGRAM_NOT_FOUND", message, { details: { program: spec.program } });
}
