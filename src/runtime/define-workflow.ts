/** `defineWorkflow`: a workflow as an object of a program, with functions where a file names them. */
import type { FunctionContext } from "../agents/functions/function-context.js";
import { defineWorkflow as define, type WorkflowInput } from "../definition/define-workflow.js";

/** Code of a step. What it returns is its output; see `FunctionContext` for what it is given. */
export type StepFunction = (context: FunctionContext) => unknown;

/** A workflow as an object: keys are those of a file. */
export type Workflow = WorkflowInput<StepFunction>;

/**
 * Marks an object as a workflow and gives it its type; nothing is checked before it is run.
 *
 * Shape: the very object it was given.
 */
export function defineWorkflow<const T extends Workflow>(workflow: T): T {
  return define(workflow);
}
