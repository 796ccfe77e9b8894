/**
 * Loads the workflows that steps of a file name, each once, and those that they name.
 *
 * D8: no workflow is part of itself, and none is nested deeper than LIMITS.workflowNestingMax: the chain is named.
 */
import { resolve } from "node:path";
import { errorCodeOf, isErrorCode, type SplashdownError } from "../base/errors.js";
import { isJsonObject, type JsonValue } from "../base/json.js";
import { LIMITS } from "../base/limits.js";
import type { DefinitionFault, FaultList, FaultPath } from "./faults/fault.js";
import type { LoadedWorkflow } from "./model/loaded-workflow.js";
import type { NodeDefinition } from "./model/workflow.js";

/** What a nested workflow takes over from those around it. */
export interface Surroundings {
  /** Files from the outermost workflow to the one that names it. */
  readonly trail: readonly string[];
  /** Texts before every prompt. */
  readonly instructions: readonly string[];
}

export interface NestedFiles {
  readonly folder: string;
  readonly faults: FaultList;
  readonly around: Surroundings;
  readonly load: (file: string, around: Surroundings) => Promise<LoadedWorkflow>;
}

/** Shape: by the text that names the file; what cannot be loaded is missing, and its faults are in the list. */
export async function loadNested(value: JsonValue, files: NestedFiles): Promise<ReadonlyMap<string, LoadedWorkflow>> {
  const loaded = new Map<string, LoadedWorkflow>();
  for (const request of findRequests(value, [])) {
    const workflow = loaded.get(request.text) ?? (await loadOne(request, files));
    if (workflow === undefined) continue;
    loaded.set(request.text, workflow);
    checkDepth(request, workflow, files.faults);
  }
  return loaded;
}

interface NestedRequest {
  readonly text: string;
  /** Place of the step. */
  readonly at: FaultPath;
  readonly depthMax: number;
}

/** Keys below which steps stand. */
const HOLDERS = new Set(["phases", "specialists", "spawn", "steps", "agents", "parallel", "for_each", "step", "agent"]);

function findRequests(value: JsonValue | undefined, at: FaultPath): NestedRequest[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, index) => findRequests(item, [...at, index]));
  if (!isJsonObject(value)) return [];
  const inner = Object.entries(value).flatMap(([key, item]) =>
    HOLDERS.has(key) ? findRequests(item, [...at, key]) : [],
  );
  const { workflow: text, max_depth: max } = value;
  if (typeof text !== "string" || at.length === 0) return inner;
  return [{ text, at, depthMax: typeof max === "number" ? max : LIMITS.workflowNestingMax }, ...inner];
}

async function loadOne({ text, at }: NestedRequest, files: NestedFiles): Promise<LoadedWorkflow | undefined> {
  const { folder, faults, around } = files;
  const path = [...at, "workflow"];
  if (text.includes("{{")) {
    const suggestion = "name the file; choose between several with routes";
    faults.add({
      code: "nesting",
      path,
      message: "the file of a nested workflow is known ahead: it is no template",
      suggestion,
    });
    return undefined;
  }
  const file = resolve(folder, text);
  const trail = [...around.trail, file];
  if (around.trail.includes(file)) {
    faults.add({ code: "nesting", path, message: `workflows are part of each other: ${trail.join(" → ")}` });
    return undefined;
  }
  if (around.trail.length > LIMITS.workflowNestingMax) {
    const message = `workflows are nested deeper than ${LIMITS.workflowNestingMax}: ${trail.join(" → ")}`;
    faults.add({ code: "nesting", path, message });
    return undefined;
  }
  try {
    const workflow = await files.load(file, around);
    if (workflow.functions.size === 0) return workflow;
    const suggestion = "put them into a file and name them as file#name";
    faults.add({
      code: "nesting",
      path,
      message: `${text} has functions of a program in it, which cannot be nested`,
      suggestion,
    });
  } catch (error) {
    noteFailure(error, path, faults);
  }
  return undefined;
}

/** Faults of the nested file keep their own places. */
function noteFailure(error: unknown, path: FaultPath, faults: FaultList): void {
  if (errorCodeOf(error) === undefined || isErrorCode(error, "WORKFLOW_OUTSIDE", "WORKFLOW_MODULE")) throw error;
  const { details, message } = error as SplashdownError;
  const inner = details["faults"];
  if (Array.isArray(inner) && inner.length > 0)
    for (const fault of inner as unknown as readonly DefinitionFault[]) faults.addPlaced(fault);
  else faults.add({ code: "nesting", path, message, suggestion: "the path is relative to the file that names it" });
}

function checkDepth({ at, depthMax }: NestedRequest, { definition }: LoadedWorkflow, faults: FaultList): void {
  const depth = 1 + depthOf(definition.root);
  if (depth <= depthMax) return;
  const message = `workflows are nested ${depth} deep below this step, more than its max_depth of ${depthMax}`;
  faults.add({ code: "nesting", path: [...at, "max_depth"], message, suggestion: "raise max_depth" });
}

/** How many workflows stand in each other below a node. */
function depthOf(node: NodeDefinition): number {
  if (node.node === "step") return 0;
  const inner = Math.max(0, ...(node.children as readonly NodeDefinition[]).map((child) => depthOf(child)));
  return inner + (node.scope === "workflow" ? 1 : 0);
}
