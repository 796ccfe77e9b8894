import { describe, expect, it } from "vitest";
import { chooseProvider } from "../../../src/definition/settings/provider-map.js";
import { checkSettings, mergeSettings } from "../../../src/definition/settings/settings.js";

describe("the provider map", () => {
  const map = {
    copilot: "openai",
    claude: { provider: "anthropic", models: { "claude-sonnet-4.5": "claude-sonnet-4-5" } },
    hermes: { provider: "ollama", model: "llama3.1" },
    openai: "ollama",
  };
  it.each([
    ["copilot", "gpt-5", { provider: "openai", model: "gpt-5" }],
    ["claude", "claude-sonnet-4.5", { provider: "anthropic", model: "claude-sonnet-4-5" }],
    ["claude", "other", { provider: "anthropic", model: "other" }],
    ["hermes", "x", { provider: "ollama", model: "llama3.1" }],
    ["scripted", undefined, { provider: "scripted", model: undefined }],
    ["toString", undefined, { provider: "toString", model: undefined }],
  ])("gives for %s with the model %s what is to be had", (provider, model, expected) => {
    expect(chooseProvider(map, provider, model)).toEqual(expected);
  });

  it("is empty by default, and layers add up by provider", () => {
    const layer = (provider_map: Record<string, string>) => ({ origin: "x", values: { provider_map } });
    expect(mergeSettings([]).settings.provider_map).toEqual({});
    const { settings, origins } = mergeSettings([layer({ a: "b" }), { ...layer({ c: "d" }), origin: "y" }]);
    expect(settings.provider_map).toEqual({ a: "b", c: "d" });
    expect(origins).toMatchObject({ "provider_map.a": "x", "provider_map.c": "y" });
  });

  it("refuses an entry without a provider", () => {
    expect(() => checkSettings({ provider_map: { copilot: { model: "x" } } }, "file")).toThrow(
      /provider_map.copilot.*has no provider/,
    );
  });
});
