/** What is wrong with the providers that a workflow names, told before anything is paid for. */
import {
  findProvider,
  listProviderNames,
  type ProviderConfig,
  type ProviderSources,
} from "../../agents/providers/provider-config.js";
import { describeBound } from "../../agents/providers/provider-endpoint.js";
import type { ModelChoice } from "../../agents/models/model-call.js";
import { readModelPlan } from "../../agents/models/model-plan.js";
import { SCRIPTED_PROVIDER } from "../../agents/models/scripted-model.js";
import { isErrorCode, messageOf } from "../../base/errors.js";
import { findNearest } from "../../definition/faults/nearest.js";
import { chooseProvider } from "../../definition/settings/provider-map.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { StepDefinition, PlannerRule } from "../../definition/model/step.js";

/** Words of other tools that name no service; a run says what to do about them. */
const NO_SERVICE = new Set(["copilot", "default"]);

/** One note for each name that cannot be asked from here; whether one that can answers is `doctor`'s to say. */
export function noteProviders(
  steps: readonly StepDefinition[],
  map: EffectiveSettings["provider_map"],
  sources: ProviderSources,
): string[] {
  const named = new Map<string, boolean>();
  const refused = new Set<string>();
  for (const { provider, model, endpoint } of steps.flatMap(listChoices)) {
    const chosen = chooseProvider(map, provider, model).provider;
    const bound = endpoint === undefined ? undefined : describeBound(endpoint, chosen);
    if (bound !== undefined && chosen !== SCRIPTED_PROVIDER) refused.add(bound);
    // A file that says where everything goes needs nothing of the settings.
    if (endpoint?.["base_url"] !== undefined) continue;
    // What a file says of a key itself is looked at when it is used.
    named.set(chosen, (named.get(chosen) ?? true) && endpoint !== undefined);
  }
  return [...refused, ...[...named].flatMap(([name, hasOwn]) => noteOne(name, { sources, hasOwn }) ?? [])];
}

function noteOne(
  name: string,
  { sources, hasOwn }: { readonly sources: ProviderSources; readonly hasOwn: boolean },
): string | undefined {
  if (name === SCRIPTED_PROVIDER || NO_SERVICE.has(name)) return undefined;
  try {
    const config = findProvider(sources, name);
    if (config === undefined)
      return `provider ${name} is not known here, its steps will fail; ${adviseOn(name, sources)}`;
    const isKeyless = config.needsKey && config.keyOrigin === undefined && !hasOwn;
    return isKeyless
      ? `provider ${name} has no key here, its steps will fail; ${adviseOnKey(config, sources)}`
      : undefined;
  } catch (error) {
    if (!isErrorCode(error, "MODEL_UNAVAILABLE")) throw error;
    return `${messageOf(error)}; its steps will fail`;
  }
}

function adviseOn(name: string, sources: ProviderSources): string {
  const nearest = findNearest(name, listProviderNames(sources));
  return nearest === undefined || nearest === name
    ? "splashdown doctor --models lists them"
    : `did you mean ${nearest}?`;
}

function adviseOnKey({ name, facts }: ProviderConfig, { settings }: ProviderSources): string {
  const variable = settings[name]?.key_variable ?? facts.keyVariables[0];
  return `set ${variable ?? "its key"}, or key_command or key_system under providers.${name}`;
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
