/** Looks which model providers are set up here, and whether they answer. */
import { checkProvider } from "../../agents/providers/provider-check.js";
import { findProvider } from "../../agents/providers/provider-config.js";
import { PROVIDERS } from "../../agents/providers/provider-table.js";
import type { CheckView } from "../views/verb-views.js";
import type { Services } from "./services.js";

/** One finding per provider that is set up here, and one about those that are not. */
export async function checkModels({
  models,
  settings,
  environment,
  clock,
}: Pick<Services, "models" | "settings" | "environment" | "clock">): Promise<CheckView[]> {
  const names = [...new Set([...Object.keys(settings.providers), ...Object.keys(PROVIDERS)])];
  const isSetUp = (name: string): boolean => {
    const facts = PROVIDERS[name];
    const variables = [...(facts?.urlVariables ?? []), ...(facts?.keyVariables ?? [])];
    return (
      settings.providers[name] !== undefined || variables.some((variable) => environment.get(variable) !== undefined)
    );
  };
  const checks = await Promise.all(
    names.filter(isSetUp).map(async (name): Promise<CheckView> => {
      const config = findProvider(models.sources, name);
      const finding =
        config === undefined
          ? { ok: false, text: "speaks like no known provider", hint: typeHint(name) }
          : await checkProvider(config, clock);
      return { name: `model ${name}`, ...finding };
    }),
  );
  const rest = names.filter((name) => !isSetUp(name)).join(", ");
  return [...checks, { name: "models", ok: true, text: `not set up: ${rest}` }];
}

function typeHint(name: string): string {
  return `write under providers.${name} the type openai-compatible, or one of those known: ${Object.keys(PROVIDERS).join(", ")}`;
}
