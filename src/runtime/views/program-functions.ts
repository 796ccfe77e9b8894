/**
 * Tasks of which functions are in a program: a process without them changes nothing of the task, and names the program.
 *
 * Owns: telling such a task from its definition, and what to say instead of a command that would fail there.
 */
import { isFunctionTool } from "../../definition/model/tool-definition.js";
import type { NodeDefinition } from "../../definition/model/workflow.js";
import type { TaskEntry } from "../../engine/model/state.js";

/** What of a task tells where its functions are. */
export type Origin = Pick<TaskEntry, "definition" | "definitionFile">;

/** True of a task that only the program goes on with that defined its workflow; no file has its functions. */
export function isOfDefiningProgram({ definition, definitionFile }: Origin): boolean {
  return definitionFile === undefined && listFunctions(definition.root, "").some(({ reference }) => isGiven(reference));
}

export interface FunctionReference {
  readonly reference: string;
  /** Of the workflow that names it. */
  readonly folder: string;
  readonly step: string;
}

/** Those that steps and tools of a definition name. */
export function listFunctions(node: NodeDefinition, folder: string): FunctionReference[] {
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

/** How to go on with a task: by `command`, or by its program. */
export function chooseGoingOn(task: Origin | undefined, command: string): string {
  return task !== undefined && isOfDefiningProgram(task) ? describeProgram(task) : command;
}

export function describeProgram({ definition }: Pick<Origin, "definition">): string {
  return `run the program again that defined the workflow ${definition.name}`;
}

/** The fields of a summary. */
export function viewProgram(task: Origin | undefined): { readonly by_program?: string } {
  return task !== undefined && isOfDefiningProgram(task) ? { by_program: describeProgram(task) } : {};
}

/** A function that a program gave, not one that a file exports. */
export function isGiven(reference: string): boolean {
  return reference.startsWith("@");
}
