/**
 * What may start now in machines, parallel groups, dags and lists of phases, and when they are left.
 *
 * machine: starts `next`; `$end` leaves it; a failed child without a route stops it.
 * group: starts what is ready as long as fewer than `maxConcurrent` run (a sliding window); when nothing runs, waits or is
 *   blocked it is left. `fail_fast` ends the siblings of the first failure; `all_or_nothing` fails after all have run;
 *   `continue_on_error` fails only when all failed.
 * phases: one after the other.
 * A scope that failed is left only where an outer one deals with it (see failure.ts); otherwise it stays open for a resume.
 */
import type { JsonObject, JsonValue } from "../base/json.js";
import type { DagScope, MachineScope, ParallelScope, PhasesScope, ScopeDefinition } from "../definition/workflow.js";
import { loadValue, type Choice } from "./choice.js";
import type { EngineEvent, EventOf } from "./events.js";
import { CANCELLED_BY_SIBLING } from "./evolve-steps.js";
import { failureTarget, isAbsorbed } from "./failure.js";
import { stepIdOf } from "./identity.js";
import { childPath, findPlace } from "./lookup.js";
import { chooseRoute, END } from "./routes.js";
import { startChild, type StartBudget } from "./start.js";
import type { ScopeData, ScopeEntry } from "./state.js";

type DataOf<K extends ScopeData["scope"]> = Extract<ScopeData, { scope: K }>;

export function advanceMachine(
  choice: Choice,
  scope: ScopeEntry,
  node: MachineScope,
  budget: StartBudget,
): readonly EngineEvent[] {
  const data = scope.data as DataOf<"machine">;
  if (data.failed === true || data.stuck !== undefined) return leaveFailed(choice, scope, node, undefined);
  if (data.next === undefined) return [];
  if (data.next !== END) return startChild(choice, childPath(scope.path, data.next), budget);
  const output = data.last === undefined ? undefined : outputAt(choice, childPath(scope.path, data.last));
  return [
    leave(choice, scope, node, { outcome: data.imperfect ? "partial" : "done", output, routeOutput: data.routeOutput }),
  ];
}

function outputAt(choice: Choice, path: string): JsonValue | undefined {
  const output = choice.state.outputs.get(path);
  return output === undefined ? undefined : loadValue(choice, output.value);
}

export function advancePhases(
  choice: Choice,
  scope: ScopeEntry,
  node: PhasesScope,
  budget: StartBudget,
): readonly EngineEvent[] {
  const data = scope.data as DataOf<"phases">;
  if (data.current !== undefined) return [];
  const phase = node.children[data.next];
  if (phase !== undefined) return startChild(choice, phase.path, budget);
  const last = node.children.at(-1);
  const output = last === undefined ? undefined : outputAt(choice, last.path);
  return [leave(choice, scope, node, { outcome: data.imperfect ? "partial" : "done", output })];
}

export function advanceGroup(
  choice: Choice,
  scope: ScopeEntry,
  node: ParallelScope | DagScope,
  budget: StartBudget,
): readonly EngineEvent[] {
  const data = scope.data as DataOf<"parallel" | "dag">;
  const frontier = choice.state.frontier.get(scope.path);
  if (frontier === undefined) return [];
  if (data.failing) {
    const cancelled = cancelBelow(choice, scope.path);
    return cancelled.length > 0 ? cancelled : leaveFailed(choice, scope, node, describeGroup(choice, scope, node));
  }
  if (frontier.ready.length > 0) return startReady(choice, scope, node.maxConcurrent - data.running, budget);
  if (data.running > 0 || data.blocked > 0) return [];
  const isFailed =
    node.failureMode === "continue_on_error" ? data.failed > 0 && data.failed === frontier.ended.size : data.failed > 0;
  const output = describeGroup(choice, scope, node);
  if (isFailed) return leaveFailed(choice, scope, node, output);
  const isPartial = data.failed > 0 || data.imperfect > 0 || frontier.waiting.size > 0;
  return [leave(choice, scope, node, { outcome: isPartial ? "partial" : "done", output })];
}

/** Starts what is ready within the window. */
export function startReady(
  choice: Choice,
  scope: ScopeEntry,
  room: number,
  budget: StartBudget,
): readonly EngineEvent[] {
  const ready = choice.state.frontier.get(scope.path)?.ready ?? [];
  const events: EngineEvent[] = [];
  for (const name of ready.slice(0, Math.max(0, room))) {
    const started = startChild(choice, childPath(scope.path, name), budget);
    events.push(...started);
    if (budget.isExhausted) break;
  }
  return events;
}

