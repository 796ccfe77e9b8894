/**
 * What a schema file allows at a place: for suggestions only, so it is read when there is a fault and not before.
 */
import { readPackageJson } from "../../base/package-files.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import type { FaultPath } from "../faults/fault.js";

export type SchemaName = "workflow" | "settings";

const loaded = new Map<string, JsonObject>();

function loadSchema(file: string): JsonObject {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  const schema = readPackageJson(`schemas/${file}`);
  loaded.set(file, schema);
  return schema;
}

/** A schema node and the file it stands in, which its references are relative to. */
interface SchemaNode {
  readonly file: string;
  readonly node: JsonObject;
}

/** Follows a `$ref` of our own schemas. */
function follow(at: SchemaNode): SchemaNode {
  const reference = at.node["$ref"];
  if (typeof reference !== "string") return at;
  const [file = "", pointer = ""] = reference.split("#");
  const target = file === "" ? at.file : file;
  let node: JsonValue | undefined = loadSchema(target);
  for (const part of pointer.split("/").slice(1)) node = isJsonObject(node) ? node[part] : undefined;
  return follow({ file: target, node: isJsonObject(node) ? node : {} });
}

function step(at: SchemaNode, part: string | number): SchemaNode | undefined {
  const { file, node } = at;
  const properties = node["properties"];
  const named =
    isJsonObject(properties) && Object.hasOwn(properties, String(part)) ? properties[String(part)] : undefined;
  const next = named ?? (typeof part === "number" ? node["items"] : node["additionalProperties"]);
  return isJsonObject(next) ? follow({ file, node: next }) : undefined;
}

function schemaAt(schema: SchemaName, path: FaultPath): SchemaNode | undefined {
  const file = `${schema}.schema.json`;
  let at: SchemaNode | undefined = { file, node: loadSchema(file) };
  for (const part of path) at = at === undefined ? undefined : step(at, part);
  return at;
}

/** The keys a map at this place may have; empty where any are allowed. */
export function listKeysAt(schema: SchemaName, path: FaultPath): readonly string[] {
  const properties = schemaAt(schema, path)?.node["properties"];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** What the schema says about a place, for people; `undefined` when nothing. */
export function describeAt(schema: SchemaName, path: FaultPath): string | undefined {
  const text = schemaAt(schema, path)?.node["description"];
  return typeof text === "string" ? text : undefined;
}

/** The JSON types a place accepts. */
export function listTypesAt(schema: SchemaName, path: FaultPath): readonly string[] {
  const type = schemaAt(schema, path)?.node["type"];
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? (type as readonly string[]) : [];
}
