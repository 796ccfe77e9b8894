/**
 * Finds the node of the definition that an instance path stands for, in constant time, specialists that the orchestrator
 * added included.
 *
 * Owns: the index over a definition, built once per definition object. Scorers are children of their phase under the
 * name `$evaluate/<dimension>`.
 */
import { assert, SplashdownError } from "../../base/errors.js";
import type { StepId } from "../../base/ids.js";
import type { JsonObject } from "../../base/json.js";
import { kindOf } from "../../definition/kinds/table.js";
import type { HooksDefinition } from "../../definition/model/hooks.js";
import { ATLAS_NAME, CONSOLIDATE_NAME, HOOKS_NAME, PLAN_NAME } from "../../definition/model/defaults.js";
import type {
  NodeDefinition,
  PhaseScope,
  PhasesScope,
  ScopeDefinition,
  WorkflowDefinition,
  WorkflowScope,
} from "../../definition/model/workflow.js";
import type { StepDefinition, StepKind } from "../../definition/model/step.js";
import type { OnFailure } from "../../definition/model/values.js";
import { definitionPathOf, nameOfPath, parentPathOf, stepIdOf } from "./identity.js";
import type { ScopeEntry, StepEntry, TaskEntry, TaskState } from "./state.js";
import type { Choice } from "./choice.js";

/** Where a node stands in the definition, or an instance of it in the state. */
export interface NodePlace {
  /** Its `path` is that of the definition, never a place in the state. */
  readonly node: NodeDefinition;
  /** Path of the scope it is a child of; `undefined` for the root. */
  readonly parent?: string;
  /** How its scope calls it; an item of a for_each with its key. */
  readonly name: string;
  readonly isScorer: boolean;
}

export interface DefinitionIndex {
  readonly places: ReadonlyMap<string, NodePlace>;
  /** Names of the siblings that depend on a node, by its path. */
  readonly dependants: ReadonlyMap<string, readonly string[]>;
  /**
   * Nodes of a name as seen from a border (the root, the body of a for_each, a nested workflow): by its path and the name,
   * paths from there on, in order of the definition. What is behind another border is not among them.
   */
  readonly byName: ReadonlyMap<string, readonly string[]>;
  readonly isNesting: boolean;
}

/** Key of `DefinitionIndex.byName`. No name has a space after a slash, and no path ends in one. */
export function nameAt(border: string, name: string): string {
  return `${border} / ${name}`;
}

/** Identity of the latest visit of a step's place; of none before the first. */
export function currentStepId(state: TaskState, path: string): StepId {
  return stepIdOf({ path, round: state.rounds.get(path) ?? state.round, visit: state.visits.get(path) ?? 0 });
}

const EVALUATE = "$evaluate";
const indexes = new WeakMap<WorkflowDefinition, DefinitionIndex>();

/** The index of a definition. Units: built in O(nodes) once, then O(1). */
export function indexDefinition(definition: WorkflowDefinition): DefinitionIndex {
  const known = indexes.get(definition);
  if (known !== undefined) return known;
  const places = new Map<string, NodePlace>();
  const dependants = new Map<string, string[]>();
  const byName = new Map<string, string[]>();
  const addHooks = (hooks: HooksDefinition | undefined) => {
    for (const hook of Object.values(hooks ?? {}))
      if ("step" in hook) places.set(hook.step.path, { node: hook.step, name: hook.step.name, isScorer: false });
  };
  const add = (place: NodePlace, border: string) => {
    const { node } = place;
    places.set(node.path, place);
    if (!place.isScorer && !isOwnStep(node.name))
      pushTo(byName, nameAt(border, node.name), node.path.slice(border.length));
    for (const name of place.parent === undefined || place.isScorer ? [] : node.dependsOn) {
      pushTo(dependants, `${place.parent}/${name}`, node.name);
    }
    if (node.node !== "scope") return;
    if (node.scope === "workflow") addHooks(node.hooks);
    for (const child of childrenOf(node)) add(placeOfChild(node, child), borderBelow(node, border));
  };
  add({ node: definition.root, name: definition.root.name, isScorer: false }, definition.root.path);
  addHooks(definition.hooks);
  const isNesting = [...places.values()].some(({ node }) => node.node === "scope" && node.scope === "workflow");
  const index = { places, dependants, byName, isNesting };
  indexes.set(definition, index);
  return index;
}

