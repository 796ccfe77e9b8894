/** What going on with a task would do: done, to run, to run again and why, unknown, changed. Pure. */
import { kindOf } from "../../definition/kinds/table.js";
import type { LoadedWorkflow } from "../../definition/model/loaded-workflow.js";
import { ATLAS_NAME, EVALUATE_NAME } from "../../definition/model/defaults.js";
import { definitionPathOf, parentPathOf, stepIdOf } from "../../engine/model/identity.js";
import { isHeldByLimit } from "../../engine/rules/steps/limit-question.js";
import { listScopesTriedAgain, listStepsTriedAgain } from "../../engine/rules/scopes/failed-groups.js";
import {
  childPath,
  currentStepId,
  findPlace,
  indexDefinition,
  listAdded,
  mayHaveBegun,
} from "../../engine/model/lookup.js";
import type { ScopeEntry, StepEntry, TaskState } from "../../engine/model/state.js";
import type { PlanView } from "../views/past-views.js";
import type { ReloadedWorkflow } from "../tasks/workflow-loading.js";
import { listPlannedSteps, type PlannedStep } from "../tasks/planned-steps.js";

const EXTENDED = "the limit that is reached is extended";

export function planResume(state: TaskState, now: ReloadedWorkflow): PlanView {
  const steps = [...state.steps.values()];
  const planned = listPlannedSteps(now.workflow.definition).filter(isLeft(state, now.workflow));
  const current = steps.filter(({ id, path }) => id === currentStepId(state, path));
  const isGone = goneBy(now);
  const triedAgain = listStepsTriedAgain(state);
  const unfinished = current.filter(
    (step) =>
      step.status !== "completed" &&
      step.status !== "skipped" &&
      !isGone(step.path) &&
      (isStanding(state, step) || triedAgain.has(step.id)),
  );
  const unknown = unfinished.filter((step) => isPerhapsUnknown(step));
  const again = listAgain(state).filter(({ path }) => !isGone(path));
  const isHeld = (path: string): boolean => isHeldByLimit(state, path);
  return {
    task: state.task?.name ?? "",
    done: steps.filter((step) => step.status === "completed" && isValid(state, step)).map((step) => step.id),
    to_run: [...planned.flatMap(({ step, when }) => (when === undefined ? [step.path] : [])), ...listAddedLeft(state)],
    may_run: [
      ...planned.flatMap(({ step, when }) => (when === undefined ? [] : [{ step: step.path, when }])),
      ...unfinished
        .filter((step) => isHeld(step.path) && !unknown.includes(step))
        .map(({ id }) => ({ step: id, when: EXTENDED })),
      ...again.filter(({ path }) => isHeld(path)).map(({ step }) => ({ step, when: EXTENDED })),
    ],
    to_rerun: [
      ...unfinished
        .filter((step) => !unknown.includes(step) && !isHeld(step.path))
        .map((step) => ({ step: step.id, why: describeRerun(step) })),
      ...listScopesTriedAgain(state)
        .filter((path) => !isGone(path))
        .map((path) => ({ step: path, why: "it failed, with every other member of its group" })),
      ...again.filter(({ path }) => !isHeld(path)).map(({ step, why }) => ({ step, why })),
    ],
    unknown: unknown.map((step) => step.id),
    changed: now.changes,
  };
}

/**
 * False for what was dealt with: a failure that its group, its phase or a route has absorbed, and what is left of a scope
 * that is not open any more.
 */
function isStanding(state: TaskState, { id, path, status }: StepEntry): boolean {
  if (status === "failed") return state.blocked.has(id);
  // A step in question stays so, whatever its scope came to.
  if (status === "unknown" || status === "parked" || status === "asked") return true;
  const parent = findPlace(state, path)?.parent;
  return parent === undefined || state.scopes.has(parent);
}

/** What the file does not have any more under its name is never started again. */
function goneBy({ changes }: ReloadedWorkflow): (path: string) => boolean {
  const gone = changes.flatMap(({ path, how }) => (how === "removed" || how.startsWith("renamed to ") ? [path] : []));
  return (path) => gone.some((each) => `${definitionPathOf(path)}/`.startsWith(`${each}/`));
}

