/**
 * Folds what happens to scopes and to their children.
 *
 * Every child of an open scope stands in one place:
 *   waiting → ready → running → ended, with two ways aside:
 *   running → blocked (its outcome is unknown, or it is parked) → running or ended, by a person's answer;
 *   running or ended(failed) → ready again (cancelled before it acted, or failed and given another chance).
 * A child that ends otherwise than failed frees the children that depend on it, which are then skipped where `depends_on`
 * does not allow that end (advance/skipping.ts); one that fails frees those alone that wait for a failure, which then deal
 * with it, and the others stay waiting and are *unreached* when the scope is left. In a group that fails fast the first
 * failure that nobody deals with stops all starts.
 * A machine has one child at a time: the place of that child is `next` (ready), `current` (running, blocked), or neither.
 */
import { assert, unreachable } from "../../base/errors.js";
import type { NodeDefinition, ScopeDefinition } from "../../definition/model/workflow.js";
import type { EventOf } from "../model/events.js";
import type { ValueRef } from "../model/value-ref.js";
import { itemKeyOf } from "../model/identity.js";
import {
  childPath,
  findPlace,
  findScopeDefinition,
  isOwnStep,
  requirePlace,
  requireTask,
  type PlacedPhase,
} from "../model/lookup.js";
import { isShort, moveInGroup, type ChildMove, type GroupData } from "./evolve-groups.js";
import { noteScope } from "../model/output-history.js";
import { NO_USE } from "../model/totals.js";
import { createFrontier } from "./frontier.js";
import { countIteration } from "./add-totals.js";
import type { GroupCounts, ScopeData, ScopeEntry, TaskState } from "../model/state.js";

type WorkflowData = Extract<ScopeData, { scope: "workflow" }>;
type MachineData = Extract<ScopeData, { scope: "machine" }>;
type PhasesData = Extract<ScopeData, { scope: "phases" }>;

const NO_COUNTS: GroupCounts = { running: 0, blocked: 0, failed: 0, imperfect: 0, failing: false };

export function enterScope(state: TaskState, event: EventOf<"scope_entered">): void {
  const { node, parent, name } = requirePlace(state, event.path);
  assert(node.node === "scope", `${event.path} is not a scope`);
  const open = state.scopes.get(event.path);
  if (open !== undefined) {
    replaceData(state, open, firstData(state, node, event));
    return;
  }
  if (event.visit > 1 && isFresh(node, name)) forgetOutputs(state, event.path, node);
  state.visits.set(event.path, event.visit);
  state.stored.delete(event.path);
  state.scopes.set(
    event.path,
    Object.freeze({
      path: event.path,
      visit: event.visit,
      ...(parent === undefined ? {} : { parent }),
      data: firstData(state, node, event),
    }),
  );
  if (node.scope === "workflow") countIteration(state, event.path);
  if (isGroup(node)) state.frontier.set(event.path, createFrontier(node));
  if (node.scope === "phase") openPhase(state, { path: event.path, node }, event.atMs);
  // A member that failed is entered again where its group has failed as a whole.
  const from = parent !== undefined && state.frontier.get(parent)?.ended.has(name) === true ? "ended" : "ready";
  if (parent !== undefined) moveChild(state, childPath(parent, name), { from, to: "running" });
}

/** A nested workflow, and an item, begin without what came of them before. */
function isFresh(node: ScopeDefinition, name: string): boolean {
  return node.scope === "workflow" || itemKeyOf(name) !== undefined;
}

/** As deep as the definition goes; items below are forgotten when they begin. */
function forgetOutputs(state: TaskState, path: string, node: ScopeDefinition): void {
  for (const child of node.children) {
    const at = childPath(path, child.name);
    state.outputs.delete(at);
    if (child.node === "scope") forgetOutputs(state, at, child);
  }
}

type GroupScope = Extract<ScopeDefinition, { scope: GroupData["scope"] }>;

function isGroup(node: ScopeDefinition): node is GroupScope {
  return node.scope !== "machine" && node.scope !== "phases" && node.scope !== "workflow";
}

function firstData(state: TaskState, node: ScopeDefinition, event: EventOf<"scope_entered">): ScopeData {
  const data = emptyData(state, node, event);
  return event.error === undefined ? data : Object.freeze({ ...data, fault: event.error });
}