function borderBelow(scope: ScopeDefinition, border: string): string {
  if (scope.scope === "workflow") return scope.path;
  return scope.scope === "for_each" ? scope.children[0].path : border;
}

function placeOfChild(scope: ScopeDefinition, child: NodeDefinition): NodePlace {
  const isScorer = child.node === "step" && child.kind === "scorer";
  return {
    node: child,
    parent: scope.path,
    name: isScorer ? `${EVALUATE}/${nameOfPath(child.path)}` : child.name,
    isScorer,
  };
}

/** With the steps that a scope has of its own: they stand in no list of a file. */
function childrenOf(scope: ScopeDefinition): readonly NodeDefinition[] {
  if (scope.scope === "phase") {
    const { orchestrator, evaluate } = scope;
    return [...scope.children, ...(evaluate?.scorers ?? []), ...(orchestrator === undefined ? [] : [orchestrator])];
  }
  return scope.scope === "phases" ? [...scope.children, ...ownStepsOf(scope)] : scope.children;
}

function ownStepsOf({ plan, consolidation }: PhasesScope): readonly StepDefinition[] {
  return [plan?.planner, consolidation?.writer].filter((step) => step !== undefined);
}

/** True for a step in which a model plans, chooses or merges for the orchestrator: a scope has it of its own. */
export function isOwnStep(name: string): boolean {
  return name === PLAN_NAME || name === CONSOLIDATE_NAME || name === ATLAS_NAME;
}

