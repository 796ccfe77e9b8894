/**
 * Folds a changed definition into a running task.
 *
 * Finished steps stay finished and finished scopes stay left. In the open scopes children that are new take their place,
 * dependencies are counted anew, and what the new definition does not have any more is forgotten: its open steps are
 * marked cancelled and never come back. A failed or open step whose fingerprint changed is rendered anew at its next
 * intent (see intent.ts). A machine that stands at a child that is gone is stuck there.
 */
import type { StepId } from "../../base/ids.js";
import type {
  NodeDefinition,
  PhaseScope,
  PhasesScope,
  ScopeDefinition,
  WorkflowDefinition,
  WorkflowScope,
} from "../../definition/model/workflow.js";
import type { EventOf } from "../model/events.js";
import { countShort } from "./evolve-groups.js";
import { replaceData, requireScope } from "./evolve-scopes.js";
import { consumeQuestion } from "./evolve-steps.js";
import { definitionPathOf, itemKeyOf, nameOfPath, parentPathOf } from "../model/identity.js";
import { childPath, findPlace, indexDefinition, requireTask, listAdded } from "../model/lookup.js";
import type { GroupCounts, ScopeData, ScopeEntry, ScopeFrontier, TaskState } from "../model/state.js";

export function adoptDefinition(state: TaskState, definition: WorkflowDefinition): void {
  state.task = Object.freeze({ ...requireTask(state), definition });
  const { places } = indexDefinition(definition);
  const underWay = listItemsUnderWay(state);
  for (const path of state.scopes.keys())
    if (places.get(definitionPathOf(path))?.node.node !== "scope") forgetScope(state, path);
  for (const set of [state.open, state.waiting, state.blocked]) {
    for (const id of set) if (isGone(state, id)) forgetStep(state, id);
  }
  for (const scope of Array.from(state.scopes.values())) {
    const node = places.get(definitionPathOf(scope.path))?.node;
    if (node?.node === "scope") adoptScope(state, { scope, node, underWay });
  }
}

/** A goal has the phases that were planned: from now on they are those of the definition. */
export function settlePlan(state: TaskState, event: EventOf<"plan_settled">): void {
  const scope = requireScope(state, event.path);
  const data = scope.data as Extract<ScopeData, { scope: "phases" }>;
  const times = (data.planned?.times ?? 0) + 1;
  replaceData(state, scope, { ...data, planned: event.again === true ? { times } : { times, before: data.next } });
  if (event.consumes !== undefined) consumeQuestion(state, event.consumes);
  if (event.phases === undefined) return;
  const { definition } = requireTask(state);
  adoptDefinition(state, withPhases(definition, event.phases as unknown as readonly PhaseScope[]));
}

function withPhases(definition: WorkflowDefinition, phases: readonly PhaseScope[]): WorkflowDefinition {
  const { root } = definition;
  return root.scope === "phases" ? { ...definition, root: { ...root, children: phases } } : definition;
}

/** The file of a goal names no phases: those that were planned stay where the file has changed. */
export function keepPlan(before: WorkflowDefinition, now: WorkflowDefinition): WorkflowDefinition {
  const { root } = before;
  const isGoal = root.scope === "phases" && root.plan !== undefined;
  const stillIs = now.root.scope === "phases" && now.root.plan !== undefined;
  return isGoal && stillIs ? withPhases(now, root.children) : now;
}

function forgetScope(state: TaskState, path: string): void {
  state.scopes.delete(path);
  // A phase that was under way comes to no end any more.
  if (state.phases.get(path)?.status === "running") state.phases.delete(path);
  state.frontier.delete(path);
}

function isGone(state: TaskState, id: StepId): boolean {
  const step = state.steps.get(id);
  return step === undefined || findPlace(state, step.path)?.node.node !== "step";
}

function forgetStep(state: TaskState, id: StepId): void {
  const step = state.steps.get(id);
  for (const set of [state.open, state.waiting, state.blocked]) set.delete(id);
  if (step !== undefined && step.status !== "failed")
    state.steps.set(id, Object.freeze({ ...step, status: "cancelled" }));
}

/** Items by scope whose steps or scopes are open: what a changed body drops of them starts afresh. */
type ItemsUnderWay = ReadonlyMap<string, ReadonlySet<string>>;

function listItemsUnderWay(state: TaskState): ItemsUnderWay {
  const items = new Map<string, Set<string>>();
  const paths = [...state.open, ...state.waiting, ...state.blocked].map((id) => state.steps.get(id)?.path ?? "");
  for (const path of [...paths, ...state.scopes.keys()]) {
    for (let at = path, above = parentPathOf(at); above !== undefined; at = above, above = parentPathOf(at)) {
      if (itemKeyOf(at) === undefined) continue;
      const names = items.get(above) ?? new Set();
      items.set(above, names.add(nameOfPath(at)));
    }
  }
  return items;
}

interface Adoption {
  readonly scope: ScopeEntry;
  readonly node: ScopeDefinition;
  readonly underWay: ItemsUnderWay;
}

function adoptScope(state: TaskState, { scope, node, underWay }: Adoption): void {
  if (scope.data.scope !== node.scope) forgetScope(state, scope.path);
  else if (node.scope === "workflow") adoptWorkflow(state, scope, node);
  else if (node.scope === "for_each") adoptForEach(state, { scope, node, underWay });
  else if (node.scope === "machine") adoptMachine(state, scope, node);
  else if (node.scope === "phases") adoptPhases(state, scope, node);
  else adoptGroup(state, scope, node);
}

