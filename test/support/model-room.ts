/** Models over real HTTP on loopback, with a clock that hurries nothing and settings given by a test. */
import type { CallEnds, Model, ModelRequest } from "../../src/agents/outcome/contract.js";
import { ModelSource } from "../../src/agents/providers/model-source.js";
import type { PriceTable } from "../../src/agents/providers/price.js";
import type { ProviderSettings, SystemEntry } from "../../src/agents/providers/provider-config.js";
import { silentLog } from "../../src/base/log.js";
import type { Clock } from "../../src/base/clock.js";
import { realClock } from "./real-clock.js";
import { createSeededRandom } from "./seeded-random.js";

export interface ModelRoom {
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly prices?: PriceTable;
  readonly clock?: Clock;
  readonly readSystemKey?: (entry: SystemEntry) => Promise<string>;
  readonly runKeyCommand?: (command: readonly string[]) => Promise<string>;
}

/** A source of models as the running system has it. */
export function openModels({
  providers = {},
  environment = {},
  prices = {},
  clock = realClock,
  runKeyCommand = () => Promise.reject(new Error("no key command here")),
  readSystemKey = () => Promise.reject(new Error("no keyring here")),
}: ModelRoom): (provider: string) => Model {
  const source = new ModelSource({
    clock,
    random: createSeededRandom("models"),
    log: silentLog,
    sources: {
      settings: providers,
      environment: (name) => environment[name],
      learn: () => undefined,
      runKeyCommand,
      readSystemKey,
    },
    prices,
  });
  return (provider) => source.modelOf(provider, { folder: import.meta.dirname, prices: {} });
}

export function requestOf(parts: Partial<ModelRequest> = {}): ModelRequest {
  return {
    step: { name: "work", path: "main/work", visit: 1, attempt: 1 },
    turn: 0,
    idempotencyKey: "key-1",
    model: "test-model",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    options: {},
    ...parts,
  };
}

/** Ends of a call that keep what they were told. */
export function keepEnds(signal: AbortSignal = new AbortController().signal): CallEnds & { readonly texts: string[] } {
  const texts: string[] = [];
  return { signal, texts, onText: (text) => void texts.push(text), onActivity: () => undefined };
}
