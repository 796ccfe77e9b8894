/** Every step that a workflow may run: those of the file, and those in which a model plans, judges, chooses or merges. */
import type { HookName, HooksDefinition } from "../../definition/model/hooks.js";
import { omitUndefined } from "../../definition/kinds/step-fields.js";
import type { NodeDefinition, ScopeDefinition, WorkflowDefinition } from "../../definition/model/workflow.js";
import type { StepDefinition } from "../../definition/model/step.js";

/** A step, and what must happen for it to run; absent: it runs where nothing chooses otherwise. */
export interface PlannedStep {
  readonly step: StepDefinition;
  readonly when?: string;
}

export function listPlannedSteps({ root, hooks }: Pick<WorkflowDefinition, "root" | "hooks">): readonly PlannedStep[] {
  return withHooks(listBelow(root), hooks);
}

/** In the order of the file; what routes and conditions choose is not known ahead. */
function listBelow(node: NodeDefinition): readonly PlannedStep[] {
  if (node.node === "step") return [{ step: node }];
  const children: readonly NodeDefinition[] = node.children;
  const steps = [...listPlanners(node), ...children.flatMap(listBelow), ...listAfter(node)];
  return node.scope === "workflow" ? withHooks(steps, node.hooks) : steps;
}

function listPlanners(node: ScopeDefinition): readonly PlannedStep[] {
  return node.scope === "phases" && node.plan !== undefined ? [{ step: node.plan.planner }] : [];
}

/** Who scores, whom Atlas asks and adds, and who merges. */
function listAfter(node: ScopeDefinition): readonly PlannedStep[] {
  if (node.scope === "phases")
    return node.consolidation?.writer === undefined ? [] : [{ step: node.consolidation.writer }];
  if (node.scope !== "phase") return [];
  const { evaluate, orchestrator, spawn, confidence } = node;
  return [
    ...(evaluate?.scorers ?? []).map((step) => ({ step })),
    ...(orchestrator === undefined ? [] : [{ step: orchestrator, when: "if there is something to choose" }]),
    ...(spawn === undefined || confidence.spawnMax === 0 ? [] : [{ step: spawn, when: "if confidence is low" }]),
  ];
}

/** Hooks that are steps; those that are told are no work. */
function withHooks(steps: readonly PlannedStep[], hooks: HooksDefinition = {}): readonly PlannedStep[] {
  const pick = (name: HookName, when?: string): readonly PlannedStep[] => {
    const hook = hooks[name];
    return hook === undefined || !("step" in hook) ? [] : [{ step: hook.step, ...omitUndefined("when", when) }];
  };
  return [...pick("on_start"), ...steps, ...pick("on_complete"), ...pick("on_error", "if a failure stops it")];
}