function emptyData(state: TaskState, node: ScopeDefinition, event: EventOf<"scope_entered">): ScopeData {
  switch (node.scope) {
    case "machine":
      return Object.freeze({ scope: "machine", next: node.entry, imperfect: false });
    case "phases":
      return Object.freeze({ scope: "phases", next: 0, imperfect: false });
    case "parallel":
    case "dag":
      return Object.freeze({ scope: node.scope, ...NO_COUNTS });
    case "phase":
      return Object.freeze({ scope: "phase", iteration: 1, spawned: Object.freeze({}), withoutGain: 0, ...NO_COUNTS });
    case "for_each":
      return Object.freeze({ scope: "for_each", ...itemsOf(event), next: 0, ...NO_COUNTS });
    case "workflow":
      return Object.freeze({
        scope: "workflow",
        inputs: event.inputs ?? NOTHING,
        used: NO_USE,
        enteredElapsedMs: state.totals.elapsedMs,
        root: "ready",
      });
    default:
      return unreachable(node);
  }
}

const NOTHING: ValueRef = Object.freeze({ inline: null });

function itemsOf({ items, count, keys }: EventOf<"scope_entered">) {
  return {
    items: items ?? NOTHING,
    count: count ?? 0,
    ...(keys === undefined ? {} : { keys }),
  };
}

export function openPhase(state: TaskState, { path, node }: PlacedPhase, atMs: number): void {
  const rollbacks = state.phases.get(path)?.rollbacks;
  state.phases.set(
    path,
    Object.freeze({
      path,
      name: node.name,
      number: node.number,
      status: "running",
      iteration: 1,
      startedAtMs: atMs,
      feedback: Object.freeze([]),
      spawned: 0,
      ...(rollbacks === undefined ? {} : { rollbacks }),
    }),
  );
}

/** Keeps outputs in the order they came: the newest is the last. */
export function storeOutput(
  state: TaskState,
  path: string,
  output: { readonly value: ValueRef; readonly by: string },
): void {
  state.outputs.delete(path);
  state.outputs.set(path, Object.freeze(output));
}

export function leaveScope(state: TaskState, event: EventOf<"scope_left">): void {
  const scope = state.scopes.get(event.path);
  assert(scope !== undefined, `${event.path} is not open`);
  forgetBelow(state, event.path);
  state.scopes.delete(event.path);
  state.frontier.delete(event.path);
  noteScope(state, event);
  for (const file of event.saved ?? []) state.deliverables.set(file.file, Object.freeze(file));
  if (event.output !== undefined) storeOutput(state, event.path, { value: event.output, by: event.path });
  const phase = state.phases.get(event.path);
  if (phase !== undefined) {
    const confidence = event.confidence ?? phase.confidence;
    state.phases.set(
      event.path,
      Object.freeze({
        ...phase,
        status: event.outcome,
        endedAtMs: event.atMs,
        ...(confidence === undefined ? {} : { confidence }),
      }),
    );
  }
  if (scope.parent === undefined) {
    const root = {
      outcome: event.outcome,
      ...(event.routeOutput === undefined ? {} : { routeOutput: event.routeOutput }),
      ...(event.ends === undefined ? {} : { ends: event.ends }),
    };
    state.task = Object.freeze({ ...requireTask(state), root: Object.freeze(root) });
    return;
  }
  moveChild(state, event.path, {
    from: "running",
    to: "ended",
    end: event.outcome,
    next: event.next,
    routeOutput: event.routeOutput,
    ...(event.ends === undefined ? {} : { ends: event.ends }),
    ...(event.error === undefined ? {} : { cause: event.error }),
  });
}

/** Failures below are dealt with; a step in question stays in question, whatever its scope came to. */
function forgetBelow(state: TaskState, path: string): void {
  const prefix = `${path}/`;
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    if (step?.status === "failed" && step.path.startsWith(prefix)) state.blocked.delete(id);
  }
  for (const below of state.scopes.keys()) {
    if (!below.startsWith(prefix)) continue;
    state.scopes.delete(below);
    state.frontier.delete(below);
    state.stored.delete(below);
  }
}

