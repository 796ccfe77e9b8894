/**
 * Where workflow files may be read for somebody who is not the person at the keyboard: an agent over MCP.
 *
 * Nothing outside the root is read, whichever way a file names it: nested workflows, `!file`, scripted answers, code of
 * functions, links and `..`. A module is code that runs when it is read, so it is refused unless the person let it. What is
 * wrong with a file that is no workflow is told without a word of its contents.
 */
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { isErrorCode, SplashdownError } from "../../base/errors.js";
import { isJsonObject } from "../../base/json.js";
import type { DefinitionFault } from "../../definition/faults/fault.js";

export interface Confinement {
  /** Real path of a folder. */
  readonly root: string;
  readonly mayLoadModules: boolean;
}

/**
 * The real path of a file below the root.
 *
 * Errors: WORKFLOW_OUTSIDE, also for a link that leads out, and without a look at what is there; Node's own for a file
 * that is not there.
 */
export async function requireBelow(root: string, file: string): Promise<string> {
  const named = resolve(root, file);
  if (!isBelow(root, named)) throw outside(root, file);
  const real = await realpath(named);
  if (!isBelow(root, real)) throw outside(root, file);
  return real;
}

/** Errors: WORKFLOW_MODULE. */
export function refuseModule(file: string): never {
  const text = `${file} is a module: reading it runs its code, and this server was not allowed to`;
  throw new SplashdownError("WORKFLOW_MODULE", text, { details: { file } });
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way);
}

function outside(root: string, file: string): SplashdownError {
  return new SplashdownError("WORKFLOW_OUTSIDE", `the file ${file} is not below ${root}`, { details: { file, root } });
}

/** True for a text with the key `workflow` at its top, as far as its lines tell. */
export function looksLikeWorkflow(text: string): boolean {
  return /^workflow[ \t]{0,8}:/m.test(text) || /^\s{0,64}\{\s{0,64}"workflow"\s{0,8}:/.test(text);
}

const NO_WORKFLOW: DefinitionFault = {
  code: "missing_key",
  path: "$",
  message: "the file is no workflow: its first key is not workflow",
};

/** The same error without what other files than workflows hold. Shape: `isWorkflow` by the path that was read. */
export function hideContents(error: unknown, isWorkflow: ReadonlyMap<string, boolean>): unknown {
  if (!isErrorCode(error, "WORKFLOW_INVALID") || !(error instanceof SplashdownError)) return error;
  const { file, faults } = error.details;
  const isKnown = (path: unknown): boolean => typeof path === "string" && isWorkflow.get(path) === true;
  if (typeof file !== "string") return error;
  if (!isKnown(file)) {
    if (!isWorkflow.has(file)) return error;
    return new SplashdownError("WORKFLOW_INVALID", NO_WORKFLOW.message, {
      details: { file, faults: [{ ...NO_WORKFLOW }] },
    });
  }
  const given = Array.isArray(faults) ? faults.filter(isJsonObject) : [];
  const shown = (given as unknown as DefinitionFault[]).map((fault) =>
    fault.file === undefined || isKnown(fault.file) ? fault : hideOne(fault),
  );
  return new SplashdownError("WORKFLOW_INVALID", shown.map(({ message }) => message).join("\n"), {
    details: { file, faults: shown.map((fault) => ({ ...fault })) },
  });
}

function hideOne({ file = "", line, code, path }: DefinitionFault): DefinitionFault {
  const message = "a fault in a file that is put in; its contents are not shown here";
  return { file, ...(line === undefined ? {} : { line }), code, path, message };
}
