/** Finds the definition of a node by path, spawned specialists included. */
import { assert } from "../base/errors.js";
import type { StepDefinition } from "../definition/workflow.js";
import type { StepEntry, TaskState } from "./state.js";

/** The definition a step is carried out by. */
export function findStepDefinition(_state: TaskState, step: StepEntry): StepDefinition {
  assert(false, `no definition of ${step.path}`);
}
