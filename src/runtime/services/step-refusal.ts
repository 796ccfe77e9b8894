/** Refuses verbs that are for people when a step of a task calls them. */
import { SplashdownError } from "../../base/errors.js";
import { findStepAbove, STEP_TASK_VARIABLE } from "../../process/step-above.js";
import type { Environment } from "../platform/environment.js";

export interface Refused {
  readonly verb: string;
  readonly task?: string | undefined;
}

export function refuse(step: string, { verb, task }: Refused): SplashdownError {
  const about = task === undefined ? "" : ` ${task}`;
  const text = `${verb}${about} was asked for by a step of the task ${step}: that is for people, from a terminal outside of it`;
  return new SplashdownError("INSIDE_STEP", text, {
    details: { step_of: step, verb, ...(task === undefined ? {} : { task }) },
  });
}

/** For verbs that need no task and no store. Errors: INSIDE_STEP. */
export function requireOutsideStep({ get }: Pick<Environment, "get">, verb: string): void {
  const step = findStepAbove(get(STEP_TASK_VARIABLE));
  if (step !== undefined) throw refuse(step, { verb });
}
