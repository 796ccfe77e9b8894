/** One real line for each key, out of the examples and the guide that come with this package. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.js";
import { packageFile } from "../../base/package-files.js";
import { followReference, innerNodes, objectOf, type SchemaFile } from "./schema.js";

const LONGEST_CHARS = 110;

/** Shape: `owner.key` → one line of YAML, the shortest that says something. */
export type Examples = ReadonlyMap<string, string>;

/** The YAML files of the package's examples, and the YAML blocks of its guide. */
export function readSamples(): JsonValue[] {
  const files = listFiles("examples", ".yaml").map((path) => readFileSync(path, "utf8"));
  const pages = listFiles("docs/guide", ".md").map((path) => readFileSync(path, "utf8"));
  const blocks = pages.flatMap((page) => [...page.matchAll(/^```yaml(?: (?!wrong).*)?\n([\s\S]*?)^```$/gm)]);
  return [...files, ...blocks.map(([, text = ""]) => text)].map((text) => parse(text) as JsonValue);
}

function listFiles(folder: string, end: string): string[] {
  const root = packageFile(folder);
  const names = readdirSync(root, { recursive: true }).map(String);
  return names
    .filter((name) => name.endsWith(end) && !name.includes("node_modules"))
    .toSorted()
    .map((name) => join(root, name));
}

/** The shortest example line that the samples have for each key of the schema. */
export function findExamples(file: SchemaFile, samples: readonly JsonValue[]): Examples {
  const found = new Map<string, string>();
  const note = (name: string, key: string, value: JsonValue): void => {
    const line = formatExample(key, value);
    const known = found.get(name);
    if (line.length <= LONGEST_CHARS && (known === undefined || line.length < known.length)) found.set(name, line);
  };
  const walk = (value: JsonValue, node: JsonObject, owner: string): void => {
    const target = followReference(node, file.definitions);
    if (target !== undefined) walk(value, target.node, target.name);
    const keys = objectOf(node["properties"]);
    for (const [key, inner] of isJsonObject(value) ? Object.entries(value) : []) {
      if (!isJsonObject(keys[key])) continue;
      note(`${owner}.${key}`, key, inner as JsonValue);
      walk(inner as JsonValue, keys[key], `${owner}.${key}`);
    }
    for (const inner of innerNodes(node)) for (const part of partsOf(value, node, inner)) walk(part, inner, owner);
  };
  for (const sample of samples) walk(sample, file.schema, file.top);
  return found;
}

/** The parts of a value that an inner schema node describes: its items, its members, or the value itself. */
function partsOf(value: JsonValue, node: JsonObject, inner: JsonObject): readonly JsonValue[] {
  if (inner === node["items"]) return Array.isArray(value) ? value : [];
  if (inner !== node["additionalProperties"]) return [value];
  const known = objectOf(node["properties"]);
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([key, part]) => (key in known ? [] : [part as JsonValue]))
    : [];
}

/** One line of YAML. */
export function formatExample(key: string, value: JsonValue): string {
  const text = stringify(
    { [key]: value },
    { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: true },
  ).trim();
  const lines = text.replace(/^\{ ([\s\S]*) \}$/, "$1").split("\n");
  return lines.map((line) => line.trim()).join(" ");
}
