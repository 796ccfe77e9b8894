/**
 * Which settings of a folder's file wait until a person trusts it: those that name programs, keys, stores or packages, and
 * those that would have a stranger's task run, or a person's task written in the clear.
 *
 * Owns: the list. A value that is the default names nothing. What a folder may say all the same (limits, retention, prices,
 * triggers) is used at once. Who is trusted is runtime/trust/.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { SettingsFile } from "../../schema/generated/settings.js";
import { defaultSettings } from "./settings.js";

export interface WaitingSetting {
  /** Dotted key. */
  readonly key: string;
  readonly value: JsonValue;
}

/** Keys of two parts name one value of a block. */
const WAITING = [
  ...(["store", "cache", "keys", "providers", "cli_agents"] as const),
  ...(["checkpoint_config.storage_path", "checkpoint_config.encryption", "recovery_config.new_here"] as const),
];

/** What may be used at once, and what waits. */
export function splitSettings(values: SettingsFile): {
  readonly harmless: SettingsFile;
  readonly waiting: readonly WaitingSetting[];
} {
  const harmless = structuredClone(values) as Record<string, JsonValue>;
  const defaults = defaultSettings() as unknown as JsonObject;
  const waiting: WaitingSetting[] = [];
  for (const key of WAITING) {
    const value = readAt(harmless, key);
    if (value === undefined || isSame(value, readAt(defaults, key))) continue;
    waiting.push({ key, value });
    removeAt(harmless, key);
  }
  return { harmless, waiting };
}

function readAt(values: JsonObject, key: string): JsonValue | undefined {
  const [first = "", second] = key.split(".");
  const value = values[first];
  if (second === undefined) return value;
  return isJsonObject(value) ? value[second] : undefined;
}

function removeAt(values: Record<string, JsonValue>, key: string): void {
  const [first = "", second] = key.split(".");
  const block = values[first];
  if (second === undefined) delete values[first];
  else if (isJsonObject(block)) delete (block as Record<string, JsonValue>)[second];
}

function isSame(value: JsonValue, standard: JsonValue | undefined): boolean {
  return JSON.stringify(value) === JSON.stringify(standard);
}
