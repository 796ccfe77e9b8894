/** `run --dry-run`: what a run would do, from the checked file, its inputs and today's settings. Nothing is made. */
import { formatCount } from "../../base/plain-text.js";
import type { JsonObject } from "../../base/json.js";
import { omitUndefined } from "../../definition/kinds/step-fields.js";
import { kindOf } from "../../definition/kinds/table.js";
import type { PlannerRule } from "../../definition/model/step.js";
import { chooseProvider } from "../../definition/settings/provider-map.js";
import type { LimitsDefinition, NodeDefinition } from "../../definition/model/workflow.js";
import type { DryRunGoalView, DryRunModelView, DryRunStepView, DryRunView } from "../views/face-views.js";
import type { RunOptions } from "../views/verb-views.js";
import type { Services } from "../services/services.js";
import { prepareWorkflow } from "../tasks/workflow-loading.js";
import { listPlannedSteps, type PlannedStep } from "../tasks/planned-steps.js";

/** Errors: those of a run before it begins: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID, INPUT_INVALID, SETTING_INVALID. */
export async function planRun(services: Services, options: RunOptions): Promise<DryRunView> {
  const { workflow, inputs } = await prepareWorkflow(services, options);
  const { definition, notes } = workflow;
  const planned = listPlannedSteps(definition);
  const steps = planned.map((one) => viewStep(services, one));
  const goal = viewGoal(services, definition.root);
  const view = {
    dry_run: true,
    workflow: definition.name,
    fingerprint: definition.fingerprint,
    inputs,
    steps,
    ...(goal === undefined ? {} : { goal }),
    gates: planned.filter(({ step }) => kindOf(step.kind).endedBy === "person").map(({ step }) => step.path),
    limits: viewLimits(definition.limits),
    notes,
  } as const;
  return { ...view, text: formatDryRun(view) };
}

function viewGoal({ settings }: Services, root: NodeDefinition): DryRunGoalView | undefined {
  const plan = root.node === "scope" && root.scope === "phases" ? root.plan : undefined;
  const rule = plan?.planner.planner;
  if (plan === undefined || rule === undefined) return undefined;
  const viewModel = (provider: string, model: string | undefined): DryRunModelView => {
    const chosen = chooseProvider(settings.provider_map, provider, model);
    return { provider: chosen.provider, ...(chosen.model === undefined ? {} : { model: chosen.model }) };
  };
  return {
    text: plan.planner.prompt,
    planner: viewModel(plan.planner.provider, plan.planner.model),
    specialists: viewModel(rule.provider, rule.model),
    ...(rule.atlas === undefined ? {} : { atlas: viewModel(...modelOf(rule.atlas, rule)) }),
    max_phases: rule.phasesMax,
    max_specialists: rule.specialistsMax,
    approve: plan.approve,
    replan: plan.replan,
  };
}

/** Of what says which model it is; what it does not say is the file's. */
function modelOf({ provider, model }: JsonObject, rule: PlannerRule): [string, string | undefined] {
  const named = typeof model === "string" ? model : rule.model;
  return [typeof provider === "string" ? provider : rule.provider, named];
}

function viewStep({ settings }: Services, { step, when }: PlannedStep): DryRunStepView {
  const common = { step: step.path, kind: step.kind, effects: step.effects, ...omitUndefined("when", when) };
  const after = step.dependsOn.length === 0 ? {} : { after: step.dependsOn };
  const judge = step.kind === "scorer" && step.scorer.by === "model" ? step.scorer : undefined;
  const asked = step.kind === "model" ? step : judge;
  if (asked === undefined) return { ...common, ...after };
  const { provider, model } = chooseProvider(settings.provider_map, asked.provider, asked.model);
  return { ...common, ...after, provider, ...(model === undefined ? {} : { model }) };
}

function viewLimits(limits: LimitsDefinition): JsonObject {
  const { maxIterations, timeoutMs, tokensMax, callsMax, costMicroUsdMax } = limits;
  const view = {
    iterations: maxIterations,
    seconds: timeoutMs === undefined ? undefined : timeoutMs / 1000,
    tokens: tokensMax,
    calls: callsMax,
    usd: costMicroUsdMax === undefined ? undefined : costMicroUsdMax / 1_000_000,
  };
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

function formatDryRun({ workflow, inputs, steps, goal, gates, limits }: Omit<DryRunView, "text">): string {
  const shown = (values: JsonObject): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .join(", ");
  return [
    `${workflow}: ${formatCount(steps.filter(({ when }) => when === undefined).length, "step")} would run, in this order unless a route chooses another; nothing was started`,
    ...(goal === undefined ? [] : formatGoal(goal)),
    ...steps.map((step, index) => `${String(index + 1).padStart(4)}  ${formatStep(step)}`),
    ...(Object.keys(inputs).length === 0 ? [] : [`inputs: ${shown(inputs)}`]),
    `limits: ${shown(limits)}`,
    ...(gates.length === 0 ? [] : [`waits for a person at: ${gates.join(", ")}`]),
  ].join("\n");
}

function formatGoal(goal: DryRunGoalView): readonly string[] {
  const { text, planner, specialists, atlas, approve, replan } = goal;
  return [
    `goal: ${text}`,
    `  planned by ${nameOf(planner)}: at most ${goal.max_phases} phases and ${goal.max_specialists} specialists in all, by ${nameOf(specialists)}`,
    `  ${approve ? "a person agrees to the plan before it is followed" : "the plan is followed without a question"}; ${replan ? "between phases it is looked at again" : "it stays to the end"}`,
    `  what follows from a phase is chosen by ${atlas === undefined ? "the rules" : nameOf(atlas)}`,
  ];
}

function nameOf({ provider, model }: DryRunModelView): string {
  return model === undefined ? provider : `${provider} ${model}`;
}

function formatStep({ step, kind, effects, provider, model, when, after = [] }: DryRunStepView): string {
  const by = provider === undefined ? "" : ` by ${nameOf({ provider, ...(model === undefined ? {} : { model }) })}`;
  const order = after.length === 0 ? "" : `, after ${after.join(", ")}`;
  const only = when === undefined ? "" : `, ${when}`;
  return `${step}  ${kind}${by}${effects === "none" ? "" : `, effects: ${effects}`}${order}${only}`;
}
