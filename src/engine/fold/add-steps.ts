/** Folds steps that a step adds with its completion: they stand in the group around it, and may start at once. */
import type { JsonObject } from "../../base/json.js";
import type { AddedStep } from "../../definition/compile/added-step.js";
import { definitionToJson, findPlace } from "../model/lookup.js";
import type { ScopeData, ScopeEntry, TaskState } from "../model/state.js";
import { replaceData } from "./evolve-scopes.js";

type HostData = Extract<ScopeData, { readonly spawned?: JsonObject }>;

export function addSteps(state: TaskState, path: string, steps: readonly AddedStep[] = []): void {
  const host = steps.length === 0 ? undefined : findHost(state, path);
  if (host === undefined) return;
  const { scope, data } = host;
  const added = steps.flatMap((step) => ("definition" in step ? [[step.name, definitionToJson(step.definition)]] : []));
  const spawned = Object.freeze({ ...data.spawned, ...(Object.fromEntries(added) as JsonObject) });
  replaceData(state, scope, { ...data, spawned });
  state.frontier.get(scope.path)?.ready.push(...steps.map(({ name }) => name));
  const phase = state.phases.get(scope.path);
  if (phase !== undefined)
    state.phases.set(scope.path, Object.freeze({ ...phase, added: Object.freeze(Object.keys(spawned)) }));
}

function findHost(state: TaskState, path: string): { readonly scope: ScopeEntry; readonly data: HostData } | undefined {
  const parent = findPlace(state, path)?.parent;
  const scope = parent === undefined ? undefined : state.scopes.get(parent);
  if (scope === undefined) return undefined;
  const { data } = scope;
  return data.scope === "dag" || data.scope === "parallel" || data.scope === "phase" ? { scope, data } : undefined;
}
