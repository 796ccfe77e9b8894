/**
 * The functions of a workflow, looked up before a task of it is made or gone on with: one that is not there is not found
 * when the steps before it have been paid.
 */
import { importFunction } from "../../agents/functions/function.js";
import { openFunctionGuard } from "../../agents/outcome/function-guard.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import { SplashdownError } from "../../base/errors.js";
import type { Services } from "../services/services.js";
import { isGiven, listFunctions, type Origin } from "../views/program-functions.js";

/** Errors: FUNCTION_NOT_FOUND, with the step; STEP_FAILED for what a file does to the process while it is loaded. */
export async function requireFunctions({ log }: Services, workflow: LoadedWorkflow): Promise<void> {
  const { definition, functions, folder } = workflow;
  const guard = openFunctionGuard(log);
  try {
    for (const { reference, ...place } of listFunctions(definition.root, folder))
      await guard.run(place.step, () => importFunction({ functions, ...place }, reference));
  } finally {
    guard.close();
  }
}

/**
 * Asked before anything of a task is claimed or recorded.
 *
 * Errors: FUNCTIONS_ELSEWHERE, with the steps; FUNCTION_NOT_FOUND, STEP_FAILED of functions that files have.
 */
export async function requireFunctionsHere(
  services: Services,
  task: { readonly name: string; readonly origin: Origin },
  workflow: LoadedWorkflow,
): Promise<void> {
  const { definition, functions, folder } = workflow;
  const absent = listFunctions(definition.root, folder).filter(
    ({ reference }) => isGiven(reference) && !functions.has(reference) && !functions.has(reference.slice(1)),
  );
  if (absent.length === 0) return requireFunctions(services, workflow);
  throw elsewhere(
    task,
    absent.map(({ step }) => step),
  );
}

function elsewhere(
  { name, origin }: { readonly name: string; readonly origin: Origin },
  steps: readonly string[],
): SplashdownError {
  const { definitionFile: file, definition } = origin;
  const [first = "", ...others] = [...new Set(steps)];
  const which = others.length === 0 ? `the function of step ${first}` : `functions (step ${first} and others)`;
  const details = { task: name, workflow: definition.name, steps: [first, ...others] };
  if (file !== undefined) {
    const text = `task ${name} needs ${which} from ${file}, which gives none now; nothing was changed`;
    return new SplashdownError("FUNCTION_NOT_FOUND", text, { details: { ...details, file } });
  }
  const text = `task ${name} needs ${which}, which is in the program that defined the workflow; nothing was changed`;
  return new SplashdownError("FUNCTIONS_ELSEWHERE", text, { details });
}
