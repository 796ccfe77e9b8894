/** Folds what a step says while it runs: turns, tool calls, sub-steps, milestones, progress. They stay until it completes. */
import type { StepId } from "../../base/ids.js";
import type { EventOf } from "../model/events.js";
import type { TaskState } from "../model/state.js";
import type { StepHistory } from "../model/step-history.js";
import { grow, historyOf, REPORTS_KEPT_MAX, updateStep } from "./step-entry.js";
import { addUsage, countUsage } from "./add-totals.js";

export function beginCall(state: TaskState, event: EventOf<"call_begun">): void {
  updateStep(state, event.step, (step) => ({ callsBegun: (step.callsBegun ?? 0) + 1 }));
}

export function recordTurn(state: TaskState, event: EventOf<"turn_recorded">): void {
  historyOf(state, event.step).turns.push(event.value);
  updateStep(state, event.step, (step) => ({
    crashes: 0,
    refusals: undefined,
    callsBegun: undefined,
    usage: addUsage(step.usage, event.usage),
    fallback: event.fallback ?? step.fallback,
    guided: event.guided ?? step.guided,
  }));
  const path = state.steps.get(event.step)?.path;
  if (path !== undefined) countUsage(state, path, event.usage);
}

export function recordTool(state: TaskState, event: EventOf<"tool_intended"> | EventOf<"tool_completed">): void {
  const { tools } = historyOf(state, event.step);
  if (event.type === "tool_intended") {
    const { call, name, value, effects, tool } = event;
    tools.set(call, Object.freeze({ name, value, effects, ...(tool === undefined ? {} : { tool }) }));
    return;
  }
  const before = tools.get(event.call);
  if (before === undefined) return;
  tools.set(event.call, Object.freeze({ ...before, result: event.value }));
  updateStep(state, event.step, () => ({ crashes: 0 }));
}

/** A call of unknown outcome that may be made again counts as not made. */
export function forgetOpenTools(state: TaskState, id: StepId): void {
  const tools = state.histories.get(id)?.tools;
  for (const [call, tool] of tools ?? []) if (tool.result === undefined) tools?.delete(call);
}

type SubstepEvent = EventOf<"substep_intended"> | EventOf<"substep_completed"> | EventOf<"substep_failed">;

/** A failure after which the function began something else was handled: it stays, also over a retry. */
export function recordSubstep(state: TaskState, event: SubstepEvent): void {
  const { substeps } = historyOf(state, event.step);
  if (event.type === "substep_intended") {
    keepFailures(substeps);
    const { within } = event;
    substeps.set(event.name, Object.freeze({ done: false, ...(within === undefined ? {} : { within }) }));
    return;
  }
  const before = substeps.get(event.name);
  const within = before?.within === undefined ? {} : { within: before.within };
  if (event.type === "substep_failed") {
    substeps.set(event.name, Object.freeze({ done: true, failure: event.failure, ...within }));
  } else {
    const { value, wishes } = event;
    substeps.set(
      event.name,
      Object.freeze({ done: true, value, ...(wishes === undefined ? {} : { wishes }), ...within }),
    );
  }
  updateStep(state, event.step, () => ({ crashes: 0 }));
}

function keepFailures(substeps: StepHistory["substeps"]): void {
  for (const [name, entry] of substeps)
    if (entry.failure !== undefined && entry.isHandled !== true)
      substeps.set(name, Object.freeze({ ...entry, isHandled: true }));
}

/** The step has failed: what failed last in it is what a further attempt is for. */
export function forgetFailures(state: TaskState, id: StepId): void {
  const substeps = state.histories.get(id)?.substeps;
  for (const [name, entry] of substeps ?? [])
    if (entry.failure !== undefined && entry.isHandled !== true) substeps?.delete(name);
}

export function recordMilestone(state: TaskState, event: EventOf<"milestone_reached">): void {
  const { name, state: reached, wishes } = event;
  const history = state.histories.get(event.step);
  if (history !== undefined) keepFailures(history.substeps);
  const milestone = Object.freeze({ name, state: reached, ...(wishes === undefined ? {} : { wishes }) });
  updateStep(state, event.step, () => ({ crashes: 0, milestone }));
}

export function recordProgress(state: TaskState, event: EventOf<"progress_reported">): void {
  updateStep(state, event.step, (step) => ({
    progress: Object.freeze({
      fraction: event.fraction ?? step.progress?.fraction,
      message: event.message ?? step.progress?.message,
    }),
    partial: event.partial ?? step.partial,
    confidenceHistory:
      event.confidence === undefined ? step.confidenceHistory : grow(step.confidenceHistory, event.confidence),
    // A second attempt reports what the first one did.
    blockers:
      event.blocker === undefined || step.blockers.includes(event.blocker)
        ? step.blockers
        : Object.freeze([...step.blockers, event.blocker].slice(-REPORTS_KEPT_MAX)),
  }));
}
