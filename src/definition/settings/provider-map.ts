/**
 * Which provider and model are used for those that a workflow names: the setting `provider_map`.
 *
 * A file of someone else names the provider its author had. The map puts the one that is to be had here in its place,
 * so the file stays as it is; it is asked at the moment of the call, so a task goes on with today's map.
 */
import type { ProviderMap } from "../../schema/generated/settings.js";

export interface ProviderChoice {
  readonly provider: string;
  readonly model?: string;
}

/** The provider to call. Shape: not looked up again: a map never goes in a circle. */
export function chooseProvider(map: ProviderMap, provider: string, model: string | undefined): ProviderChoice {
  const entry = Object.hasOwn(map, provider) ? map[provider] : undefined;
  if (entry === undefined) return { provider, model };
  if (typeof entry === "string") return { provider: entry, model };
  const named = model !== undefined && Object.hasOwn(entry.models ?? {}, model) ? entry.models?.[model] : undefined;
  return { provider: entry.provider, model: named ?? entry.model ?? model };
}

/** What to write so that a provider can be had; part of the message that says it cannot. */
export function suggestProviderMap(provider: string): string {
  return `name another for it in splashdown.config.yaml, as in provider_map: {${provider}: ${provider === "openai" ? "ollama" : "openai"}}`;
}
