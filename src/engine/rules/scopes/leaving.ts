/**
 * Leaving a scope: with which outcome and value, and what follows.
 *
 * A scope that failed is left only where an outer one deals with it; otherwise it stays open for a resume.
 */
import type { JsonObject, JsonValue } from "../../../base/json.js";
import { loadValue, type Choice } from "../../model/choice.js";
import type { EndOfWorkflow, EngineEvent, EventOf, StepError } from "../../model/events.js";
import type { ValueRef, SavedFile } from "../../model/value-ref.js";
import { failureTarget, isAbsorbed } from "../steps/failure.js";
import { parentPathOf } from "../../model/identity.js";
import {
  childPath,
  currentStepId,
  findScopeDefinition,
  ownPhaseNumber,
  currentStep,
  listAdded,
} from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { chooseRoute, END, type ChosenRoute } from "../steps/routes.js";
import type { ChildEnd } from "../../model/child-end.js";
import type { ScopeEntry, StepEntry, TaskState } from "../../model/state.js";

/** Leaves a failed scope where somebody further out deals with it. */
export function leaveFailed(choice: Choice, open: OpenScope, describe?: () => JsonValue): readonly EngineEvent[] {
  if (!isAbsorbed(choice, open.scope.path)) return [];
  const error = findCause(choice, open.scope);
  return [
    leave(choice, open, {
      outcome: "failed",
      ...(describe === undefined ? {} : { output: { inline: describe() } }),
      ...(error === undefined ? {} : { error }),
    }),
  ];
}

/** What made a scope fail: its own fault, a step that holds it up, or the child that failed. */
export function findCause({ state }: Choice, { path, data }: ScopeEntry): StepError | undefined {
  const held = data.fault ?? findFailedBelow(state, path);
  switch (data.scope) {
    case "workflow":
      return held ?? data.cause ?? endedBy(data.ends);
    case "machine":
      return held ?? (data.stuck === undefined ? data.cause : stuckAt(path, data.stuck));
    default:
      return held ?? findFailedMember(state, path);
  }
}

function findFailedBelow(state: TaskState, path: string): StepError | undefined {
  for (const id of state.blocked) {
    const step = state.steps.get(id);
    if (step?.status === "failed" && step.path.startsWith(`${path}/`)) return step.error;
  }
  return undefined;
}

function findFailedMember(state: TaskState, path: string): StepError | undefined {
  const frontier = state.frontier.get(path);
  const [cause] = frontier?.causes.values() ?? [];
  if (cause !== undefined) return cause;
  const failed = [...(frontier?.ended ?? [])].find(([, end]) => end === "failed");
  return failed === undefined ? undefined : state.steps.get(currentStepId(state, childPath(path, failed[0])))?.error;
}

function endedBy(ends: EndOfWorkflow | undefined): StepError | undefined {
  return ends?.status === "failed" ? { code: "STEP_FAILED", message: ends.reason, retryable: false } : undefined;
}

function stuckAt(path: string, why: string): StepError {
  return { code: "STEP_FAILED", message: `${path} cannot continue: ${why}`, retryable: false };
}

export interface Leaving {
  readonly outcome: "done" | "partial" | "failed";
  readonly output?: ValueRef;
  readonly routeOutput?: JsonObject;
  readonly confidence?: number;
  /** Files of an earlier iteration that is kept. */
  readonly saved?: readonly SavedFile[];
  readonly ends?: EndOfWorkflow;
  readonly error?: StepError;
}