/** False for what was done on a way that was left by going back. */
function isValid(state: TaskState, { path, round, visit }: StepEntry): boolean {
  return visit <= (state.visits.get(path) ?? 0) && round <= (state.rounds.get(path) ?? state.round);
}

/** An external step that was started and has no end: it may or may not have acted. */
function isPerhapsUnknown(step: StepEntry): boolean {
  if (step.status === "unknown" || step.status === "parked") return true;
  if (step.status !== "open" || step.effects !== "external") return false;
  return mayHaveBegun(step);
}

/** True for what has not begun: of the body of a for_each, as long as items are left. */
function isLeft(state: TaskState, { definition }: LoadedWorkflow): (planned: PlannedStep) => boolean {
  const { places } = indexDefinition(definition);
  const begun = new Set([...state.visits.keys()].map(definitionPathOf));
  const withItems = new Set(
    [...state.scopes.values()].flatMap((scope) => (hasItemsLeft(state, scope) ? [definitionPathOf(scope.path)] : [])),
  );
  const groupOf = (path: string): string | undefined => {
    const node = places.get(path)?.node;
    if (node?.node === "scope" && node.scope === "for_each") return path;
    const above = parentPathOf(path);
    return above === undefined ? undefined : groupOf(above);
  };
  return ({ step: { path } }) => {
    const group = groupOf(path);
    return !begun.has(group ?? path) || (group !== undefined && withItems.has(group));
  };
}

/** Steps that others added, and that have not begun. */
function listAddedLeft({ scopes, visits }: TaskState): readonly string[] {
  return [...scopes.values()].flatMap((scope) =>
    listAdded(scope).flatMap((name) => {
      const path = childPath(scope.path, name);
      return visits.has(path) ? [] : [path];
    }),
  );
}

function hasItemsLeft(state: TaskState, { path, data }: ScopeEntry): boolean {
  if (data.scope !== "for_each") return false;
  return data.next < data.count || (state.frontier.get(path)?.ready.length ?? 0) > 0;
}

interface Again {
  readonly path: string;
  readonly step: string;
  readonly why: string;
}

/** What was done before and comes once more where control stands: the next of a route, an iteration's steps and scorers. */
function listAgain(state: TaskState): readonly Again[] {
  return [...state.scopes.values()].flatMap((scope) => {
    const { path, data } = scope;
    if (data.scope === "machine") {
      const next = data.next === undefined ? [] : [childPath(path, data.next)];
      return next.flatMap((child) => againOf(state, child, "a route leads to it again"));
    }
    if (data.scope !== "phase" || data.iteration === 1) return [];
    const ended = state.frontier.get(path)?.ended;
    const children = [...state.visits.keys()].filter((child) => findPlace(state, child)?.parent === path);
    return children
      .filter((child) => ended?.has(child.slice(path.length + 1)) !== true && !isOrchestrators(child))
      .filter((child) => data.judged === undefined || !child.includes(`/${EVALUATE_NAME}/`))
      .flatMap((child) => againOf(state, child, `iteration ${data.iteration} of its phase`));
  });
}

function isOrchestrators(path: string): boolean {
  return path.endsWith(`/${ATLAS_NAME}`);
}

/** The next visit of a step whose last one has ended. */
function againOf(state: TaskState, path: string, why: string): readonly Again[] {
  const last = state.steps.get(currentStepId(state, path));
  if (last?.status !== "completed" && last?.status !== "skipped") return [];
  const visit = (state.visits.get(path) ?? 0) + 1;
  return [{ path, step: stepIdOf({ path, round: state.round, visit }), why }];
}

function describeRerun(step: StepEntry): string {
  if (step.status === "asked") return "it waits for an answer";
  if (kindOf(step.kind).endedBy === "person") return "it asks a person again";
  if (step.status === "failed") return `it failed: ${step.error?.message ?? "unknown error"}`;
  if (step.status === "waiting_retry") return "it waits for its next attempt";
  if (step.process === undefined && step.effects === "external") return "it was never started";
  const from = step.milestone === undefined ? "" : `, from milestone ${step.milestone.name}`;
  return `it was under way and may run twice without harm (effects: ${step.effects})${from}`;
}
