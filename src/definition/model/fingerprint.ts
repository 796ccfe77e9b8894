/**
 * Digests of what a definition does, for telling whether saved work is still valid.
 *
 * D2: a step's fingerprint covers what it does: its kind, its templates, the form of its output, the code it names. Not
 * its name, place, description and routes (those are structure), nor its patience (retry, timeouts, criticality, risk,
 * what to do when its outcome is unknown): no finished work is invalid because the next try would wait longer.
 */
import { sha256Hex } from "../../base/digest.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { canonicalJson } from "../../base/json-encoding.js";
import type { WorkflowDefinition } from "./workflow.js";
import type { StepDefinition } from "./step.js";

/** Parts of a step that are structure or patience. */
const STRUCTURE = [
  "node",
  "name",
  "path",
  "description",
  "dependsOn",
  "startsOn",
  "when",
  "routes",
  "onError",
  "fingerprint",
];
const PATIENCE = [
  "effects",
  "onUnknown",
  "probe",
  "retry",
  "timeoutMs",
  "onTimeout",
  "idleTimeoutMs",
  "criticality",
  "risky",
];
const OUTSIDE = new Set([...STRUCTURE, ...PATIENCE]);

/** Parts of a workflow that decide nothing. */
const SILENT = new Set(["description", "version", "metadata", "sources", "fingerprint"]);

/**
 * The fingerprint of a step.
 *
 * Shape: 64 hex digits; `code` is the digest of the function's file.
 */
export function fingerprintStep(step: Omit<StepDefinition, "fingerprint">, code?: string): string {
  const parts: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(step))
    if (!OUTSIDE.has(key) && value !== undefined) parts[key] = value as JsonValue;
  if (code !== undefined) parts["code"] = code;
  // The path of a program's function is made of names; its code is what counts.
  const { function: named } = parts;
  if (code !== undefined && typeof named === "string" && named.startsWith("@")) delete parts["function"];
  return sha256Hex(canonicalJson(parts));
}

/** The fingerprint of a whole definition: equal for equal behaviour. */
export function fingerprintWorkflow(definition: Omit<WorkflowDefinition, "fingerprint">): string {
  const parts: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(definition))
    if (!SILENT.has(key) && value !== undefined) parts[key] = value as JsonValue;
  const inputs = Object.entries(definition.inputs).map(([name, { description: _said, ...input }]) => [
    name,
    input as unknown as JsonObject,
  ]);
  return sha256Hex(
    canonicalJson(withoutDescriptions({ ...parts, inputs: Object.fromEntries(inputs) as JsonObject }, "root")),
  );
}

/** Descriptions of nodes go; a step's own `description` key in templates and schemas is under keys that are kept whole. */
function withoutDescriptions(value: JsonObject, key: string): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined || (name === "description" && NODE_KEYS.has(key))) continue;
    if (Array.isArray(item) && NODE_KEYS.has(name))
      result[name] = item.map((one: JsonValue) => (isJsonObject(one) ? withoutDescriptions(one, name) : one));
    else result[name] = isJsonObject(item) && NODE_KEYS.has(name) ? withoutDescriptions(item, name) : item;
  }
  return result;
}

const NODE_KEYS = new Set(["root", "children", "spawn", "scorers", "evaluate"]);
