/**
 * The model providers of one opened Splashdown: settings and environment, keys, prices.
 *
 * A key from a command is told to whoever cleans outcomes of secrets, before it is used.
 */
import { readPackageJson } from "../../base/package-files.js";
import type { ModelSource } from "../../agents/providers/model-source.js";
import type { ProviderSources, SystemEntry } from "../../agents/providers/provider-config.js";
import type { ModelPrice, PriceTable } from "../../agents/providers/price.js";
import type { Model } from "../../agents/outcome/contract.js";
import type { Clock } from "../../base/clock.js";
import { messageOf, SplashdownError } from "../../base/errors.js";
import { LIMITS } from "../../base/limits.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import type { EffectiveSettings } from "../../definition/settings/settings.js";
import type { ProcessHost } from "../../process/contract.js";
import type { Environment } from "../platform/environment.js";
import { createKeyCommandRunner } from "../keychain/key-command-runner.js";
import { readSystemSecret } from "../keychain/key-packages.js";

export interface ModelAccessDeps {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly environment: Environment;
  readonly settings: EffectiveSettings;
  readonly processes: () => ProcessHost;
}

export class ModelAccess {
  readonly #deps: ModelAccessDeps;
  /** Where addresses and keys of the providers come from. */
  readonly sources: ProviderSources;
  readonly #keys = new Map<string, Promise<string>>();
  readonly #secrets = new Set<string>();
  readonly #listeners = new Set<(secret: string) => void>();
  #source: Promise<ModelSource> | undefined;

  constructor(deps: ModelAccessDeps) {
    this.#deps = deps;
    const { settings, environment } = deps;
    this.sources = {
      settings: settings.providers,
      environment: environment.get,
      learn: (secret) => this.#learn(secret),
      runKeyCommand: (command, variables) => this.#readKey(command, variables),
      readSystemKey: (entry) => this.#readSystemKey(entry),
    };
  }

  /** `pricing`: of the task, its workflow's included. */
  modelOf(provider: string, pricing: EffectiveSettings["pricing"]): Model {
    const place = { folder: this.#deps.environment.packagesFolder, prices: readPrices(pricing) };
    return {
      call: async (request, ends) => (await this.#loadSource()).modelOf(provider, place).call(request, ends),
    };
  }

  /** With the first call: what speaks to models is not loaded for those who call none. */
  #loadSource(): Promise<ModelSource> {
    const { clock, random, log } = this.#deps;
    const { sources } = this;
    this.#source ??= import("../../agents/providers/model-source.js").then(
      ({ ModelSource: Source }) => new Source({ clock, random, log, sources, prices: readListPrices() }),
    );
    return this.#source;
  }

  /** Variables that hold keys or headers by the settings. */
  get secretVariables(): readonly string[] {
    return Object.values(this.#deps.settings.providers).flatMap(
      ({ key_variable: key, header_variables: headers = {} }) => [
        ...(key === undefined ? [] : [key]),
        ...Object.values(headers),
      ],
    );
  }

  /** Calls back with every secret that a command gave or gives. The answer stops it. */
  onSecret(listener: (secret: string) => void): () => void {
    this.#listeners.add(listener);
    for (const secret of this.#secrets) listener(secret);
    return () => this.#listeners.delete(listener);
  }

  async #readSystemKey({ service, account }: SystemEntry): Promise<string> {
    const place = `${service}/${account}`;
    const refuse = (why: string, cause?: unknown): SplashdownError =>
      new SplashdownError("MODEL_UNAVAILABLE", `the key of a provider is not available: ${why}`, {
        details: { entry: place },
        cause,
      });
    const { packagesFolder } = this.#deps.environment;
    const key = await readSystemSecret(packagesFolder, { service, account }).catch((error: unknown) => {
      throw refuse(messageOf(error), error);
    });
    if (key === undefined) throw refuse(`the system's keyring has no entry ${place}`);
    this.#learn(key);
    return key;
  }

  /** Once for each command. Errors: MODEL_UNAVAILABLE. */
  #readKey(command: readonly string[], variables: readonly string[] | undefined): Promise<string> {
    const name = JSON.stringify([command, variables ?? []]);
    const known = this.#keys.get(name) ?? this.#runCommand(command, variables);
    this.#keys.set(name, known);
    known.catch(() => this.#keys.delete(name));
    return known;
  }

  async #runCommand(command: readonly string[], environment: readonly string[] | undefined): Promise<string> {
    const run = createKeyCommandRunner(this.#deps.processes, this.#deps.environment);
    const { exitCode, stdout, timedOut } = await run({
      argv: command,
      environment,
      input: "",
      timeoutMs: LIMITS.keyCommandTimeoutMs,
    });
    const key = stdout.trim();
    if (exitCode !== 0 || key === "") {
      const how = timedOut
        ? "took too long"
        : `exited with ${String(exitCode)}${key === "" ? " and printed nothing" : ""}`;
      throw new SplashdownError("MODEL_UNAVAILABLE", `the key command ${command[0] ?? ""} ${how}`, {
        details: { command: command[0] ?? "" },
      });
    }
    this.#learn(key);
    return key;
  }

  #learn(secret: string): void {
    if (this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    for (const listener of this.#listeners) listener(secret);
  }
}

interface PriceEntry {
  readonly input_per_mtok: number;
  readonly output_per_mtok: number;
  readonly cache_read_per_mtok?: number;
  readonly cache_write_per_mtok?: number;
}

/** The prices that come along. */
function readListPrices(): PriceTable {
  const { models } = readPackageJson("schemas/tables/model-prices.json") as unknown as {
    readonly models: Readonly<Record<string, PriceEntry>>;
  };
  return readPrices(models);
}

function readPrices(entries: Readonly<Record<string, PriceEntry>>): PriceTable {
  const prices = Object.entries(entries).map(([name, price]): [string, ModelPrice] => [
    name,
    {
      input: price.input_per_mtok,
      output: price.output_per_mtok,
      cacheRead: price.cache_read_per_mtok,
      cacheWrite: price.cache_write_per_mtok,
    },
  ]);
  return Object.fromEntries(prices);
}
