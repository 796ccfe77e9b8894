/** Where control may go from a child of a machine: routes, options of a gate, the way out of a wizard, on_error. */
import type { FaultPath } from "../faults/fault.js";
import type { NodeDefinition } from "../model/workflow.js";

export interface Target {
  readonly to: string;
  /** Below the node in the file. */
  readonly at: FaultPath;
  /** When control goes there. */
  readonly label?: string;
  /** After a failure. */
  readonly isFailure: boolean;
}

/** Shape: in the order of the file. Empty where the end follows by itself. */
export function listTargets(node: NodeDefinition): readonly Target[] {
  const routes = node.routes.map(({ to, when }, index): Target => ({
    to,
    at: ["routes", index, "to"],
    isFailure: false,
    ...(when === undefined ? {} : { label: when }),
  }));
  const failure: readonly Target[] =
    node.onError === undefined ? [] : [{ to: node.onError, at: ["on_error"], isFailure: true, label: "on error" }];
  return [...listChoices(node), ...routes, ...failure];
}

function listChoices(node: NodeDefinition): readonly Target[] {
  if (node.node !== "step") return [];
  if (node.kind === "questions")
    return node.abortRoute === undefined
      ? []
      : [{ to: node.abortRoute, at: ["abort_route"], isFailure: false, label: "abort" }];
  if (node.kind !== "human_gate") return [];
  return node.options.flatMap(({ value, route }, index) =>
    route === undefined ? [] : [{ to: route, at: ["options", index, "route"], isFailure: false, label: value }],
  );
}

/** True where control may go to `$end` without a route that says so. */
export function endsByItself(node: NodeDefinition): boolean {
  if (node.routes.length > 0) return false;
  return node.node !== "step" || node.kind !== "human_gate" || node.options.some(({ route }) => route === undefined);
}
