/** The keys of workflow files and settings as entries of the reference. */
import type { JsonObject, JsonValue } from "../../base/json.js";
import { readPackageJson } from "../../base/package-files.js";
import type { KeyEntry, VariableEntry } from "./entry.js";
import { findExamples, formatExample, readSamples } from "./examples.js";
import {
  describeType,
  findPlaces,
  followReference,
  innerNodes,
  listKeys,
  objectOf,
  readDefinitions,
  type Definitions,
  type SchemaFile,
  type SchemaKey,
} from "./schema.js";

const workflow = (): JsonObject => readPackageJson("schemas/workflow.schema.json");
const settings = (): JsonObject => readPackageJson("schemas/settings.schema.json");

/** Shape: owners in the order of the schema. */
export function listWorkflowKeys(): KeyEntry[] {
  const definitions = readDefinitions(workflow(), settings());
  return describeKeys("key", { top: "workflow file", schema: workflow(), definitions });
}

export function listSettings(): KeyEntry[] {
  const definitions = readDefinitions(settings());
  return describeKeys("setting", { top: "settings file", schema: settings(), definitions });
}

/** The schema's name for what stands under `workflow`. */
const HEADER = "workflow_header";

function describeKeys(kind: KeyEntry["kind"], file: SchemaFile): KeyEntry[] {
  const places = findPlaces(file);
  const examples = findExamples(file, readSamples());
  const shortName = (owner: string): string => owner.replace(`${file.top}.`, "").replace(HEADER, "workflow");
  return listKeys(file).map((found) => {
    const { owner, key, node, required } = found;
    const preset = readDefault(node, file.definitions);
    const isAtTop = owner === file.top;
    return {
      kind,
      name: isAtTop ? key : `${shortName(owner)}.${key}`,
      text: readText(found, file.definitions),
      owner: shortName(owner),
      key,
      type: describeType(node, file.definitions).replace(HEADER, "map"),
      ...(preset === undefined ? {} : { default: formatValue(preset) }),
      required,
      // An inline map stands at the key that holds it.
      places: isAtTop ? ["at the top"] : (places.get(owner) ?? [owner]).map(shortName),
      example: examples.get(`${owner}.${key}`) ?? formatExample(key, inventValue(node, file.definitions)),
    };
  });
}

function readText({ node }: SchemaKey, definitions: Definitions): string {
  const own = node["description"] ?? followReference(node, definitions)?.node["description"];
  return typeof own === "string" ? own : "";
}

function readDefault(node: JsonObject, definitions: Definitions): JsonValue | undefined {
  return node["default"] ?? followReference(node, definitions)?.node["default"];
}

const formatValue = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A value of the right form, where no sample has the key. */
function inventValue(node: JsonObject, definitions: Definitions, depth = 0): JsonValue {
  const target = followReference(node, definitions);
  if (target !== undefined) return depth > 3 ? "…" : inventValue(target.node, definitions, depth + 1);
  if (Array.isArray(node["enum"])) return node["enum"][0] ?? null;
  if (node["const"] !== undefined) return node["const"];
  if (node["default"] !== undefined) return node["default"];
  const [type] = [node["type"]].flat();
  if (type === undefined && depth < 5) {
    const [choice] = innerNodes(node);
    return choice === undefined ? "VALUE" : inventValue(choice, definitions, depth + 1);
  }
  return inventOf(typeof type === "string" ? type : "string", node, (inner) =>
    inventValue(inner, definitions, depth + 1),
  );
}

function inventOf(type: string, node: JsonObject, invent: (node: JsonObject) => JsonValue): JsonValue {
  if (type === "boolean") return true;
  if (type === "number" || type === "integer") return Number(node["minimum"] ?? 0) || 1;
  if (type === "array") return [invent(objectOf(node["items"]))];
  if (type !== "object") return "TEXT";
  const keys = objectOf(node["properties"]);
  const required = Array.isArray(node["required"]) ? node["required"].map(String) : Object.keys(keys).slice(0, 1);
  return Object.fromEntries(required.map((key) => [key, invent(objectOf(keys[key]))]));
}

const VARIABLES: Readonly<Record<string, string>> = {
  SPLASHDOWN_STORE: "where tasks are kept; as --store",
  SPLASHDOWN_CACHE: "a Redis server before a Postgres store",
  SPLASHDOWN_CALIBRATION: "off: claims of confidence are not compared with earlier tasks",
  SPLASHDOWN_KEY: "the key: 32 bytes as base64 or hex",
  SPLASHDOWN_KEY_FILE: "path of the key file",
  SPLASHDOWN_PASSPHRASE: "a passphrase",
  SPLASHDOWN_PASSPHRASE_FILE: "a file with a passphrase in its one line, or /dev/fd/3",
  SPLASHDOWN_PASSPHRASE_TYPED: "1: the passphrase is asked for at the terminal",
  SPLASHDOWN_AGE_IDENTITY: "path of an age identity",
  SPLASHDOWN_CONFIG_DIR: "folder of keys and trust (~/.config/splashdown)",
  SPLASHDOWN_STATE_DIR: "folder of what this machine remembers of tasks (~/.local/state/splashdown)",
  SPLASHDOWN_TRUST: "1, or folders separated by colons: whose settings files count",
  SPLASHDOWN_PACKAGES: "the project whose optional packages are loaded",
  SPLASHDOWN_MACHINE_ID: "identity of this machine, for containers",
  SPLASHDOWN_TASK: "in steps: name of the task",
  SPLASHDOWN_STEP: "in steps: path of the step",
  SPLASHDOWN_ATTEMPT: "in steps: number of the attempt",
  SPLASHDOWN_IDEMPOTENCY_KEY: "in steps: the same on every attempt at the same work",
  SPLASHDOWN_OUTPUT_FOLDER: "in steps: the task's folder for files of its own",
};

const PREFIXES: Readonly<Record<string, string>> = {
  checkpoint_config: "SPLASHDOWN_CHECKPOINT_",
  recovery_config: "SPLASHDOWN_RECOVERY_",
  performance_config: "SPLASHDOWN_PERFORMANCE_",
};

/** Variables with a meaning of their own, then one per setting of the blocks. */
export function listVariables(): VariableEntry[] {
  const own = Object.entries(VARIABLES).map(([name, text]) => ({ kind: "variable" as const, name, text }));
  const blocks = listSettings().flatMap(({ owner, key, name }) => {
    const prefix = PREFIXES[owner];
    return prefix === undefined
      ? []
      : [{ kind: "variable" as const, name: prefix + key.toUpperCase(), text: `the setting ${name}` }];
  });
  return [...own, ...blocks];
}
