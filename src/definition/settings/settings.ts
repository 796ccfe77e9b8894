/**
 * Settings: what they are, how layers of them become one, and where each value came from.
 *
 * Owns: the order default < file < workflow < environment < flag. Defaults stand in schemas/settings.schema.json and
 * nowhere else. Keys are snake_case throughout, as in the seeds and on disk; reading them is settings-sources.ts.
 * D7: a key nobody knows is an error, and one that can do nothing is explained, never silently ignored.
 * Source: DESIGN section 10; seed 003, Configuration; seed 000, YAML Syntax.
 */
import { assert } from "../../base/errors.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import {
  type AutomaticTrigger,
  type CheckpointSettings,
  type CliAgents,
  type KeySourceSettings,
  type ManualTrigger,
  type PerformanceSettings,
  type Pricing,
  type ProviderMap,
  type Providers,
  type RecoverySettings,
  type SettingsFile,
  type TriggerRule,
  validateSettingsFile,
} from "../../schema/generated/settings.js";
import { FaultList } from "../faults/fault.js";
import { findNearest } from "../faults/nearest.js";
import { noteDefects } from "../reading/structure.js";

type Unset = "retention_days" | "max_tasks" | "interval_seconds" | "automatic_triggers" | "manual_triggers";

/** Settings in force: every default filled in; what may be unset is optional. */
export interface EffectiveSettings {
  readonly store: string;
  readonly cache?: string;
  /** Claims of confidence are measured over tasks. */
  readonly calibration: boolean;
  readonly keys: KeySourceSettings;
  readonly checkpoint_config: Required<Omit<CheckpointSettings, Unset>> & Pick<CheckpointSettings, Unset>;
  readonly providers: Providers;
  readonly pricing: Pricing;
  readonly cli_agents: CliAgents;
  readonly recovery_config: Required<RecoverySettings>;
  readonly performance_config: Required<PerformanceSettings>;
  /** What is used for a provider that a workflow names. */
  readonly provider_map: ProviderMap;
  /** What the scripted provider says in workflows that have no answers of their own; asked at the moment of a call. */
  readonly scripted_answers: JsonObject;
}

/** One source of settings. Shape: `origin` for people: `splashdown.config.yaml`, `environment SPLASHDOWN_STORE`, `flag --store`. */
export interface SettingsLayer {
  readonly origin: string;
  readonly values: SettingsFile;
  /** Origins of single values by dotted key, where they differ from `origin`. */
  readonly origins?: Readonly<Record<string, string>>;
}

export interface MergedSettings {
  readonly settings: EffectiveSettings;
  /** Origin by dotted key, `checkpoint_config.enabled`; absent keys come from the defaults. */
  readonly origins: Readonly<Record<string, string>>;
}

export const DEFAULT_ORIGIN = "default";
export type TriggerName = AutomaticTrigger | ManualTrigger;

export const AUTOMATIC_TRIGGERS: readonly AutomaticTrigger[] = [
  ...(["phase_started", "phase_completed", "specialist_finished", "evaluation_completed"] as const),
  ...(["confidence_threshold_crossed", "error_encountered", "memory_pressure_high", "question_opened"] as const),
  ...(["interval", "shutdown"] as const),
];
export const MANUAL_TRIGGERS: readonly ManualTrigger[] = [
  "user_requested",
  "debug_breakpoint",
  "before_risky_operation",
];

/** Blocks whose keys are merged one by one; other values replace each other whole. */
const BLOCKS = ["checkpoint_config", "recovery_config", "performance_config", "provider_map", "pricing"] as const;

/**
 * Checks a layer.
 *
 * Errors: SETTING_INVALID with every fault in `details.faults`.
 */
export function checkSettings(values: JsonValue, origin: string, faults = new FaultList()): SettingsFile {
  const verdict = validateSettingsFile(structuredClone(values));
  noteDefects(verdict, { root: values, schema: "settings", faults });
  if (isJsonObject(values)) noteMeaning(values, faults);
  faults.raise("SETTING_INVALID", origin);
  return values as SettingsFile;
}

/** What the schema cannot say: names of triggers, and what each kind of key source needs. */
function noteMeaning(values: JsonObject, faults: FaultList): void {
  const checkpoint = values["checkpoint_config"];
  const triggers = isJsonObject(checkpoint) ? checkpoint["triggers"] : undefined;
  const known: readonly string[] = [...AUTOMATIC_TRIGGERS, ...MANUAL_TRIGGERS];
  for (const name of isJsonObject(triggers) ? Object.keys(triggers) : []) {
    if (known.includes(name)) continue;
    const nearest = findNearest(name, known);
    const suggestion = nearest === undefined ? `triggers: ${known.join(", ")}` : `did you mean ${nearest}?`;
    faults.add({
      code: "unknown_name",
      path: ["checkpoint_config", "triggers", name],
      message: `there is no trigger ${name}`,
      suggestion,
      atKey: true,
    });
  }
  const keys = values["keys"];
  if (Array.isArray(keys)) keys.forEach((source: JsonValue, index) => noteKeySource(source, index, faults));
}

