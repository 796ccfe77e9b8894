/**
 * The keys of a schema of ours, with what each takes and where it stands.
 *
 * An **owner** is a map with keys: a definition of the schema, or an inline map, named after its key (`phase.restart`). What
 * a reference adds (its own description) goes before what it points at.
 */
import type { JsonObject, JsonValue } from "../../base/json.js";
import { isJsonObject } from "../../base/json.js";

export interface SchemaKey {
  readonly owner: string;
  readonly key: string;
  readonly node: JsonObject;
  readonly required: boolean;
}

/** Definitions of a schema and of those it refers to, by name. */
export type Definitions = ReadonlyMap<string, JsonObject>;

export interface SchemaFile {
  /** Name of the owner at the top, e.g. `workflow file`. */
  readonly top: string;
  readonly schema: JsonObject;
  readonly definitions: Definitions;
}

const CHOICES = ["anyOf", "oneOf", "allOf"] as const;

/** The definitions of these schemas together; the first to have a name wins. */
export function readDefinitions(...schemas: readonly JsonObject[]): Definitions {
  const all = schemas.toReversed().flatMap((schema) => Object.entries(objectOf(schema["$defs"])));
  return new Map(all.map(([name, node]) => [name, objectOf(node)]));
}

/** The definition that a node points at, and its name. */
export function followReference(
  node: JsonObject,
  definitions: Definitions,
): { readonly name: string; readonly node: JsonObject } | undefined {
  const reference = node["$ref"];
  const name = typeof reference === "string" ? /\/\$defs\/(\w+)$/.exec(reference)?.[1] : undefined;
  const target = name === undefined ? undefined : definitions.get(name);
  return name === undefined || target === undefined ? undefined : { name, node: target };
}

/** Every key, owners in the order of the file; each once, though several forms of its owner may have it. */
export function listKeys({ top, schema, definitions }: SchemaFile): SchemaKey[] {
  const own = Object.keys(objectOf(schema["$defs"]));
  const all = [...listKeysOf(top, schema), ...own.flatMap((name) => listKeysOf(name, objectOf(definitions.get(name))))];
  return [...new Map(all.map((found) => [`${found.owner}.${found.key}`, found])).values()];
}

function listKeysOf(owner: string, node: JsonObject): SchemaKey[] {
  const required = Array.isArray(node["required"]) ? node["required"] : [];
  const own = Object.entries(objectOf(node["properties"])).flatMap(([key, value]) => [
    { owner, key, node: objectOf(value), required: required.includes(key) },
    ...listKeysOf(`${owner}.${key}`, objectOf(value)),
  ]);
  return [...own, ...innerNodes(node).flatMap((inner) => listKeysOf(owner, inner))];
}

/** The parts of a node that are no keys of it: choices, and what lists and maps hold. */
export function innerNodes(node: JsonObject): JsonObject[] {
  const choices = CHOICES.flatMap((name) => (Array.isArray(node[name]) ? node[name] : []));
  return [...choices, node["items"], node["additionalProperties"]].filter(isJsonObject);
}

/** The type of a schema node in words. */
export function describeType(node: JsonObject, definitions: Definitions): string {
  const values = node["enum"] ?? (node["const"] === undefined ? undefined : [node["const"]]);
  if (Array.isArray(values)) return values.map(String).join(" | ");
  const target = followReference(node, definitions);
  if (target !== undefined) return isMap(target.node) ? target.name : describeType(target.node, definitions);
  const choices = CHOICES.flatMap((name) => (Array.isArray(node[name]) ? node[name] : [])).filter(isJsonObject);
  if (choices.length > 0) return unique(choices.map((choice) => describeType(choice, definitions))).join(" or ");
  const types = [node["type"] ?? "any value"].flat().map(String);
  return unique(types.map((type) => describeOne(type, node, definitions))).join(" or ");
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true | false",
  object: "map",
  null: "null",
};

function describeOne(type: string, node: JsonObject, definitions: Definitions): string {
  if (type === "array" && isJsonObject(node["items"])) return `list of ${describeType(node["items"], definitions)}`;
  const of = node["additionalProperties"];
  if (type === "object" && isJsonObject(of) && Object.keys(of).length > 0)
    return `map of ${describeType(of, definitions)}`;
  return WORDS[type] ?? (type === "array" ? "list" : type);
}

function isMap(node: JsonObject): boolean {
  return node["properties"] !== undefined || innerNodes(node).some((inner) => inner["properties"] !== undefined);
}

/** The places of each owner: the keys that lead to the owner, as `phase.specialists[]`. */
export function findPlaces(file: SchemaFile): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const note = (node: JsonObject, place: string): void => {
    const target = followReference(node, file.definitions);
    if (target !== undefined) {
      const known = places.get(target.name) ?? [];
      if (!known.includes(place)) places.set(target.name, [...known, place]);
      if (!isMap(target.node)) note(target.node, place);
    }
    const list = isJsonObject(node["items"]) ? [node["items"]] : [];
    const map = isJsonObject(node["additionalProperties"]) ? [node["additionalProperties"]] : [];
    for (const inner of innerNodes(node)) {
      if (list.includes(inner)) note(inner, `${place}[]`);
      else note(inner, map.includes(inner) ? `${place}.NAME` : place);
    }
  };
  for (const { owner, key, node } of listKeys(file)) note(node, owner === file.top ? key : `${owner}.${key}`);
  return places;
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
