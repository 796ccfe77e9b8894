/** Workflow files that an agent may run: those below one folder, whatever links say. */
import { extname } from "node:path";
import { errnoOf, isErrorCode, messageOf, SplashdownError } from "../base/errors.js";
import { refuseModule, requireBelow } from "../runtime/services/confinement.js";

const DATA: ReadonlySet<string> = new Set([".yaml", ".yml", ".json"]);

/** What else has a name of its own is code, or nothing that a workflow could be. */
export function isModule(file: string): boolean {
  return /^\.[cm]?[jt]s$/i.test(extname(file));
}

/**
 * The real path of a workflow file below `root`, which is a real path itself.
 *
 * Errors: WORKFLOW_OUTSIDE; WORKFLOW_MODULE unless modules are allowed; WORKFLOW_NOT_FOUND; WORKFLOW_INVALID for a name
 * of neither kind, also behind a link with another name.
 */
export async function requireWorkflowFile(root: string, file: string, mayLoadModules = false): Promise<string> {
  const real = await requireBelow(root, file).catch((error: unknown) => {
    if (isErrorCode(error, "WORKFLOW_OUTSIDE")) throw error;
    const why = errnoOf(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    throw new SplashdownError("WORKFLOW_NOT_FOUND", `workflow file ${file}: ${why}`, { details: { file } });
  });
  if (isModule(real)) return mayLoadModules ? real : refuseModule(file);
  if (DATA.has(extname(real).toLowerCase())) return real;
  throw new SplashdownError("WORKFLOW_INVALID", `${file} is no workflow file: name it .yaml, .yml or .json`, {
    details: { file, faults: [] },
  });
}