function adoptMachine(state: TaskState, scope: ScopeEntry, node: ScopeDefinition): void {
  const data = scope.data as Extract<ScopeData, { scope: "machine" }>;
  const standing = data.current ?? data.next;
  if (standing === undefined || standing === "$end" || node.children.some((child) => child.name === standing)) return;
  const { next: _next, ...rest } = data;
  replaceData(state, scope, { ...rest, current: standing, stuck: `the definition has no ${standing} any more` });
}

/** The list goes on behind the phase that is open or was left last. */
function adoptPhases(state: TaskState, scope: ScopeEntry, node: PhasesScope): void {
  const data = scope.data as Extract<ScopeData, { scope: "phases" }>;
  let next = 0;
  node.children.forEach((child, at) => {
    const status = state.phases.get(childPath(scope.path, child.name))?.status;
    if (status !== undefined) next = status === "running" ? at : at + 1;
  });
  const { current, ...rest } = data;
  const isOpen = current !== undefined && state.scopes.has(childPath(scope.path, current));
  replaceData(state, scope, { ...rest, next, ...(isOpen ? { current } : {}) });
}

/** Its root begins anew where it was dropped. */
function adoptWorkflow(state: TaskState, scope: ScopeEntry, node: WorkflowScope): void {
  const data = scope.data as Extract<ScopeData, { scope: "workflow" }>;
  const isOpen = state.scopes.has(childPath(scope.path, node.children[0].name));
  if (data.root === "running" && !isOpen) replaceData(state, scope, { ...data, root: "ready" });
}

/** The items stay those that were chosen; under another name of the body they all begin anew. */
function adoptForEach(state: TaskState, { scope, node, underWay }: Adoption): void {
  const data = scope.data as Extract<ScopeData, { scope: "for_each" }>;
  const frontier = state.frontier.get(scope.path);
  const [body] = node.children;
  if (frontier === undefined || body === undefined) return;
  const isKnown = (name: string) => definitionPathOf(name) === body.name;
  const { running, blocked } = countActive(state, scope.path);
  const kept = [...frontier.ready, ...(underWay.get(scope.path) ?? [])].filter((name) => isKnown(name));
  const begun = new Set([...frontier.ended.keys()].filter((name) => isKnown(name)));
  const hasBody = begun.size > 0 || kept.length > 0;
  for (const name of frontier.ended.keys()) if (!begun.has(name)) frontier.ended.delete(name);
  const ready = new Set(kept.filter((name) => !begun.has(name) && !running.has(name) && !blocked.has(name)));
  frontier.ready.splice(0, frontier.ready.length, ...ready);
  replaceData(state, scope, {
    ...data,
    ...(hasBody ? {} : { next: 0 }),
    running: running.size,
    blocked: blocked.size,
    ...countEnds(state, scope.path, data),
  });
}

function countEnds(state: TaskState, path: string, data: GroupCounts) {
  const { failed, imperfect } = countShort(state, path);
  return { failed, imperfect, failing: data.failing && failed > 0 };
}

function adoptGroup(state: TaskState, scope: ScopeEntry, node: ScopeDefinition): void {
  const data = scope.data as Extract<ScopeData, GroupCounts>;
  const frontier = state.frontier.get(scope.path);
  if (frontier === undefined) return;
  const spawned = listAdded(scope);
  const known = new Set([...node.children.map((child) => child.name), ...spawned]);
  const isKnown = (name: string) => known.has(name) || findPlace(state, childPath(scope.path, name)) !== undefined;
  for (const name of frontier.ended.keys()) if (!isKnown(name)) frontier.ended.delete(name);
  const { running, blocked } = countActive(state, scope.path);
  const kept = frontier.ready.filter((name) => isKnown(name) && !node.children.some((child) => child.name === name));
  frontier.ready.splice(0, frontier.ready.length, ...kept);
  frontier.waiting.clear();
  for (const child of node.children) {
    if (frontier.ended.has(child.name) || running.has(child.name) || blocked.has(child.name)) continue;
    const unmet = child.dependsOn.filter((name) => !isSatisfied(frontier, child, name)).length;
    if (unmet === 0) frontier.ready.push(child.name);
    else frontier.waiting.set(child.name, unmet);
  }
  replaceData(state, scope, {
    ...data,
    running: running.size,
    blocked: blocked.size,
    ...countEnds(state, scope.path, data),
  });
}

function isSatisfied(frontier: ScopeFrontier, { startsOn }: NodeDefinition, name: string): boolean {
  const end = frontier.ended.get(name);
  return end !== undefined && (end !== "failed" || startsOn?.[name]?.includes("failed") === true);
}

/** Children that run or are blocked, from the sets of open work. */
function countActive(state: TaskState, path: string): { readonly running: Set<string>; readonly blocked: Set<string> } {
  const running = new Set<string>();
  const blocked = new Set<string>();
  for (const scope of state.scopes.values()) if (scope.parent === path) running.add(scope.path.slice(path.length + 1));
  for (const id of new Set([...state.open, ...state.waiting, ...state.blocked])) {
    const step = state.steps.get(id);
    if (step === undefined || findPlace(state, step.path)?.parent !== path) continue;
    const name = step.path.slice(path.length + 1);
    if (step.status === "open" || step.status === "waiting_retry") running.add(name);
    if (state.blocked.has(id) && step.status !== "failed") blocked.add(name);
  }
  return { running, blocked };
}
