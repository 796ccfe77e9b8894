/** `defineWorkflow`: a workflow as an object of a program, with functions where a file names them. */
import type { FunctionContext } from "../agents/functions/function-context.js";
import type { ToolContext } from "../agents/tools/function-tool.js";
import { defineWorkflow as define, type WorkflowInput } from "../definition/define-workflow.js";
import type { InputValues, OnlyKnown } from "../definition/workflow-types.js";
import type { WorkflowHeader } from "../schema/generated/workflow.js";

/** Code of a step. What it returns is its output; see `FunctionContext` for what it is given. */
export type StepFunction<Inputs = Readonly<Record<string, unknown>>> = (context: FunctionContext<Inputs>) => unknown;

/** Code of a tool. What it returns is told to the model; see `ToolContext` for what it is given. */
export type ToolFunction = (context: ToolContext) => unknown;

/** A workflow as an object: keys are those of a file. */
export type Workflow<Inputs = never> = WorkflowInput<StepFunction<Inputs>, ToolFunction>;

type InputMap = NonNullable<WorkflowHeader["input"]>;

/**
 * Marks an object as a workflow and gives it its types: of what its functions see in `ctx.inputs`, and of what `run` gives.
 * A key that no workflow has does not compile. Nothing else is checked before it is run.
 *
 * Shape: the very object it was given.
 */
export function defineWorkflow<const Inputs extends InputMap, const Given extends Workflow<InputValues<Inputs>>>(
  workflow: Given & { readonly workflow: { readonly input?: Inputs } } & OnlyKnown<Given, Workflow>,
): Given {
  return define(workflow as Given);
}
