/** Before a workflow runs: whether it needs a provider or an agent that only an untrusted settings file describes. */
import { chooseProvider } from "../../definition/settings/provider-map.js";
import type { StepDefinition } from "../../definition/model/step.js";
import type { WorkflowDefinition } from "../../definition/model/workflow.js";
import { isJsonObject } from "../../base/json.js";
import { listPlannedSteps } from "./planned-steps.js";
import type { Services } from "../services/services.js";
import { notTrusted } from "../trust/folder-settings.js";

/** Errors: FOLDER_NOT_TRUSTED. */
export function requireTrusted(services: Services, definition: Pick<WorkflowDefinition, "root" | "hooks">): void {
  const { waiting } = services;
  if (waiting === undefined) return;
  for (const { step } of listPlannedSteps(definition)) {
    const need = needOf(services, step);
    const held = need && waiting.settings.find(({ key, value }) => key === need.key && isNamed(value, need.name));
    if (held) throw notTrusted(waiting, [held.key], `step ${step.path} needs ${need.name}, which is described`);
  }
}

function isNamed(value: unknown, name: string): boolean {
  return isJsonObject(value) && Object.hasOwn(value, name);
}

function needOf({ settings }: Services, step: StepDefinition): { key: string; name: string } | undefined {
  if (step.kind === "cli") return { key: "cli_agents", name: step.cli };
  const asked = step.kind === "scorer" && step.scorer.by === "model" ? step.scorer : step;
  if (!("provider" in asked)) return undefined;
  return { key: "providers", name: chooseProvider(settings.provider_map, asked.provider, asked.model).provider };
}