/** What each kind of source needs one of, and what it may have besides. */
const SOURCE_FIELDS: Readonly<Record<string, { readonly oneOf: readonly string[]; readonly may?: readonly string[] }>> =
  {
    keyfile: { oneOf: ["path"] },
    passphrase: { oneOf: ["variable", "path", "typed"] },
    env: { oneOf: ["variable"] },
    command: { oneOf: ["command"], may: ["variables"] },
    age: { oneOf: ["recipients", "identity"] },
    system: { oneOf: ["account"], may: ["service"] },
  };
const SOURCE_KEYS = [
  "path",
  "variable",
  "typed",
  "command",
  "variables",
  "recipients",
  "identity",
  "service",
  "account",
];

function noteKeySource(source: JsonValue, index: number, faults: FaultList): void {
  if (!isJsonObject(source)) return;
  const { type } = source;
  const fields = typeof type === "string" && Object.hasOwn(SOURCE_FIELDS, type) ? SOURCE_FIELDS[type] : undefined;
  if (typeof type !== "string" || fields === undefined) return;
  const needed = fields.oneOf.join(" or ");
  if (fields.oneOf.every((key) => source[key] === undefined))
    faults.add({
      code: "missing_key",
      path: ["keys", index],
      message: `a key source of type ${type} needs ${needed}`,
      suggestion: `add ${needed}`,
    });
  for (const key of SOURCE_KEYS) {
    if (![...fields.oneOf, ...(fields.may ?? [])].includes(key) && source[key] !== undefined) {
      faults.add({
        code: "misplaced_key",
        path: ["keys", index, key],
        message: `${key} has no meaning for a key source of type ${type}`,
        suggestion: `it needs ${needed}`,
        atKey: true,
      });
    }
  }
}

/** The defaults, from the schema. */
export function defaultSettings(): EffectiveSettings {
  const verdict = validateSettingsFile({});
  assert(verdict.ok, "the defaults of the settings are not valid");
  return verdict.value as EffectiveSettings;
}

/**
 * Merges layers over the defaults; later ones win.
 *
 * Shape: checked layers, in the order file, workflow, environment, flags.
 */
export function mergeSettings(layers: readonly SettingsLayer[]): MergedSettings {
  const settings = defaultSettings() as unknown as Record<string, JsonValue>;
  const origins: Record<string, string> = {};
  for (const layer of layers) mergeInto(settings, layer, origins);
  return { settings: settings as unknown as EffectiveSettings, origins };
}

function mergeInto(settings: Record<string, JsonValue>, layer: SettingsLayer, origins: Record<string, string>): void {
  const originOf = (key: string): string => layer.origins?.[key] ?? layer.origin;
  for (const [key, value] of Object.entries(layer.values as JsonObject)) {
    if (value === undefined) continue;
    if (!(BLOCKS as readonly string[]).includes(key) || !isJsonObject(value)) {
      settings[key] = value;
      origins[key] = originOf(key);
      continue;
    }
    const block: Record<string, JsonValue> = { ...(settings[key] as JsonObject as Record<string, JsonValue>) };
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const before = block[name];
      // Rules of triggers add up; a rule itself is replaced whole.
      block[name] = name === "triggers" && isJsonObject(before) && isJsonObject(item) ? { ...before, ...item } : item;
      origins[`${key}.${name}`] = originOf(`${key}.${name}`);
    }
    settings[key] = block;
  }
}

/** A trigger as the engine needs it. */
export interface EffectiveTrigger {
  readonly enabled: boolean;
  readonly when?: string;
  readonly min_interval_seconds?: number;
}

/**
 * The rule of every trigger: its own rule, else whether the seed's lists name it, else on.
 *
 * Shape: `interval` is on only when `interval_seconds` or a rule of its own is set.
 */
export function computeTriggers(
  config: EffectiveSettings["checkpoint_config"],
): Readonly<Record<TriggerName, EffectiveTrigger>> {
  const rules = config.triggers as Readonly<Record<string, TriggerRule | undefined>>;
  const ruleOf = (name: TriggerName, listed: readonly string[] | undefined): EffectiveTrigger => {
    const rule = rules[name];
    const isOn =
      listed === undefined ? name !== "interval" || config.interval_seconds !== undefined : listed.includes(name);
    const enabled = rule?.enabled ?? (rule === undefined ? isOn : true);
    return {
      enabled,
      ...(rule?.when === undefined ? {} : { when: rule.when }),
      ...(rule?.min_interval_seconds === undefined ? {} : { min_interval_seconds: rule.min_interval_seconds }),
    };
  };
  const entries = [
    ...AUTOMATIC_TRIGGERS.map((name) => [name, ruleOf(name, config.automatic_triggers)] as const),
    ...MANUAL_TRIGGERS.map((name) => [name, ruleOf(name, config.manual_triggers)] as const),
  ];
  return Object.fromEntries(entries) as Record<TriggerName, EffectiveTrigger>;
}

/** Fills `{TASK}` and `${workflow.name}` of the paths, when both are known. Errors: none. */
export function resolveTaskPaths(
  settings: EffectiveSettings,
  names: { readonly task: string; readonly workflow: string },
): EffectiveSettings {
  const fill = (text: string): string =>
    text.replaceAll("{TASK}", names.task).replaceAll("${workflow.name}", names.workflow);
  const { checkpoint_config: config } = settings;
  return {
    ...settings,
    store: fill(settings.store),
    checkpoint_config: { ...config, storage_path: fill(config.storage_path) },
  };
}
