/**
 * What is known of one provider here: the table, over it the settings of a person, over both the environment.
 *
 * A key is read at the moment of use from a variable or a command, and handed to the SDK alone. Settings name where a key
 * is found and never hold one.
 */
import { SplashdownError } from "../../base/errors.js";
import { PROVIDER_ALIASES, PROVIDERS, type ProviderFacts } from "./provider-table.js";

/** A provider in the settings file. Units: as on disk. */
export interface ProviderSettings {
  readonly type?: string | undefined;
  readonly base_url?: string | undefined;
  readonly key_variable?: string | undefined;
  readonly key_command?: readonly string[] | undefined;
  readonly key_command_variables?: readonly string[] | undefined;
  readonly key_system?: SystemEntry | undefined;
  /** Header → variable whose value it takes. */
  readonly header_variables?: Readonly<Record<string, string>> | undefined;
  readonly model?: string | undefined;
  /** False: the server knows no `response_format`; the schema is asked for in the prompt. */
  readonly structured_output?: boolean | undefined;
}

/** An entry of the system's keyring. */
export interface SystemEntry {
  readonly service: string;
  readonly account: string;
}

export interface ProviderSources {
  readonly settings: Readonly<Record<string, ProviderSettings>>;
  readonly environment: (name: string) => string | undefined;
  /** Told every secret that a file's own settings name, before it is used. */
  readonly learn: (secret: string) => void;
  /** Runs a key command; the answer is the key. Errors: MODEL_UNAVAILABLE. */
  readonly runKeyCommand: (command: readonly string[], variables: readonly string[] | undefined) => Promise<string>;
  /** The answer is the key. Errors: MODEL_UNAVAILABLE. */
  readonly readSystemKey: (entry: SystemEntry) => Promise<string>;
}

export interface ProviderConfig {
  readonly name: string;
  readonly facts: ProviderFacts;
  readonly baseUrl: string | undefined;
  /** Where the key comes from, for people. */
  readonly keyOrigin: string | undefined;
  /** The variable that settings name for the key, where it is not set. */
  readonly unsetVariable?: string | undefined;
  readonly needsKey: boolean;
  readonly readKey: () => Promise<string | undefined>;
  /** The key is sent as a bearer token, also where a provider has a header of its own for keys. */
  readonly isBearer?: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Taken where a step names none. */
  readonly model: string | undefined;
  readonly isStructured: boolean;
  /** Of Azure's interface. */
  readonly apiVersion?: string | undefined;
}

/** Shape: `undefined` for a name that neither table nor settings know. */
export function findProvider(sources: ProviderSources, named: string): ProviderConfig | undefined {
  const { environment } = sources;
  const isOwn = Object.hasOwn(sources.settings, named);
  const name = isOwn ? named : aliasOf(named);
  const settings = sources.settings[name] ?? {};
  const type = aliasOf(settings.type ?? name);
  const facts = Object.hasOwn(PROVIDERS, type) ? PROVIDERS[type] : undefined;
  if (facts === undefined) return undefined;
  const baseUrl = settings.base_url ?? readAddress(facts, environment);
  return {
    name,
    facts,
    baseUrl,
    needsKey: facts.needsKey === true && (baseUrl === undefined || baseUrl === facts.baseUrl),
    ...findKey(sources, { settings, facts }),
    headers: readHeaders(name, settings.header_variables ?? {}, environment),
    model: settings.model,
    isStructured: settings.structured_output ?? true,
  };
}

/** Every name that may be asked for. */
export function listProviderNames({ settings }: Pick<ProviderSources, "settings">): string[] {
  return [...Object.keys(settings), ...Object.keys(PROVIDERS), ...Object.keys(PROVIDER_ALIASES)];
}

function aliasOf(name: string): string {
  return Object.hasOwn(PROVIDER_ALIASES, name) ? (PROVIDER_ALIASES[name] ?? name) : name;
}

interface Place {
  readonly settings: ProviderSettings;
  readonly facts: ProviderFacts;
}

/** A key of a vendor is not handed to somebody else's server: one of another address names its own variable. */
function findKey(
  { environment, runKeyCommand, readSystemKey }: ProviderSources,
  { settings, facts }: Place,
): Pick<ProviderConfig, "keyOrigin" | "readKey" | "unsetVariable"> {
  const { key_command: command, key_system: entry, key_variable: own, base_url: address } = settings;
  if (command !== undefined)
    return {
      keyOrigin: `the command ${command[0] ?? ""}`,
      readKey: () => runKeyCommand(command, settings.key_command_variables),
    };
  if (entry !== undefined) return { keyOrigin: "the system's keyring", readKey: () => readSystemKey(entry) };
  // Named and not set: a request without the key would only tell the server who asks.
  if (own !== undefined && environment(own) === undefined) {
    const text = `the key variable ${own} of a provider is not set`;
    const refuse = () => Promise.reject(new SplashdownError("MODEL_UNAVAILABLE", text, { details: { variable: own } }));
    return { keyOrigin: undefined, unsetVariable: own, readKey: refuse };
  }
  const usual = address === undefined ? facts.keyVariables : [];
  const variable = (own === undefined ? usual : [own]).find((name) => environment(name) !== undefined);
  return {
    keyOrigin: variable,
    readKey: () => Promise.resolve(variable === undefined ? undefined : environment(variable)),
  };
}

/** `OLLAMA_HOST` and its like may be a bare host and port. */
function readAddress(facts: ProviderFacts, environment: ProviderSources["environment"]): string | undefined {
  const said = facts.urlVariables?.map(environment).find((value) => value !== undefined);
  if (said === undefined) return facts.baseUrl;
  const whole = /^[a-z]+:\/\//i.test(said) ? said : `http://${said}`;
  const bare = whole.replace(/(?<!\/)\/+$/, "");
  return facts.urlPath !== undefined && !bare.endsWith(facts.urlPath) ? bare + facts.urlPath : bare;
}

function readHeaders(
  provider: string,
  variables: Readonly<Record<string, string>>,
  environment: ProviderSources["environment"],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([header, variable]) => {
      const value = environment(variable);
      if (value !== undefined) return [header, value];
      const text = `the header ${header} of provider ${provider} comes from the variable ${variable}, which is not set`;
      throw new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider } });
    }),
  );
}

/** Why a provider cannot be asked, with the way to mend it. */
export function describeUnknown(named: string): SplashdownError {
  const text =
    named === "copilot" || named === "default"
      ? `provider ${named} names no model service; say which one: run with --provider NAME --model MODEL, or write provider_map: {${named}: {provider: NAME, model: MODEL}} into splashdown.config.yaml`
      : `provider ${named} cannot be had here; known are scripted, ${Object.keys(PROVIDERS).join(", ")}; another is made known under providers, or named for it under provider_map, in splashdown.config.yaml`;
  return new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider: named } });
}
