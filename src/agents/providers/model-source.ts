/** The models of all providers behind one door: found by name, limited together, priced. */
import type { Clock } from "../../base/clock.js";
import { SplashdownError } from "../../base/errors.js";
import type { Log } from "../../base/log.js";
import type { RandomSource } from "../../base/random.js";
import type { CallEnds, Model, ModelAnswer, ModelRequest } from "../outcome/contract.js";
import { CallLimiter } from "./limiter.js";
import { computeCostMicroUsd, findPrice, type PriceTable } from "./price.js";
import type { ProviderConfig, ProviderSources } from "./provider-config.js";
import { requireProvider } from "./provider-endpoint.js";
import { loadSdk, loadSdkModel } from "./sdk-loading.js";
import { SdkModel } from "./sdk-model.js";

export interface ModelSourceDeps {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  readonly sources: ProviderSources;
  readonly prices: PriceTable;
}

export class ModelSource {
  readonly #limiter: CallLimiter;
  readonly #models = new Map<string, SdkModel>();

  constructor(private readonly deps: ModelSourceDeps) {
    this.#limiter = new CallLimiter(deps);
  }

  /** The model of a provider as files name it; whether it can be asked shows when it is. */
  modelOf(named: string, place: Omit<NamedPlace, "named">): Model {
    return { call: (request, ends) => this.#call({ ...place, named }, request, ends) };
  }

  async #call(place: NamedPlace, request: ModelRequest, ends: CallEnds): Promise<ModelAnswer> {
    const { sources } = this.deps;
    const { endpoint } = request;
    const config = requireProvider(sources, place.named, endpoint);
    const model = request.model ?? config.model;
    if (model === undefined) throw modelMissing(config, request);
    await loadSdk();
    ends.onActivity();
    return this.#limiter.run(`${config.name}/${model}`, ends.signal, (accepted) =>
      this.#modelOf(config, `${place.folder ?? ""}\n${JSON.stringify([endpoint ?? {}, place.prices])}`, place).call(
        { ...request, model },
        {
          signal: ends.signal,
          onText: (text) => {
            accepted();
            ends.onText(text);
          },
          onActivity: () => {
            accepted();
            ends.onActivity();
          },
        },
      ),
    );
  }

  #modelOf(config: ProviderConfig, where: string, { folder, prices: own }: NamedPlace): SdkModel {
    const key = `${config.name}\n${where}`;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const { clock, log, prices } = this.deps;
    const { name: provider, isStructured } = config;
    const model = new SdkModel({
      clock,
      provider,
      isStructured,
      load: (id) => loadSdkModel(config, id, folder),
      computeCost: (id, counts) => {
        const price = findPrice(own, provider, id) ?? findPrice(prices, provider, id);
        return price === undefined ? undefined : computeCostMicroUsd(price, counts);
      },
      debug: (text) => log.debug(`${provider}: ${text}`),
    });
    this.#models.set(key, model);
    return model;
  }
}

interface NamedPlace {
  readonly named: string;
  /** Whose packages may be used beside our own; absent: nobody's. */
  readonly folder: string | undefined;
  /** Of the settings and the workflow: these go first. */
  readonly prices: PriceTable;
}

function modelMissing({ name }: ProviderConfig, { step }: ModelRequest): SplashdownError {
  const text = `step ${step.path} names no model of ${name}: add model to it, default_model to workflow.runtime, or run with --model`;
  return new SplashdownError("MODEL_UNAVAILABLE", text, { details: { provider: name, step: step.path } });
}
