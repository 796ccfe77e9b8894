/** Builds a language model of the AI SDK; packages are loaded on first use, and looked for beside the workflow too. */
import type { wrapLanguageModel } from "ai";
import { SplashdownError } from "../../base/errors.js";
import { importOptional } from "../../base/optional-package.js";
import { ownOriginFetch } from "./own-origin-fetch.js";
import { withWholeAnswers } from "./whole-answer.js";
import type { ProviderConfig } from "./provider-config.js";
import { PROVIDERS } from "./provider-table.js";

export type Sdk = typeof import("ai");
export type SdkLanguageModel = Parameters<typeof wrapLanguageModel>[0]["model"];

/** The SDK itself. On a slow machine that takes seconds, which are no silence of a model: whoever counts begins after it. */
export const loadSdk = (): Promise<Sdk> => import("ai");

/** Errors: MODEL_UNAVAILABLE when a key or a package is missing. */
export async function loadSdkModel(
  config: ProviderConfig,
  modelId: string,
  folder: string | undefined,
): Promise<SdkLanguageModel> {
  const apiKey = await config.readKey();
  if (apiKey === undefined && config.needsKey) throw keyMissing(config);
  switch (config.facts.api) {
    case "openai":
      return loadCompatible(config, modelId, apiKey);
    case "anthropic":
      return loadAnthropic(config, modelId, apiKey);
    default:
      return loadInstalled(config, { modelId, apiKey, folder });
  }
}

function keyMissing({ name, facts }: ProviderConfig): SplashdownError {
  const variable = facts.keyVariables[0] ?? "its key";
  return unavailable(
    name,
    `provider ${name} needs a key: set ${variable}, or key_command or key_system under providers.${name}`,
  );
}

const modelFetch = withWholeAnswers(ownOriginFetch);

function unavailable(provider: string, text: string, details: Readonly<Record<string, string>> = {}): SplashdownError {
  return new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider, ...details } });
}

async function loadCompatible(
  config: ProviderConfig,
  modelId: string,
  apiKey: string | undefined,
): Promise<SdkLanguageModel> {
  const { name, facts, baseUrl, headers, isStructured } = config;
  if (baseUrl === undefined)
    throw unavailable(
      name,
      `provider ${name} has no address: set OPENAI_BASE_URL, or base_url under providers.${name}`,
    );
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl,
    headers: { ...headers },
    includeUsage: true,
    fetch: modelFetch,
    supportsStructuredOutputs: isStructured,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(name === "openai" && facts === PROVIDERS["openai"] ? { transformRequestBody: renameTokensMax } : {}),
  });
  return provider(modelId);
}

/** OpenAI's newer models refuse the older name. */
function renameTokensMax({ max_tokens: tokensMax, ...body }: Record<string, unknown>): Record<string, unknown> {
  return tokensMax === undefined ? body : { ...body, max_completion_tokens: tokensMax };
}

async function loadAnthropic(
  { baseUrl, headers, isBearer }: ProviderConfig,
  modelId: string,
  apiKey: string | undefined,
): Promise<SdkLanguageModel> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const root = (baseUrl ?? "").replace(/\/v1$/, "");
  const baseURL = `${root}/v1`;
  const key = isBearer === true && apiKey !== undefined ? { authToken: apiKey } : { apiKey: apiKey ?? "none" };
  return createAnthropic({ baseURL, headers: { ...headers }, ...key, fetch: modelFetch })(modelId);
}

interface Installed {
  readonly modelId: string;
  readonly apiKey: string | undefined;
  readonly folder: string | undefined;
}

type ProviderFactory = (options: Readonly<Record<string, unknown>>) => (modelId: string) => SdkLanguageModel;

async function loadInstalled(
  { name, facts, baseUrl, headers, apiVersion }: ProviderConfig,
  { modelId, apiKey, folder }: Installed,
): Promise<SdkLanguageModel> {
  const module = facts.package ?? "";
  const install = `npm install ${module}@${facts.packageVersion ?? "latest"}`;
  const exported = await importOptional(module, folder);
  if (exported === undefined)
    throw unavailable(name, `provider ${name} needs a package that is not installed beside splashdown: ${install}`, {
      install,
    });
  const factory = Object.entries(exported).find(
    ([key, value]) => /^create[A-Z]/.test(key) && typeof value === "function",
  );
  const address = { headers, fetch: modelFetch, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) };
  const options = { ...address, ...(apiKey && { apiKey }), ...(apiVersion && { apiVersion }) };
  const model = (factory?.[1] as ProviderFactory | undefined)?.(options)(modelId);
  if (model?.specificationVersion === "v3") return model;
  throw unavailable(name, `the installed ${module} does not fit this version: ${install}`, { install });
}