function cancelBelow(choice: Choice, path: string): readonly EngineEvent[] {
  const { state, nowMs } = choice;
  const events: EngineEvent[] = [];
  for (const id of new Set([...state.open, ...state.waiting])) {
    const step = state.steps.get(id);
    if (step?.path.startsWith(`${path}/`) !== true) continue;
    events.push({ type: "step_cancelled", atMs: nowMs, step: id, attempt: step.attempt, reason: CANCELLED_BY_SIBLING });
  }
  return events;
}

/** Leaves a failed scope where somebody further out deals with it. */
export function leaveFailed(
  choice: Choice,
  scope: ScopeEntry,
  node: ScopeDefinition,
  output: JsonValue | undefined,
): readonly EngineEvent[] {
  return isAbsorbed(choice, scope.path) ? [leave(choice, scope, node, { outcome: "failed", output })] : [];
}

export interface Leaving {
  readonly outcome: "done" | "partial" | "failed";
  readonly output?: JsonValue;
  readonly routeOutput?: JsonObject;
  readonly confidence?: number;
}

/** The event that leaves a scope, with the target that follows where it stands in a machine. */
export function leave(
  choice: Choice,
  scope: ScopeEntry,
  node: ScopeDefinition,
  leaving: Leaving,
): EventOf<"scope_left"> {
  const { outcome, output, confidence } = leaving;
  const isChild = scope.parent !== undefined;
  const route =
    outcome === "failed"
      ? { next: failureTarget(choice, scope.path) }
      : isChild
        ? chooseRoute(choice, node, output ?? null)
        : { routeOutput: leaving.routeOutput };
  const routeOutput = "routeOutput" in route ? route.routeOutput : undefined;
  const next = "next" in route ? route.next : undefined;
  return {
    type: "scope_left",
    atMs: choice.nowMs,
    path: scope.path,
    visit: scope.visit,
    outcome,
    ...(node.scope === "phase" ? { phase: node.number } : {}),
    ...(confidence === undefined ? {} : { confidence }),
    ...(output === undefined ? {} : { output: { inline: output } }),
    ...(next === undefined ? {} : { next }),
    ...(routeOutput === undefined ? {} : { routeOutput }),
  };
}

/**
 * What a group gives: every member stands in exactly one of `outputs`, `errors`, `skipped`, `unknown` and `unreached`,
 * so that a shortfall is seen.
 */
export function describeGroup(
  choice: Choice,
  scope: ScopeEntry,
  node: ScopeDefinition,
  extraNames: readonly string[] = [],
): JsonObject {
  const frontier = choice.state.frontier.get(scope.path);
  const outputs: Record<string, JsonValue> = {};
  const errors: Record<string, JsonValue> = {};
  const lists = { skipped: [] as string[], unknown: [] as string[], unreached: [] as string[] };
  for (const name of [...node.children.map((child) => child.name), ...extraNames]) {
    const path = childPath(scope.path, name);
    const end = frontier?.ended.get(name);
    if (end === "done" || end === "partial") outputs[name] = outputAt(choice, path) ?? null;
    else if (end === "failed") errors[name] = describeError(choice, path, name);
    else if (end === "skipped") lists.skipped.push(name);
    else if (statusOf(choice, path) === "unknown") lists.unknown.push(name);
    else lists.unreached.push(name);
  }
  const shortfall = Object.fromEntries(Object.entries(lists).filter(([, names]) => names.length > 0));
  return { type: node.scope, outputs, errors, ...shortfall };
}

function currentStep(choice: Choice, path: string) {
  const visit = choice.state.visits.get(path) ?? 0;
  return choice.state.steps.get(stepIdOf({ path, round: choice.state.round, visit }));
}

function statusOf(choice: Choice, path: string): string | undefined {
  return currentStep(choice, path)?.status;
}

function describeError(choice: Choice, path: string, name: string): JsonObject {
  const error = currentStep(choice, path)?.error;
  const isScope = findPlace(choice.state, path)?.node.node === "scope";
  return {
    agent_name: name,
    exception_type: error?.code ?? (isScope ? "STEP_FAILED" : "INTERNAL"),
    message: error?.message ?? `${name} failed`,
    suggestion: null,
  };
}
