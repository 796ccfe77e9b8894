/** Layers of settings from a file, from a workflow and from the environment. */
import { SplashdownError, errnoOf, isErrorCode } from "../../base/errors.js";
import { findInexactNumber, parseExactJson } from "../../base/exact-json.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { LIMITS } from "../../base/limits.js";
import { type EnvironmentLookup, substituteEnvironment } from "../reading/environment.js";
import { FaultList } from "../faults/fault.js";
import type { ReadText } from "../reading/includes.js";
import { listKeysAt, listTypesAt } from "../reading/schema-map.js";
import { checkSettings, type SettingsLayer } from "./settings.js";
import type { WorkflowDefinition } from "../model/workflow.js";

/** Names looked for where a person gave none, in this order. */
export const SETTINGS_FILES = ["splashdown.config.yaml", "splashdown.config.yml", "splashdown.config.json"];

export interface SettingsDeps {
  readonly readText: ReadText;
  readonly environment: EnvironmentLookup;
}

/**
 * Reads a settings file.
 *
 * Shape: `undefined` when there is no such file; `${VAR}` is filled, `{TASK}` and `${workflow.name}` stay.
 * Errors: SETTING_INVALID with every fault.
 */
export async function loadSettingsFile(file: string, deps: SettingsDeps): Promise<SettingsLayer | undefined> {
  let text: string;
  try {
    text = await deps.readText(file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (isErrorCode(error, "SETTING_INVALID")) throw error;
    throw new SplashdownError(
      "SETTING_INVALID",
      `the settings file ${file} cannot be read (${errnoOf(error) ?? "unknown"})`,
      { details: { file }, cause: error },
    );
  }
  if (text.length > LIMITS.settingsFileBytesMax) {
    throw new SplashdownError(
      "SETTING_INVALID",
      `the settings file ${file} is larger than ${LIMITS.settingsFileBytesMax} bytes`,
      { details: { file } },
    );
  }
  // Most places have no settings file, and need no YAML to be read.
  const { readSourceFile } = await import("../reading/includes.js");
  const read = await readSourceFile(file, file, (path) =>
    path === file ? Promise.resolve(text) : deps.readText(path),
  );
  const faults = new FaultList(read.places);
  for (const fault of read.faults) faults.addPlaced(fault);
  if (read.isBroken) faults.raise("SETTING_INVALID", file);
  const value = substituteEnvironment(read.value ?? {}, { environment: deps.environment, faults, keepsDotted: true });
  return { origin: file, values: checkSettings(value, file, faults) };
}

/** The layer of a workflow's own blocks; they were checked when it was loaded. */
export function settingsOfWorkflow(definition: Pick<WorkflowDefinition, "settings" | "name">): SettingsLayer {
  return {
    origin: `workflow ${definition.name}`,
    values: checkSettings(definition.settings, `workflow ${definition.name}`),
  };
}

/** A layer of command line flags, or of options given to the library. Errors: SETTING_INVALID. */
export function settingsOfFlags(
  values: JsonObject,
  origin = "flag",
  origins: Readonly<Record<string, string>> = {},
): SettingsLayer {
  return { origin, values: checkSettings(values, origin), origins };
}

const BLOCK_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  checkpoint_config: ["SPLASHDOWN_CHECKPOINT_", "SPLASHDOWN_CHECKPOINT_CONFIG_"],
  recovery_config: ["SPLASHDOWN_RECOVERY_", "SPLASHDOWN_RECOVERY_CONFIG_"],
  performance_config: ["SPLASHDOWN_PERFORMANCE_", "SPLASHDOWN_PERFORMANCE_CONFIG_"],
};

/**
 * The environment's layer: `SPLASHDOWN_STORE`, `SPLASHDOWN_CHECKPOINT_MAX_CHECKPOINTS`, `SPLASHDOWN_RECOVERY_ON_UNKNOWN`, …
 *
 * Shape: lists are separated by commas or written as JSON, maps as JSON; an empty variable is not set.
 * `WORKFLOW_CHECKPOINT_BACKEND` and `_DSN` stand for the store.
 * Errors: SETTING_INVALID naming the variable.
 */
