/** Looks whether a provider answers and takes the key: asks for its list of models, which costs nothing. */
import type { Clock } from "../../base/clock.js";
import { messageOf } from "../../base/errors.js";
import { isJsonObject, type JsonValue } from "../../base/json.js";
import { ownOriginFetch } from "./own-origin-fetch.js";
import type { ProviderConfig } from "./provider-config.js";

export interface ProviderFinding {
  readonly ok: boolean;
  readonly text: string;
  readonly hint?: string;
}

const ANTHROPIC_VERSION = "2023-06-01";
export const CHECK_TIMEOUT_MS = 5_000;

/** Errors: none, they are findings. A key is in no text. */
export async function checkProvider(config: ProviderConfig, clock: Clock): Promise<ProviderFinding> {
  const { name, facts, baseUrl, needsKey, keyOrigin } = config;
  if (facts.api === "package") return { ok: true, text: `spoken to by ${facts.package ?? ""} when it is installed` };
  if (baseUrl === undefined) return { ok: false, text: "has no address", hint: `set base_url under providers.${name}` };
  if (config.unsetVariable !== undefined)
    return {
      ok: false,
      text: `has no key: the variable ${config.unsetVariable} is not set`,
      hint: `set ${config.unsetVariable}`,
    };
  try {
    const key = await config.readKey();
    if (key === undefined && needsKey)
      return { ok: false, text: "has no key", hint: `set ${facts.keyVariables[0] ?? "its key"}` };
    return await ask(config, key, clock);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    const key = keyOrigin === undefined ? "" : `, key from ${keyOrigin}`;
    const text = `${placeOf(baseUrl)} does not answer${key}: ${messageOf(error)}${cause}`;
    return { ok: false, text, hint: `look whether it is running, and at the address of provider ${name}` };
  }
}

async function ask(config: ProviderConfig, key: string | undefined, clock: Clock): Promise<ProviderFinding> {
  const { facts, baseUrl = "", headers, keyOrigin } = config;
  const isAnthropic = facts.api === "anthropic";
  const url = isAnthropic ? `${baseUrl.replace(/\/v1$/, "")}/v1/models` : `${baseUrl}/models`;
  const end = new AbortController();
  const cancel = clock.schedule(CHECK_TIMEOUT_MS, () => end.abort());
  try {
    const response = await ownOriginFetch(url, {
      headers: { ...headers, ...keyHeaders(isAnthropic, key) },
      signal: end.signal,
    });
    const text = await response.text();
    const from = key === undefined ? "no key" : `key from ${keyOrigin ?? "?"}`;
    if (response.ok) return { ok: true, text: `${placeOf(baseUrl)} answers, ${from}${countModels(text)}` };
    const isKey = response.status === 401 || response.status === 403;
    return {
      ok: false,
      text: `${placeOf(baseUrl)} answered ${response.status}, ${from}`,
      hint: isKey ? "the key was refused: look where it comes from" : "look at its address",
    };
  } finally {
    cancel();
  }
}

function keyHeaders(isAnthropic: boolean, key: string | undefined): Record<string, string> {
  if (isAnthropic)
    return { "anthropic-version": ANTHROPIC_VERSION, ...(key === undefined ? {} : { "x-api-key": key }) };
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

/** Without name and password, which an address may hold. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}

function countModels(text: string): string {
  try {
    const list = JSON.parse(text) as JsonValue;
    const models = isJsonObject(list) ? list["data"] : undefined;
    return Array.isArray(models) ? `, ${models.length} models` : "";
  } catch {
    return "";
  }
}
