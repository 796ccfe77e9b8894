/** Workflow files that an agent may run: those below one folder, whatever links say. */
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { errnoOf, messageOf, SplashdownError } from "../base/errors.js";

/**
 * The real path of a workflow file below `root`, which is a real path itself.
 *
 * Errors: WORKFLOW_OUTSIDE, also for a link that leads out, and without a look at what is there; WORKFLOW_NOT_FOUND.
 */
export async function requireWorkflowFile(root: string, file: string): Promise<string> {
  const named = resolve(root, file);
  if (!isBelow(root, named)) throw outside(root, file);
  const real = await realpath(named).catch((error: unknown) => {
    const why = errnoOf(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    throw new SplashdownError("WORKFLOW_NOT_FOUND", `workflow file ${file}: ${why}`, { details: { file } });
  });
  if (!isBelow(root, real)) throw outside(root, file);
  return real;
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way);
}

function outside(root: string, file: string): SplashdownError {
  return new SplashdownError("WORKFLOW_OUTSIDE", `workflow file ${file} is not below ${root}`, {
    details: { file, root },
  });
}
