/** Address, key, headers and wire of a file's provider belong to its block: a mapping changes the name alone. */
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/base/json.js";
import { describeBound, requireProvider } from "../../../../src/agents/providers/provider-endpoint.js";
import type { ProviderSettings } from "../../../../src/agents/providers/provider-config.js";
import { readModelPlan } from "../../../../src/agents/models/model-plan.js";
import type { ModelStep, ScorerStep } from "../../../../src/definition/model/step.js";
import { loadText } from "../../../support/workflow-files.js";
import { keepEnds, openModels, requestOf } from "../../../support/model-room.js";
import { goodAnswer, openRawServer, type RawServer } from "../../../support/raw-server.js";

const LOCAL = { name: "copilot", type: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "${FILE_KEY}" };
const ENVIRONMENT: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "vendor",
  ANTHROPIC_API_KEY: "vendor",
  FILE_KEY: "file",
};

function resolve(named: string, endpoint: JsonObject, settings: Readonly<Record<string, ProviderSettings>> = {}) {
  const never = () => Promise.reject(new Error("not here"));
  const sources = {
    settings,
    environment: (name: string) => ENVIRONMENT[name],
    learn: () => undefined,
    runKeyCommand: never,
    readSystemKey: never,
  };
  return requireProvider(sources, named, endpoint);
}

const servers: RawServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

describe("a provider of a file that says where everything goes", () => {
  it.each([["openai"], ["copilot"], ["openai-compatible"], ["anthropic"], ["ollama"], ["nobody"]])(
    "[kinds F2] is asked there in its own form with its own key, mapped to %s or not",
    async (named) => {
      const config = resolve(named, LOCAL);
      expect([config.baseUrl, config.facts.api, await config.readKey()]).toEqual([LOCAL.base_url, "openai", "file"]);
    },
  );

  it("[kinds F2 kin] gets every byte at its address: nothing is sent anywhere else", async () => {
    const server = await openRawServer(goodAnswer("ok"));
    servers.push(server);
    const model = openModels({ environment: { ...ENVIRONMENT, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } })("openai");
    const endpoint = { ...LOCAL, base_url: server.url, headers: { "x-team": "red" } };
    await model.call(requestOf({ endpoint }), keepEnds());
    expect(server.requests[0]).toMatch(/authorization: Bearer file/i);
    expect(server.requests[0]).toMatch(/x-team: red/i);
    expect(server.requests[0]).not.toMatch(/vendor/);
  });

  it("[kinds F2 kin] has no vendor's key and no header of the settings without saying so", async () => {
    const { api_key: _key, ...keyless } = LOCAL;
    const settings = { openai: { header_variables: { "x-mine": "FILE_KEY" } } };
    const config = resolve("openai", keyless, settings);
    expect([await config.readKey(), config.headers, config.needsKey]).toEqual([undefined, {}, false]);
  });

  it.each<[string, JsonObject, string, string | undefined]>([
    ["type: anthropic", { type: "anthropic" }, "anthropic", undefined],
    ["the name claude", { name: "claude", type: null }, "anthropic", undefined],
    ["wire_api: responses", { type: null, wire_api: "responses" }, "package", "@ai-sdk/openai"],
    ["type: azure", { type: "azure" }, "package", "@ai-sdk/azure"],
    ["nothing", { type: null }, "openai", undefined],
  ])("[kinds F2 kin] speaks the form that %s means, under a map to openai", (_title, change, api, packageName) => {
    const endpoint = Object.fromEntries(
      Object.entries({ ...LOCAL, ...change }).filter(([, value]) => value !== null),
    ) as JsonObject;
    const { facts } = resolve("openai", endpoint);
    expect([facts.api, facts.package]).toEqual([api, packageName]);
  });
});

describe("a provider of a file that gives no address", () => {
  it.each([
    ["api_key", { api_key: "${FILE_KEY}" }],
    ["headers", { headers: { a: "b" } }],
    ["type", { type: "anthropic" }],
    ["runtime_url", { runtime_url: "localhost:3000" }],
  ])("[kinds F2 kin] is refused under another name before anything leaves, where it says %s", (field, says) => {
    const endpoint = { name: "copilot", ...says } as JsonObject;
    expect(() => resolve("openai", endpoint)).toThrow(
      `workflow.runtime.provider gives ${field} for copilot, which is not for openai: nothing was sent`,
    );
    expect(describeBound(endpoint, "copilot")).toBeUndefined();
  });

  it("[kinds F2 kin] goes along where it says nothing but its name, or the name is the same", async () => {
    expect(resolve("openai", { name: "copilot" }).baseUrl).toBe("https://api.openai.com/v1");
    const config = resolve("anthropic", { name: "claude", auth_token: "${FILE_KEY}" });
    expect([await config.readKey(), config.isBearer]).toEqual(["file", true]);
  });
});

describe("everybody whom a file asks", () => {
  it("[kinds F2 kin] is asked at its address: fallbacks, judges, named steps; others are not", async () => {
    const { definition } = await loadText(`
workflow: {name: w, runtime: {default_model: m, provider: {name: copilot, type: openai, base_url: "http://local/v1"}}}
phases:
  - name: p
    specialists:
      - {name: a, prompt: go, fallback: [small, {provider: copilot, model: tiny}, {provider: openai, model: big}]}
      - {name: b, prompt: go, provider: copilot}
      - {name: c, prompt: go, provider: openai}
    evaluate: {scorers: [{name: quality, rubric: good}, {name: security, rubric: safe, judges: [{}, {provider: openai}]}]}
`);
    const phase = definition.root.children[0];
    if (phase?.node !== "scope" || phase.scope !== "phase") throw new Error("no phase");
    const steps = phase.children as readonly ModelStep[];
    const places = steps.map((step) =>
      readModelPlan(step, undefined).choices.map(({ endpoint }) => endpoint?.["base_url"]),
    );
    expect(places).toEqual([
      ["http://local/v1", "http://local/v1", "http://local/v1", undefined],
      ["http://local/v1"],
      [undefined],
    ]);
    const scorers = (phase.evaluate?.scorers ?? []).map(({ scorer }: ScorerStep) =>
      scorer.by === "model" ? scorer.endpoint?.["base_url"] : "none",
    );
    expect(scorers).toEqual(["http://local/v1", "http://local/v1", undefined]);
  });
});
