/**
 * The functions of a workflow, looked up before a task of it is made: one that is not there is not found when the steps
 * before it have been paid.
 */
import { importFunction } from "../../agents/function.js";
import { openFunctionGuard } from "../../agents/function-guard.js";
import type { LoadedWorkflow } from "../../definition/files/loaded-workflow.js";
import { isFunctionTool } from "../../definition/tool-definition.js";
import type { NodeDefinition } from "../../definition/workflow.js";
import type { Services } from "../services.js";

interface Reference {
  readonly reference: string;
  /** Of the workflow that names it. */
  readonly folder: string;
  readonly step: string;
}

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

function listFunctions(node: NodeDefinition, folder: string): Reference[] {
  if (node.node !== "step") {
    const own = node.scope === "workflow" ? node.folder : folder;
    const spawned = node.scope === "phase" && node.spawn !== undefined ? [node.spawn] : [];
    return [...node.children, ...spawned].flatMap((child) => listFunctions(child, own));
  }
  const step = node.path;
  if (node.kind === "function") return [{ reference: node.function, folder, step }];
  if (node.kind !== "model") return [];
  return (node.tools ?? []).filter(isFunctionTool).map((tool) => ({ reference: tool.function, folder, step }));
}
