/** What is wrong with the providers that a workflow names, told before anything is paid for. */
import { findProvider, listProviderNames, type ProviderSources } from "../agents/models/provider-config.js";
import type { ModelChoice } from "../agents/model-call.js";
import { readModelPlan } from "../agents/model-plan.js";
import { SCRIPTED_PROVIDER } from "../agents/scripted-model.js";
import { findNearest } from "../definition/nearest.js";
import { chooseProvider } from "../definition/settings/provider-map.js";
import type { EffectiveSettings } from "../definition/settings/settings.js";
import type { PlannerRule } from "../definition/goal-rules.js";
import type { StepDefinition } from "../definition/workflow.js";

/** Words of other tools that name no service; a run says what to do about them. */
const NO_SERVICE = new Set(["copilot", "default"]);

/** One note for each name that is known to nobody; whether a known one answers is `doctor`'s to say. */
export function noteProviders(
  steps: readonly StepDefinition[],
  map: EffectiveSettings["provider_map"],
  sources: ProviderSources,
): string[] {
  const named = new Set(
    steps.flatMap(listChoices).map(({ provider, model }) => chooseProvider(map, provider, model).provider),
  );
  const isUnknown = (name: string): boolean =>
    name !== SCRIPTED_PROVIDER && !NO_SERVICE.has(name) && findProvider(sources, name) === undefined;
  return [...named].filter(isUnknown).map((name) => {
    const nearest = findNearest(name, listProviderNames(sources));
    const advice =
      nearest === undefined || nearest === name ? "splashdown doctor --models lists them" : `did you mean ${nearest}?`;
    return `provider ${name} is not known here, its steps will fail; ${advice}`;
  });
}

/** Of everybody who is asked: fallbacks, judges, the orchestrator, and who carries out what is planned. */
function listChoices(step: StepDefinition): readonly ModelChoice[] {
  if (step.kind === "scorer") return step.scorer.by === "model" ? [step.scorer] : [];
  if (step.kind !== "model") return [];
  const { planner } = step;
  return [...readModelPlan(step, undefined).choices, ...(planner === undefined ? [] : listPlanned(planner))];
}

function listPlanned({ provider, model, atlas }: PlannerRule): readonly ModelChoice[] {
  const chooser = atlas?.["provider"];
  return [{ provider, model }, ...(typeof chooser === "string" ? [{ provider: chooser }] : [])];
}
