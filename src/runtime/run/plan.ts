/** What going on with a task would do: done, to run, to run again and why, unknown, changed. Pure. */
import type { NodeDefinition } from "../../definition/workflow.js";
import { definitionPathOf } from "../../engine/events/identity.js";
import { currentStepId, mayHaveBegun } from "../../engine/lookup.js";
import type { StepEntry, TaskState } from "../../engine/state/state.js";
import type { PlanView } from "../contract.js";
import type { ReloadedWorkflow } from "../workflow-loading.js";

export function planResume(state: TaskState, now: ReloadedWorkflow): PlanView {
  const steps = [...state.steps.values()];
  const begun = new Set(state.visits.keys());
  const current = steps.filter(({ id, path }) => id === currentStepId(state, path));
  const isGone = goneBy(now);
  const unfinished = current.filter(
    ({ status, path }) => status !== "completed" && status !== "skipped" && !isGone(path),
  );
  const unknown = unfinished.filter((step) => isPerhapsUnknown(step));
  const { workflow } = now;
  return {
    task: state.task?.name ?? "",
    done: steps.filter((step) => step.status === "completed" && isValid(state, step)).map((step) => step.id),
    to_run: listStepPaths(workflow.definition.root).filter((path) => !begun.has(path)),
    to_rerun: unfinished
      .filter((step) => !unknown.includes(step))
      .map((step) => ({ step: step.id, why: describeRerun(step) })),
    unknown: unknown.map((step) => step.id),
    changed: now.changes,
  };
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

function describeRerun(step: StepEntry): string {
  if (step.status === "asked") return "it waits for an answer";
  if (step.status === "failed") return `it failed: ${step.error?.message ?? "unknown error"}`;
  if (step.status === "waiting_retry") return "it waits for its next attempt";
  if (step.process === undefined && step.effects === "external") return "it was never started";
  const from = step.milestone === undefined ? "" : `, from milestone ${step.milestone.name}`;
  return `it was under way and may run twice without harm (effects: ${step.effects})${from}`;
}

function listStepPaths(node: NodeDefinition): string[] {
  if (node.node === "step") return [node.path];
  const children: readonly NodeDefinition[] = node.children;
  return children.flatMap(listStepPaths);
}
