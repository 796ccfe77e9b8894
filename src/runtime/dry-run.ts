/** `run --dry-run`: what a run would do, from the checked file, its inputs and today's settings. Nothing is made. */
import type { JsonObject } from "../base/json.js";
import { chooseProvider } from "../definition/provider-map.js";
import type { LimitsDefinition, NodeDefinition, StepDefinition } from "../definition/workflow.js";
import type { DryRunStepView, DryRunView } from "./face-views.js";
import type { RunOptions } from "./contract.js";
import type { Services } from "./services.js";
import { prepareWorkflow } from "./workflow-loading.js";

/** Kinds that wait for a person. */
const GATES = new Set(["human_gate", "questions"]);

/** Errors: those of a run before it begins: WORKFLOW_NOT_FOUND, WORKFLOW_INVALID, INPUT_INVALID, SETTING_INVALID. */
export async function planRun(services: Services, options: RunOptions): Promise<DryRunView> {
  const { workflow, inputs } = await prepareWorkflow(services, options);
  const { definition, notes } = workflow;
  const steps = listSteps(definition.root).map((step) => viewStep(services, step));
  const view = {
    dry_run: true,
    workflow: definition.name,
    fingerprint: definition.fingerprint,
    inputs,
    steps,
    gates: steps.filter(({ kind }) => GATES.has(kind)).map(({ step }) => step),
    limits: viewLimits(definition.limits),
    notes,
  } as const;
  return { ...view, text: formatDryRun(view) };
}

/** In the order of the file; what routes and conditions choose is not known ahead. */
function listSteps(node: NodeDefinition): StepDefinition[] {
  if (node.node === "step") return [node];
  const children: readonly NodeDefinition[] = node.children;
  return children.flatMap(listSteps);
}

function viewStep({ settings }: Services, step: StepDefinition): DryRunStepView {
  const common = { step: step.path, kind: step.kind, effects: step.effects };
  const after = step.dependsOn.length === 0 ? {} : { after: step.dependsOn };
  if (step.kind !== "model") return { ...common, ...after };
  const { provider, model } = chooseProvider(settings.provider_map, step.provider, step.model);
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

function formatDryRun({ workflow, inputs, steps, gates, limits }: Omit<DryRunView, "text">): string {
  const shown = (values: JsonObject): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .join(", ");
  return [
    `${workflow}: ${steps.length} steps would run, in this order where nothing chooses otherwise; nothing was made`,
    ...steps.map((step, index) => `${String(index + 1).padStart(4)}  ${formatStep(step)}`),
    ...(Object.keys(inputs).length === 0 ? [] : [`inputs: ${shown(inputs)}`]),
    `limits: ${shown(limits)}`,
    ...(gates.length === 0 ? [] : [`waits for a person at: ${gates.join(", ")}`]),
  ].join("\n");
}

function formatStep({ step, kind, effects, provider, model, after = [] }: DryRunStepView): string {
  const by = provider === undefined ? "" : ` by ${provider}${model === undefined ? "" : ` ${model}`}`;
  const order = after.length === 0 ? "" : `, after ${after.join(", ")}`;
  return `${step}  ${kind}${by}${effects === "none" ? "" : `, effects: ${effects}`}${order}`;
}
