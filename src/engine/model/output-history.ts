/**
 * What each open workflow has stored so far, in order: what templates read as `context.history` and `.iteration`.
 *
 * A step that completed counts one; so does a group (parallel, for_each), whatever is in it, and a nested workflow, which
 * counts what is in it for itself from its own beginning. Hooks and scorers stand beside the workflow and do not count.
 * Noting costs as much as the path is deep, reading as much as the one workflow has stored. Source: CONDUCTOR-YAML 1.7.
 */
import type { JsonObject } from "../../base/json.js";
import type { EventOf } from "./events.js";
import { definitionPathOf, nameOfPath, parentPathOf } from "./identity.js";
import { findWorkflow, indexDefinition, isHook, requireTask } from "./lookup.js";
import type { TaskState } from "./state.js";

/** Scopes that count as one, in the workflow around them. */
const ONE_AS_A_WHOLE: ReadonlySet<string> = new Set(["parallel", "for_each", "workflow"]);

/** Notes a step that completed. */
export function noteStep(state: TaskState, path: string): void {
  const { places } = indexDefinition(requireTask(state).definition);
  if (!isHook(path) && places.get(definitionPathOf(path))?.isScorer !== true) note(state, path);
}

/** Notes a scope that was left with a result, where it counts as one; what a nested workflow had stored is forgotten. */
export function noteScope(state: TaskState, { path, outcome }: EventOf<"scope_left">): void {
  const { places } = indexDefinition(requireTask(state).definition);
  const node = places.get(definitionPathOf(path))?.node;
  if (node?.node !== "scope" || !ONE_AS_A_WHOLE.has(node.scope)) return;
  state.stored.delete(path);
  if (outcome !== "failed") note(state, path);
}

function note(state: TaskState, path: string): void {
  const holder = findHolder(state, path);
  if (holder === undefined) return;
  const list = state.stored.get(holder);
  if (list === undefined) state.stored.set(holder, [path]);
  else list.push(path);
}

/** Path of the workflow that counts a node; `undefined` within a group, which counts as a whole. */
function findHolder(state: TaskState, path: string): string | undefined {
  const { definition } = requireTask(state);
  const { places } = indexDefinition(definition);
  for (let at = parentPathOf(path); at !== undefined; at = parentPathOf(at)) {
    const node = places.get(definitionPathOf(at))?.node;
    if (node?.node !== "scope" || !ONE_AS_A_WHOLE.has(node.scope)) continue;
    return node.scope === "workflow" ? at : undefined;
  }
  return definition.root.path;
}

/**
 * `context` as templates of a node see it; the list is put together only when a template names it.
 *
 * Shape: `isEnding`: the node itself has just ended and is counted, as its routes see it.
 */
export function describeStored(state: TaskState, path: string, { isEnding = false } = {}): JsonObject {
  const holder = findWorkflow(state, path)?.path ?? requireTask(state).definition.root.path;
  const stored = state.stored.get(holder) ?? [];
  const ended = isEnding && findHolder(state, path) !== undefined ? [path] : [];
  return {
    iteration: stored.length + ended.length,
    get history() {
      return [...stored, ...ended].map((at) => nameOfPath(definitionPathOf(at)));
    },
  };
}
