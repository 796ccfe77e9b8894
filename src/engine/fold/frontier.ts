import type { ScopeDefinition } from "../../definition/model/workflow.js";
import type { ScopeFrontier } from "../model/state.js";

/** Items of a for_each are ready in their order without being listed. */
export function createFrontier(node: ScopeDefinition): ScopeFrontier {
  const frontier: ScopeFrontier = { ready: [], waiting: new Map(), ended: new Map(), causes: new Map() };
  if (node.scope === "for_each") return frontier;
  for (const child of node.children) {
    if (child.dependsOn.length === 0) frontier.ready.push(child.name);
    else frontier.waiting.set(child.name, child.dependsOn.length);
  }
  return frontier;
}