function pushTo(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Names of the siblings that run after a failure of the node, and so deal with it. */
export function listHandlers(state: TaskState, path: string): readonly string[] {
  const { places, dependants } = indexDefinition(requireTask(state).definition);
  const at = definitionPathOf(path);
  const [parent, name] = [parentPathOf(at), nameOfPath(at)];
  const isHandler = (sibling: string): boolean =>
    places.get(`${parent ?? ""}/${sibling}`)?.node.startsOn?.[name]?.includes("failed") === true;
  return (dependants.get(at) ?? []).filter(isHandler);
}

/** True when a sibling deals with a failure of the node. */
export function isHandledFailure(state: TaskState, path: string): boolean {
  return listHandlers(state, path).length > 0;
}

/** The task of a state that has one. */
export function requireTask(state: TaskState): TaskEntry {
  assert(state.task !== undefined, "no task was started");
  return state.task;
}

/** The place of a node in the running definition; `undefined` when the definition does not have it (any more). */
export function findPlace(state: TaskState, path: string): NodePlace | undefined {
  const known = indexDefinition(requireTask(state).definition).places.get(definitionPathOf(path));
  if (known !== undefined) return placeInstance(known, path);
  const parent = parentPathOf(path);
  const scope = parent === undefined ? undefined : state.scopes.get(parent);
  const spawned = scope === undefined ? undefined : addedTo(scope)[nameOfPath(path)];
  return spawned === undefined
    ? undefined
    : { node: spawned as unknown as StepDefinition, parent, name: nameOfPath(path), isScorer: false };
}

function addedTo({ data }: ScopeEntry): JsonObject {
  return ("spawned" in data ? data.spawned : undefined) ?? {};
}

/** Names of the members that a group got while the task runs. */
export function listAdded(scope: ScopeEntry): readonly string[] {
  return Object.keys(addedTo(scope));
}

function placeInstance(place: NodePlace, path: string): NodePlace {
  if (!path.includes("[") || place.parent === undefined) return place;
  const above = parentPathOf(path);
  const parent = place.isScorer && above !== undefined ? parentPathOf(above) : above;
  return { ...place, parent, name: path.slice((parent?.length ?? -1) + 1) };
}

/** Same, for a path that must exist. Errors: WORKFLOW_MISMATCH when a changed definition has dropped it. */
export function requirePlace(state: TaskState, path: string): NodePlace {
  const place = findPlace(state, path);
  if (place === undefined) {
    throw new SplashdownError("WORKFLOW_MISMATCH", `the definition has no step ${path} any more`, {
      details: { path },
    });
  }
  return place;
}

/**
 * The definition a step is carried out by.
 *
 * Errors: WORKFLOW_MISMATCH when a changed definition has dropped it.
 */
export function findStepDefinition(state: TaskState, step: StepEntry): StepDefinition {
  if (step.spawnedDefinition !== undefined) return step.spawnedDefinition as unknown as StepDefinition;
  const { node } = requirePlace(state, step.path);
  assert(node.node === "step", `${step.path} is a scope`);
  return node;
}

/** True for the place of a hook, which stands beside the workflow. */
export function isHook(path: string): boolean {
  return path.includes(`/${HOOKS_NAME}/`);
}

/** True when an attempt without an end may have acted on the world. */
export function mayHaveBegun({ kind, process, held }: Pick<StepEntry, "kind" | "process" | "held">): boolean {
  return held !== true && (process !== undefined || kindOf(kind).actsAtOnce === true);
}

/** True for what people look at as an agent: not what only computes, judges or lets time pass. */
export function isAgent(kind: StepKind): boolean {
  const { isWork, endedBy } = kindOf(kind);
  return isWork === true || endedBy === "person" || endedBy === "engine";
}

/** True where a performer carries the step out. */
export function isPerformed(kind: StepKind): boolean {
  return kindOf(kind).endedBy === "performer";
}

export interface PlacedWorkflow {
  /** Instance path of the scope. */
  readonly path: string;
  readonly node: WorkflowScope;
}

/** The nested workflow that a node is part of; `undefined` where that is the task's own. A nested one is no part of itself. */
export function findWorkflow(state: TaskState, path: string): PlacedWorkflow | undefined {
  const { places } = indexDefinition(requireTask(state).definition);
  for (let at = parentPathOf(path); at !== undefined; at = parentPathOf(at)) {
    const node = places.get(definitionPathOf(at))?.node;
    if (node?.node === "scope" && node.scope === "workflow") return { path: at, node };
  }
  return undefined;
}

/** All nested workflows that a node is part of, the innermost first. */
export function listWorkflowsAround(state: TaskState, path: string): readonly PlacedWorkflow[] {
  const around: PlacedWorkflow[] = [];
  for (let at = findWorkflow(state, path); at !== undefined; at = findWorkflow(state, at.path)) around.push(at);
  return around;
}

/** True where a definition has nested workflows at all. */
export function hasNested(state: TaskState): boolean {
  return indexDefinition(requireTask(state).definition).isNesting;
}

/** What happens after a failure nobody dealt with, in the workflow that a node is part of. */
export function onFailureOf(state: TaskState, path: string): OnFailure {
  return findWorkflow(state, path)?.node.onFailure ?? requireTask(state).definition.onFailure;
}

/** The definition of an open scope. */
export function findScopeDefinition(state: TaskState, path: string): ScopeDefinition {
  const { node } = requirePlace(state, path);
  assert(node.node === "scope", `${path} is a step`);
  return node;
}

/** True for groups, which are read as `name.outputs`; the others have one output, `name.output`. */
export function isGroupNode(node: NodeDefinition): boolean {
  return node.node === "scope" && node.scope !== "machine" && node.scope !== "workflow";
}

/** The path of a scope's child by the name the scope calls it. */
export function childPath(scopePath: string, name: string): string {
  return `${scopePath}/${name}`;
}

export interface PlacedPhase {
  /** Instance path. */
  readonly path: string;
  readonly node: PhaseScope;
}

/** The phase a node belongs to, itself included; `undefined` outside phases. */
export function findPhase(state: TaskState, path: string): PlacedPhase | undefined {
  const { places } = indexDefinition(requireTask(state).definition);
  for (let at: string | undefined = path; at !== undefined; at = parentPathOf(at)) {
    const node = places.get(definitionPathOf(at))?.node;
    if (node?.node === "scope" && node.scope === "phase") return { path: at, node };
  }
  return undefined;
}

/** The outermost phase around a node, itself included: those are what the task counts. */
export function findOuterPhase(state: TaskState, path: string): PlacedPhase | undefined {
  const phase = findPhase(state, path);
  const above = phase === undefined ? undefined : parentPathOf(phase.path);
  return above === undefined ? phase : (findOuterPhase(state, above) ?? phase);
}

/** Number of the phase of the task that a node belongs to; 0 outside phases. */
export function phaseNumberOf(state: TaskState, path: string): number {
  return findOuterPhase(state, path)?.node.number ?? 0;
}

/** The number that events tell of entering and leaving a phase of the task; `undefined` for other scopes. */
export function ownPhaseNumber(state: TaskState, path: string): number | undefined {
  const outer = findOuterPhase(state, path);
  return outer?.path === path ? outer.node.number : undefined;
}

/** A definition made up at run time as it stands in an event. */
export function definitionToJson(definition: StepDefinition): JsonObject {
  return definition as unknown as JsonObject;
}

/** True when a group above (or at) the scope has failed fast: nothing below it starts. */
export function isHalted(state: TaskState, scope: ScopeEntry): boolean {
  for (
    let at: ScopeEntry | undefined = scope;
    at !== undefined;
    at = at.parent === undefined ? undefined : state.scopes.get(at.parent)
  ) {
    if ("failing" in at.data && at.data.failing) return true;
    if (at.data.scope === "machine" && (at.data.failed === true || at.data.stuck !== undefined)) return true;
  }
  return false;
}

/** A call of a tool that cannot be taken back, whose result was not recorded. */
export interface OpenTool {
  readonly call: string;
  readonly name: string;
}

/** The tool call a step was in the middle of; harmless ones do not count. */
export function findOpenTool(state: TaskState, id: StepId): OpenTool | undefined {
  for (const [call, { name, effects, result }] of state.histories.get(id)?.tools ?? []) {
    if (result === undefined && effects === "external") return { call, name };
  }
  return undefined;
}

/** The path of a file below the task's folder. */
export function placeFile(file: string, phase: number): string {
  return file.startsWith("final/") || file.startsWith("phases/") ? file : `phases/phase${phase}/${file}`;
}

/** The latest visit of a node; `undefined` when it has not run. */
export function currentStep(choice: Choice, path: string): StepEntry | undefined {
  return choice.state.steps.get(currentStepId(choice.state, path));
}

/** Working time up to now. Units: milliseconds. */
export function computeElapsedMs(state: TaskState, nowMs: number): number {
  const isWorking = state.task?.status === "running" && (state.open.size > 0 || state.waiting.size > 0);
  return state.totals.elapsedMs + (isWorking ? Math.max(0, nowMs - state.atMs) : 0);
}

/** External steps that were done, or may have acted, and were not done in the earlier state. */
export function findActedSince(state: TaskState, done: ReadonlySet<string>): readonly StepEntry[] {
  return [...state.steps.values()].filter(
    (step) =>
      step.effects === "external" &&
      !done.has(step.id) &&
      (step.status === "completed" ||
        step.status === "unknown" ||
        step.status === "parked" ||
        (step.status === "open" && mayHaveBegun(step))),
  );
}
