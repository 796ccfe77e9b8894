/**
 * Groups that tolerate failures and have nothing but failures: they stand in the way, and a resume tries their members again.
 *
 * A member that is a step begins anew, as every failed step does. A member that is a scope was left as failed, and is entered
 * once more only where nothing in it can have acted: its steps would run from the first, under other idempotency keys. What
 * is tried again and what a plan says are both read from here.
 */
import { countTried } from "./advance-scopes.js";
import type { StepId } from "../../../base/ids.js";
import { isAbsorbed } from "../steps/failure.js";
import type { Choice } from "../../model/choice.js";
import { childPath, currentStepId, findScopeDefinition } from "../../model/lookup.js";
import type { ScopeData, ScopeEntry, ScopeFrontier, StepEntry, TaskState } from "../../model/state.js";

export interface FailedMembers {
  readonly steps: readonly StepEntry[];
  /** Paths of scopes. */
  readonly scopes: readonly string[];
}

/** The members of a group that a resume tries again; none of a group that has not failed as a whole. */
export function listFailedMembers(choice: Pick<Choice, "state">, scope: ScopeEntry): FailedMembers {
  const { state } = choice;
  if (scope.data.scope === "phase") return { steps: [], scopes: listGivenUp(state, scope) };
  const names = hasFailedWholly(choice, scope) ? [...(state.frontier.get(scope.path)?.ended.keys() ?? [])] : [];
  const steps: StepEntry[] = [];
  const scopes: string[] = [];
  for (const path of names.map((name) => childPath(scope.path, name))) {
    const step = state.steps.get(currentStepId(state, path));
    if (step?.status === "failed") steps.push(step);
    else if (step === undefined && hasNotActed(state, path)) scopes.push(path);
  }
  return { steps, scopes };
}

/** Groups of a phase that it could go on without, and a model gave up: its single specialists stand in the way by themselves. */
function listGivenUp(state: TaskState, { path }: ScopeEntry): readonly string[] {
  const effect = state.decisions.findLast((made) => made.subject === path && made.effect?.kind === "give_up")?.effect;
  if (effect?.kind !== "give_up") return [];
  return [...(state.frontier.get(path)?.ended ?? [])].flatMap(([name, end]) => {
    const group = childPath(path, name);
    const attempt = `${currentStepId(state, group)}#${state.visits.get(group) ?? 1}`;
    const isOpen = end === "failed" && effect.attempts.includes(attempt);
    return isOpen && !state.steps.has(currentStepId(state, group)) && hasNotActed(state, group) ? [group] : [];
  });
}

function hasFailedWholly({ state }: Pick<Choice, "state">, { path, data }: ScopeEntry): boolean {
  if (data.scope !== "for_each" && data.scope !== "parallel" && data.scope !== "dag") return false;
  const node = findScopeDefinition(state, path);
  const frontier = state.frontier.get(path);
  if (frontier === undefined || !("failureMode" in node) || node.failureMode !== "continue_on_error") return false;
  return hasFailuresOnly(data, frontier) && !isAbsorbed({ state } as Choice, path);
}

type GroupData = Extract<ScopeData, { readonly scope: "for_each" | "parallel" | "dag" }>;

/** Nothing of the group is left to start or under way, and all that ended has failed. */
function hasFailuresOnly(data: GroupData, frontier: ScopeFrontier): boolean {
  const { ready } = frontier;
  if (data.failed === 0 || data.running > 0 || data.blocked > 0 || ready.length > 0) return false;
  if (data.scope === "for_each" && data.next < data.count) return false;
  return data.failed === countTried(frontier);
}

/** Of a scope that was left: no step in it has effects. */
function hasNotActed({ steps }: TaskState, path: string): boolean {
  for (const step of steps.values()) if (step.path.startsWith(`${path}/`) && step.effects !== "none") return false;
  return true;
}

/** Every step that begins anew, over all groups. */
export function listStepsTriedAgain(state: TaskState): ReadonlySet<StepId> {
  return new Set(
    [...state.scopes.values()].flatMap((scope) => listFailedMembers({ state }, scope).steps.map(({ id }) => id)),
  );
}

/** Every scope that is entered once more. */
export function listScopesTriedAgain(state: TaskState): readonly string[] {
  return [...state.scopes.values()].flatMap((scope) => listFailedMembers({ state }, scope).scopes);
}
