/**
 * What happens next in a list of phases: they are done one after the other.
 *
 *   with a goal: planned before the first, and, where that is wanted, looked at again before each other one (planning.ts)
 *   → each phase in turn → with a consolidation: the results are merged by a model → the list is left
 */
import { CONSOLIDATE_NAME } from "../../../definition/model/defaults.js";
import type { PhasesScope } from "../../../definition/model/workflow.js";
import { recordDecisionOnce, type Choice } from "../../model/choice.js";
import type { EngineEvent } from "../../model/events.js";
import type { ValueRef } from "../../model/value-ref.js";
import { leave } from "../scopes/leaving.js";
import { childPath, currentStep } from "../../model/lookup.js";
import type { OpenScope } from "../steps/open-scope.js";
import { planAhead } from "./planning.js";
import { startChild, startStep } from "../steps/start.js";
import type { ScopeData } from "../../model/state.js";

export function advancePhases(choice: Choice, open: OpenScope<PhasesScope>): readonly EngineEvent[] {
  const { scope, node, budget } = open;
  const data = scope.data as Extract<ScopeData, { scope: "phases" }>;
  if (data.current !== undefined) return [];
  const hasEnded = data.ends !== undefined;
  const planning = hasEnded ? undefined : planAhead(choice, open, data);
  if (planning !== undefined) return planning;
  const phase = node.children[data.next];
  if (phase !== undefined) return startChild(choice, childPath(scope.path, phase.name), budget);
  const merged = hasEnded ? undefined : merge(choice, open);
  if (merged?.events !== undefined) return merged.events;
  return [
    leavePhases(choice, open, { isPartial: data.imperfect || merged?.isMissing === true, output: merged?.output }),
  ];
}

function leavePhases(
  choice: Choice,
  open: OpenScope<PhasesScope>,
  { isPartial, output }: { readonly isPartial: boolean; readonly output: ValueRef | undefined },
): EngineEvent {
  return leave(choice, open, {
    outcome: isPartial ? "partial" : "done",
    output: output ?? outputOfLast(choice, open),
  });
}

function outputOfLast({ state }: Choice, { scope, node }: OpenScope<PhasesScope>): ValueRef | undefined {
  const outputs = node.children.map(({ name }) => state.outputs.get(childPath(scope.path, name))?.value);
  return outputs.findLast((output) => output !== undefined);
}

interface Merged {
  /** Until it is over. */
  readonly events?: readonly EngineEvent[];
  readonly output?: ValueRef;
  /** Without it the results stand side by side. */
  readonly isMissing?: boolean;
}

function merge(choice: Choice, { scope, node, budget }: OpenScope<PhasesScope>): Merged | undefined {
  const writer = node.consolidation?.writer;
  if (writer === undefined) return undefined;
  const path = childPath(scope.path, CONSOLIDATE_NAME);
  const step = currentStep(choice, path);
  if (step === undefined || step.status === "cancelled")
    return { events: startStep(choice, { path, node: writer }, budget) };
  if (step.status === "completed" && step.output !== undefined) return { output: step.output };
  if (step.status !== "failed" && step.status !== "skipped") return { events: [] };
  const told = recordDecisionOnce(choice, {
    agent: "atlas",
    type: "consolidate_by_rules",
    description: "the results are put side by side",
    rationale: `no model merged them: ${step.error?.message ?? "it was skipped"}`,
    alternatives: ["consolidate_by_model"],
    subject: path,
    facts: { step: step.id },
  });
  return told.length > 0 ? { events: told } : { isMissing: true };
}