/** The event that leaves a scope, with the target that follows where it stands in a machine. */
export function leave(choice: Choice, open: OpenScope, leaving: Leaving): EventOf<"scope_left"> {
  const { scope } = open;
  const { outcome, output, confidence, saved, error } = leaving;
  const ends = leaving.ends ?? (scope.data.scope === "workflow" ? undefined : scope.data.ends);
  const phase = ownPhaseNumber(choice.state, scope.path);
  const { next, routeOutput } = chooseNext(choice, open, leaving);
  return {
    type: "scope_left",
    atMs: choice.nowMs,
    path: scope.path,
    visit: scope.visit,
    outcome,
    ...(phase === undefined ? {} : { phase }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(output === undefined ? {} : { output }),
    ...(saved === undefined ? {} : { saved }),
    ...(next === undefined ? {} : { next }),
    ...(routeOutput === undefined ? {} : { routeOutput }),
    ...(ends === undefined ? {} : { ends }),
    ...(error === undefined ? {} : { error }),
  };
}

/** A route's output counts only where it leaves the workflow: a root, also of a nested one, hands its own on. */
function chooseNext(choice: Choice, { scope, node }: OpenScope, leaving: Leaving): ChosenRoute {
  if (leaving.outcome === "failed") return { next: failureTarget(choice, scope.path) };
  const outer = scope.parent === undefined ? undefined : findScopeDefinition(choice.state, scope.parent);
  if (outer === undefined || outer.scope === "workflow") return { routeOutput: leaving.routeOutput };
  if (scope.data.ends !== undefined && scope.data.scope !== "workflow" && outer.scope === "machine")
    return { next: END };
  const isNeeded = node.routes.length > 0 && leaving.output !== undefined;
  return chooseRoute(choice, { path: scope.path, node }, isNeeded ? loadValue(choice, leaving.output) : null);
}

/** Ends of a member that has a result. */
const GIVES: ReadonlySet<ChildEnd> = new Set<ChildEnd>(["done", "partial", "declined"]);

export interface GroupMembers {
  /** Names beyond those of the definition. */
  readonly added: readonly string[];
  /** The step that counts for a member. */
  readonly stepOf: (name: string) => StepEntry | undefined;
}

/**
 * What a group gives: every member stands in exactly one of `outputs`, `errors`, `skipped`, `unknown` and `unreached`,
 * so that a shortfall is seen.
 */
export function describeGroup(choice: Choice, open: OpenScope, members?: GroupMembers): JsonObject {
  const { scope, node } = open;
  const { added, stepOf } = members ?? {
    added: listAdded(scope),
    stepOf: (name: string) => currentStep(choice, childPath(scope.path, name)),
  };
  const frontier = choice.state.frontier.get(scope.path);
  const outputs: Record<string, JsonValue> = {};
  const errors: Record<string, JsonValue> = {};
  const lists = { skipped: [] as string[], unknown: [] as string[], unreached: [] as string[] };
  for (const name of [...node.children.map((child) => child.name), ...added]) {
    const path = childPath(scope.path, name);
    const end = frontier?.ended.get(name);
    if (end !== undefined && GIVES.has(end)) outputs[name] = outputAt(choice, path) ?? null;
    else if (end === "failed") errors[name] = describeMemberError(choice, { path, name, step: stepOf(name) });
    else if (end === "skipped" || end === "omitted") lists.skipped.push(name);
    else if (stepOf(name)?.status === "unknown") lists.unknown.push(name);
    else lists.unreached.push(name);
  }
  const shortfall = Object.fromEntries(Object.entries(lists).filter(([, names]) => names.length > 0));
  return { type: node.scope, outputs, errors, ...shortfall };
}

interface FailedMember {
  readonly path: string;
  readonly name: string;
  /** Absent for a scope. */
  readonly step: StepEntry | undefined;
}

/** Shape: that of Conductor's groups. Source: CONDUCTOR-YAML 1.6. */
export function describeMemberError(choice: Choice, { path, name, step }: FailedMember): JsonObject {
  const scope = parentPathOf(path);
  const cause = scope === undefined ? undefined : choice.state.frontier.get(scope)?.causes.get(name);
  const error = cause ?? step?.error;
  return {
    agent_name: name,
    exception_type: error?.code ?? "STEP_FAILED",
    message: error?.message ?? `${name} failed`,
    suggestion: null,
  };
}

/** The latest output of a node. */
export function outputAt(choice: Choice, path: string): JsonValue | undefined {
  const output = choice.state.outputs.get(path);
  return output === undefined ? undefined : loadValue(choice, output.value);
}