/** Starts a phase over: all its children are to run again, with the next visit. */
export function resetPhase(state: TaskState, event: EventOf<"iteration_started">): void {
  const scope = requireScope(state, event.path);
  const node = findScopeDefinition(state, event.path);
  assert(scope.data.scope === "phase", `${event.path} is not a phase`);
  state.frontier.set(event.path, createFrontier(node));
  const { judged: _judged, settled: _settled, without: _without, ...rest } = scope.data;
  replaceData(state, scope, { ...rest, ...NO_COUNTS, iteration: event.iteration, spawned: Object.freeze({}) });
  const before = state.phases.get(event.path);
  if (before === undefined) return;
  const { added: _added, ...phase } = before;
  state.phases.set(
    event.path,
    Object.freeze({ ...phase, iteration: event.iteration, feedback: Object.freeze([...event.feedback]) }),
  );
}

/** Moves the node at `path` within its scope. A root has none to move in. */
export function moveChild(state: TaskState, path: string, move: ChildMove): void {
  const place = findPlace(state, path);
  if (place?.parent === undefined) return;
  const scope = state.scopes.get(place.parent);
  if (scope === undefined) return;
  const { data } = scope;
  switch (data.scope) {
    case "machine":
      replaceData(state, scope, moveInMachine(data, place.node, move));
      return;
    case "phases":
      replaceData(state, scope, moveInPhases(data, place.name, move));
      return;
    case "workflow":
      replaceData(state, scope, moveInWorkflow(data, move));
      return;
    default:
      replaceData(state, scope, moveInGroup(state, { path: scope.path, data, name: place.name, move }));
  }
}

function causeOf({ cause }: ChildMove): Pick<MachineData, "cause"> {
  return cause === undefined ? {} : { cause };
}

function moveInMachine(data: MachineData, node: NodeDefinition, move: ChildMove): MachineData {
  const { next: _next, current: _current, failed: _failed, stuck: _stuck, cause: _cause, ...rest } = data;
  if (move.to === "ready") return { ...rest, next: node.name };
  if (move.to !== "ended") return { ...rest, current: node.name };
  const isHandled = move.end === "failed" && move.next !== undefined && move.next === node.onError;
  const imperfect = data.imperfect || (isShort(move.end) && !isHandled);
  const ended = {
    ...rest,
    ...(move.end === "omitted" ? {} : { last: node.name }),
    imperfect,
    ...(move.routeOutput === undefined ? {} : { routeOutput: move.routeOutput }),
    ...(move.ends === undefined ? {} : { ends: move.ends }),
  };
  if (move.next !== undefined) return { ...ended, next: move.next };
  if (move.end === "failed") {
    return { ...ended, imperfect: data.imperfect, current: node.name, failed: true, ...causeOf(move) };
  }
  return { ...ended, current: node.name, stuck: "no route matches" };
}

function moveInPhases(data: PhasesData, name: string, move: ChildMove): PhasesData {
  const { current: _current, ...rest } = data;
  if (isOwnStep(name)) return move.to === "running" ? { ...rest, current: name } : rest;
  if (move.to !== "ended") return { ...rest, current: name };
  return { ...rest, next: data.next + 1, imperfect: data.imperfect || isShort(move.end) };
}

function moveInWorkflow({ cause: _cause, ...data }: WorkflowData, move: ChildMove): WorkflowData {
  if (move.to !== "ended") return { ...data, root: move.to === "ready" ? "ready" : "running" };
  return {
    ...data,
    root: move.end ?? "done",
    ...(move.routeOutput === undefined ? {} : { routeOutput: move.routeOutput }),
    ...(move.ends === undefined ? {} : { ends: move.ends }),
    ...(move.cause === undefined ? {} : { cause: move.cause }),
  };
}

export function requireScope(state: TaskState, path: string): ScopeEntry {
  const scope = state.scopes.get(path);
  assert(scope !== undefined, `scope ${path} is not open`);
  return scope;
}

export function replaceData(state: TaskState, scope: ScopeEntry, data: ScopeData): void {
  state.scopes.set(scope.path, Object.freeze({ ...scope, data: Object.freeze(data) }));
}