export function readEnvironmentSettings(environment: EnvironmentLookup): SettingsLayer {
  const values: Record<string, JsonValue> = {};
  const origins: Record<string, string> = {};
  for (const key of listKeysAt("settings", [])) {
    const prefixes = BLOCK_PREFIXES[key];
    if (prefixes === undefined) {
      takeVariable({ path: [key], names: [`SPLASHDOWN_${key.toUpperCase()}`] }, environment, { into: values, origins });
      continue;
    }
    const block: Record<string, JsonValue> = {};
    for (const name of listKeysAt("settings", [key])) {
      const names = prefixes.map((prefix) => prefix + name.toUpperCase());
      takeVariable({ path: [key, name], names }, environment, { into: block, origins });
    }
    if (Object.keys(block).length > 0) values[key] = block;
  }
  const store = values["store"] === undefined ? storeOfAliases(environment) : undefined;
  if (store !== undefined) {
    values["store"] = store;
    origins["store"] = "environment WORKFLOW_CHECKPOINT_BACKEND";
  }
  return { origin: "environment", values: checkSettings(values, "environment"), origins };
}

interface Variable {
  readonly path: readonly string[];
  /** Names it may have; the first that is set counts. */
  readonly names: readonly string[];
}

function takeVariable({ path, names }: Variable, environment: EnvironmentLookup, found: Found): void {
  const name = names.find((one) => (environment(one) ?? "") !== "");
  if (name === undefined) return;
  found.into[path.at(-1) ?? ""] = readVariable(name, environment(name) ?? "", listTypesAt("settings", path));
  found.origins[path.join(".")] = `environment ${name}`;
}

interface Found {
  readonly into: Record<string, JsonValue>;
  readonly origins: Record<string, string>;
}

const TRUE_WORDS = ["true", "1", "yes", "on"];
const FALSE_WORDS = ["false", "0", "no", "off"];

function readVariable(name: string, text: string, types: readonly string[]): JsonValue {
  const word = text.trim();
  if (types.includes("boolean")) {
    if (TRUE_WORDS.includes(word.toLowerCase())) return true;
    if (FALSE_WORDS.includes(word.toLowerCase())) return false;
    throw refuse(name, text, "true or false");
  }
  if (types.includes("number") || types.includes("integer")) {
    const number = Number(word);
    if (findInexactNumber(word) === undefined && Number.isFinite(number)) return number;
    if (!types.includes("string")) throw refuse(name, text, "a number");
  }
  if (types.includes("array") || types.includes("object")) return readCollection(name, word, types.includes("array"));
  return word;
}

function readCollection(name: string, word: string, isList: boolean): JsonValue {
  if (isList && !word.startsWith("[")) return word.split(",").map((item) => item.trim());
  try {
    const value = parseExactJson(word);
    if (isList ? Array.isArray(value) : isJsonObject(value)) return value;
  } catch {
    throw refuse(name, word, "JSON");
  }
  throw refuse(name, word, isList ? "a JSON list" : "a JSON map");
}

function refuse(name: string, text: string, expected: string): SplashdownError {
  return new SplashdownError(
    "SETTING_INVALID",
    `the environment variable ${name} must be ${expected}, it is ${JSON.stringify(text.slice(0, 60))}`,
    {
      details: { variable: name },
    },
  );
}

/** Source: seed 002, names of its backend and of its address. */
function storeOfAliases(environment: EnvironmentLookup): string | undefined {
  const backend = (environment("WORKFLOW_CHECKPOINT_BACKEND") ?? "").trim().toLowerCase();
  const address = (environment("WORKFLOW_CHECKPOINT_DSN") ?? "").trim();
  if (backend === "" && address === "") return undefined;
  if (backend === "memory") return "memory:";
  if (backend === "" || backend.startsWith("postgres")) return address === "" ? "postgres:" : address;
  return `${backend}:${address === "" && backend === "file" ? "outputs" : address}`;
}
