/** Steps that a person wants to stop before. */
import { SplashdownError } from "../../base/errors.js";
import { findNearest } from "../../definition/faults/nearest.js";
import { definitionPathOf } from "../../engine/model/identity.js";
import type { NodeDefinition, WorkflowDefinition } from "../../definition/model/workflow.js";

export interface BreakRequest {
  readonly workflow: { readonly definition: WorkflowDefinition };
  /** Paths or names of steps. */
  readonly breakAt?: readonly string[] | undefined;
}

/** Errors: USAGE_INVALID for what names no step, with the nearest that there is. */
export function breakpointsOf({ workflow, breakAt = [] }: BreakRequest): ((path: string) => boolean) | undefined {
  if (breakAt.length === 0) return undefined;
  const paths = listSteps(workflow.definition.root);
  const wanted = new Set(breakAt.flatMap((step) => requireSteps(paths, step)));
  return (path) => wanted.has(definitionPathOf(path)) || wanted.has(path);
}

function requireSteps(paths: readonly string[], step: string): readonly string[] {
  const fitting = paths.filter((path) => path === step || path.endsWith(`/${step}`));
  if (fitting.length > 0) return fitting;
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const nearest = findNearest(step, [...names, ...paths]);
  throw new SplashdownError(
    "USAGE_INVALID",
    `no step is called ${step}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`,
    { details: { step } },
  );
}

function listSteps(node: NodeDefinition): readonly string[] {
  if (node.node === "step") return [node.path];
  const children: readonly NodeDefinition[] = node.children;
  return children.flatMap(listSteps);
}
