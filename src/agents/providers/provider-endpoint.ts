/**
 * The provider that a call goes to where the workflow's file says itself how one is reached.
 *
 * Address, key, headers and wire form belong to the file's block and not to the name in it: `provider_map` and `--provider`
 * change the name alone. With an address the block says where everything goes, and nothing that belongs to another address
 * goes there: neither a vendor's key nor headers of the settings. Without one, what the block says of the provider it names
 * is not sent to another one: the call is refused before anything leaves.
 * Source: Conductor's ProviderSettings: the wire is `type`, by default that of the provider's name, else OpenAI's.
 */
import { SplashdownError } from "../../base/errors.js";
import { isJsonObject, type JsonObject } from "../../base/json.js";
import { fillVariables, listAddressSecrets } from "../outcome/variables.js";
import { describeUnknown, findProvider, type ProviderConfig, type ProviderSources } from "./provider-config.js";
import { PROVIDER_ALIASES, PROVIDERS, type ProviderFacts } from "./provider-table.js";

/** The first that is there counts. */
const KEY_FIELDS = ["bearer_token", "auth_token", "api_key"];
/** What a block says of the provider that it names, and of no other. */
const BOUND_FIELDS = [...KEY_FIELDS, "headers", "type", "wire_api", "azure", "runtime_url", "pool_endpoint"];

/** Errors: MODEL_UNAVAILABLE. */
export function requireProvider(
  sources: ProviderSources,
  named: string,
  endpoint: JsonObject | undefined,
): ProviderConfig {
  const found = findProvider(sources, named);
  const address = endpoint?.["base_url"];
  if (endpoint !== undefined && typeof address === "string")
    return atOwnAddress({ named, found, endpoint, address }, sources);
  const bound = endpoint === undefined ? undefined : describeBound(endpoint, named);
  if (bound !== undefined) throw new SplashdownError("MODEL_UNAVAILABLE", bound, { details: { provider: named } });
  if (found === undefined) throw describeUnknown(named);
  return endpoint === undefined ? found : { ...found, ...readOwn({ endpoint, otherwise: found }, found.name, sources) };
}

/** Why what a block without an address says cannot go along to another provider; `undefined` where it says nothing. */
export function describeBound(endpoint: JsonObject, named: string): string | undefined {
  const { name, base_url: address } = endpoint;
  if (typeof address === "string" || typeof name !== "string" || aliasOf(name) === aliasOf(named)) return undefined;
  const fields = BOUND_FIELDS.filter((field) => endpoint[field] !== undefined);
  if (fields.length === 0) return undefined;
  const verb = fields.length === 1 ? "is" : "are";
  return `workflow.runtime.provider gives ${fields.join(", ")} for ${name}, which ${verb} not for ${named}: nothing was sent; name base_url beside ${fields.length === 1 ? "it" : "them"}, take ${fields.length === 1 ? "it" : "them"} out of the file, or have provider_map leave ${name} alone`;
}

interface Addressed {
  readonly named: string;
  readonly found: ProviderConfig | undefined;
  readonly endpoint: JsonObject;
  readonly address: string;
}

function atOwnAddress({ named, found, endpoint, address }: Addressed, sources: ProviderSources): ProviderConfig {
  const name = found?.name ?? named;
  const baseUrl = fillAddress(address, sources, fillFor(name));
  const isItsOwn = found !== undefined && found.baseUrl === baseUrl;
  const nothing = { keyOrigin: undefined, readKey: () => Promise.resolve(undefined), headers: {} };
  return {
    name,
    facts: wireOf(endpoint, found),
    baseUrl,
    model: found?.model,
    isStructured: found?.isStructured ?? true,
    needsKey: isItsOwn && found.needsKey && KEY_FIELDS.every((field) => typeof endpoint[field] !== "string"),
    ...readOwn({ endpoint, otherwise: isItsOwn ? found : nothing }, name, sources),
    ...azureOf(endpoint),
  };
}

function wireOf(endpoint: JsonObject, found: ProviderConfig | undefined): ProviderFacts {
  const { type, name, wire_api: api } = endpoint;
  const openai = api === "responses" ? "openai-responses" : "openai-compatible";
  const said = typeof type === "string" ? type : api === undefined ? undefined : "openai";
  const own = typeof name === "string" && aliasOf(name) === "anthropic" ? "anthropic" : undefined;
  const form = said === "openai" ? openai : (said ?? own);
  const facts = form === undefined ? found?.facts : PROVIDERS[form];
  return facts ?? (PROVIDERS["openai-compatible"] as ProviderFacts);
}

function azureOf({ azure }: JsonObject): Pick<ProviderConfig, "apiVersion"> {
  const version = isJsonObject(azure) ? azure["api_version"] : undefined;
  return typeof version === "string" ? { apiVersion: version } : {};
}

type Access = Pick<ProviderConfig, "keyOrigin" | "readKey" | "headers" | "isBearer">;

interface Said {
  readonly endpoint: JsonObject;
  /** What the block does not say. */
  readonly otherwise: Access;
}

/** Key and headers of the block. */
function readOwn({ endpoint, otherwise }: Said, name: string, sources: ProviderSources): Access {
  const fill = fillFor(name);
  const [field, text] = KEY_FIELDS.map((key) => [key, endpoint[key]] as const).find(
    ([, value]) => typeof value === "string",
  ) ?? [undefined];
  const { headers } = endpoint;
  const named = Object.entries(isJsonObject(headers) ? headers : {});
  const key =
    typeof text === "string"
      ? { keyOrigin: field, readKey: async () => fill(text, sources), isBearer: field !== "api_key" }
      : { keyOrigin: otherwise.keyOrigin, readKey: otherwise.readKey };
  const own = named.map(([header, value]) => [header, fill(typeof value === "string" ? value : "", sources)]);
  return { ...key, headers: { ...otherwise.headers, ...Object.fromEntries(own) } };
}

type Fill = (text: string, sources: Pick<ProviderSources, "environment" | "learn">) => string;

function fillFor(provider: string): Fill {
  return (text, { environment, learn }) =>
    fillVariables(text, { environment, learn, missing: (variable) => variableMissing(provider, variable) });
}

/** Of an address, only what may hold a key is a secret. */
function fillAddress(address: string, { environment, learn }: ProviderSources, fill: Fill): string {
  for (const name of listAddressSecrets(address)) {
    const value = environment(name);
    if (value !== undefined) learn(value);
  }
  return fill(address, { environment, learn: () => undefined });
}

function variableMissing(provider: string, variable: string): SplashdownError {
  const text = `provider ${provider} needs the variable ${variable}, which is not set`;
  return new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider, variable } });
}

function aliasOf(name: string): string {
  return Object.hasOwn(PROVIDER_ALIASES, name) ? (PROVIDER_ALIASES[name] ?? name) : name;
}
